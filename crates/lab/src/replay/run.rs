//! One algorithm's run over the input: a limiter for each key, and its answers.

use std::time::Instant;

use windowpane_core::{BuildError, Cost, Decision, Nanos, Quotas};
use windowpane_lab_contestants::Store;
use windowpane_lab_contestants::registry::{Algorithm, BuildOptions};
use windowpane_lab_input::Request;

use super::retries::{Asked, Retries, RetryModel};

/// How many bytes are allocated now, as a counting allocator says.
pub type Meter = fn() -> u64;

/// What a limiter said of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Allowed.
    Allow {
        /// The largest cost still allowed right after it; 0 if nobody asked.
        remaining: u64,
    },
    /// Denied.
    Deny {
        /// The largest cost allowed at that instant; 0 if nobody asked.
        remaining: u64,
        /// The wait; `None` where no wait helps.
        retry_after: Option<Nanos>,
    },
    /// No decision: the cost can never fit, the time stepped back and that is rejected, or the
    /// time is beyond the limiter's range.
    Error,
}

impl Answer {
    fn new(decision: Decision, remaining: u64) -> Answer {
        match decision {
            Decision::Allowed { .. } => Answer::Allow { remaining },
            Decision::Denied(denied) => Answer::Deny {
                remaining,
                retry_after: denied.retry_after_nanos(),
            },
        }
    }

    /// `allow`, `deny` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Allow { .. } => "allow",
            Answer::Deny { .. } => "deny",
            Answer::Error => "error",
        }
    }

    /// Whether both allow, both deny or neither decides; their figures may differ.
    pub fn agrees_with(self, other: Answer) -> bool {
        self.name() == other.name()
    }
}

/// One algorithm with its limiters.
pub(super) struct Run {
    pub(super) algorithm: &'static Algorithm,
    /// By the key's number.
    store: Box<dyn Store>,
    /// Whether `remaining` is asked for.
    detailed: bool,
    meter: Option<Meter>,
    /// Clients that come again, if there are any.
    pub(super) retries: Option<Retries>,
    /// Of the latest batch, request by request.
    pub(super) answers: Vec<Answer>,
    /// Spent on deciding.
    pub(super) nanos: u64,
    /// What the store took when it had no key.
    bytes_empty: u64,
}

impl Run {
    /// A run in which no key is known.
    ///
    /// The range of one-word limiters counts from their key's first request. Nothing that is
    /// recorded may be earlier, and nothing is: what comes later with an earlier time is read as the
    /// recorded window's start.
    ///
    /// # Errors
    /// [`BuildError`] if the algorithm cannot hold the quotas.
    pub(super) fn new(
        algorithm: &'static Algorithm,
        quotas: &Quotas,
        options: BuildOptions,
        detailed: bool,
        retries: RetryModel,
        meter: Option<Meter>,
    ) -> Result<Run, BuildError> {
        let before = meter.map_or(0, |meter| meter());
        let store = (algorithm.store)(quotas, options)?;
        let bytes_empty = meter.map_or(0, |meter| meter().wrapping_sub(before));
        Ok(Run {
            algorithm,
            store,
            detailed,
            meter,
            retries: Retries::new(retries),
            answers: Vec::new(),
            nanos: 0,
            bytes_empty,
        })
    }

    /// Ends it. The bytes that its keys' limiters had allocated, if they are counted: what is given
    /// back when they go. Counted then, since a meter counts for all threads, and while requests are
    /// decided another thread reads.
    pub(super) fn end(self) -> Option<u64> {
        let meter = self.meter?;
        let before = meter();
        drop(self.store);
        let given_back = before.wrapping_sub(meter());
        Some(given_back.saturating_sub(self.bytes_empty))
    }

    /// Decides a batch.
    pub(super) fn decide(&mut self, requests: &[Request]) {
        // What the run itself needs is allocated before the clock is read.
        self.answers.clear();
        self.answers.reserve(requests.len());

        let start = Instant::now();
        self.store
            .fetch(&mut requests.iter().map(|request| request.key));
        if self.retries.is_some() {
            self.decide_with_retries(requests);
            self.nanos += u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            return;
        }
        let store = &*self.store;
        let decide = |request: &Request| {
            store
                .decide_at(request.key, request.time, request.cost)
                .map_or(Answer::Error, |decision| Answer::new(decision, 0))
        };
        let decide_detailed = |request: &Request| {
            store
                .decide_remaining_at(request.key, request.time, request.cost)
                .map_or(Answer::Error, |detailed| {
                    Answer::new(detailed.decision(), detailed.remaining())
                })
        };
        // Asked once a batch, not once a request.
        match self.detailed {
            true => self.answers.extend(requests.iter().map(decide_detailed)),
            false => self.answers.extend(requests.iter().map(decide)),
        }
        self.nanos += u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    }

    /// Decides a batch, and what clients send again before its requests. What is due at the time of a
    /// request comes before it.
    fn decide_with_retries(&mut self, requests: &[Request]) {
        let (store, detailed) = (&*self.store, self.detailed);
        let mut decide = |key: u32, time: Nanos, cost: Cost| match detailed {
            true => store
                .decide_remaining_at(key, time, cost)
                .map_or(Answer::Error, |detailed| {
                    Answer::new(detailed.decision(), detailed.remaining())
                }),
            false => store
                .decide_at(key, time, cost)
                .map_or(Answer::Error, |decision| Answer::new(decision, 0)),
        };
        let Some(retries) = &mut self.retries else {
            return;
        };
        retries.asked.clear();
        for request in requests {
            retries.send_until(request.time, &mut decide);
            let answer = decide(request.key, request.time, request.cost);
            retries.answered(request.key, request.time, request.cost, answer, 0);
            self.answers.push(answer);
        }
    }

    /// Sends again what is still waiting when the input has ended. Returns what was asked.
    pub(super) fn send_rest(&mut self) -> &[Asked] {
        let store = &*self.store;
        let mut decide = |key: u32, time: Nanos, cost: Cost| {
            store
                .decide_at(key, time, cost)
                .map_or(Answer::Error, |decision| Answer::new(decision, 0))
        };
        match &mut self.retries {
            Some(retries) => {
                retries.asked.clear();
                retries.send_until(Nanos::MAX, &mut decide);
                &retries.asked
            }
            None => &[],
        }
    }
}
