//! One algorithm's run over the input: a limiter for each key, and its answers.

use std::time::Instant;

use windowpane_core::{BuildError, Decision, Nanos, Quotas};

use super::batch::Request;
use super::store::Store;
use crate::registry::{Algorithm, BuildOptions};

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
    /// Of the latest batch, request by request.
    pub(super) answers: Vec<Answer>,
    /// Spent on deciding.
    pub(super) nanos: u64,
    /// Allocated by the limiters and not freed.
    pub(super) bytes: i64,
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
        meter: Option<Meter>,
    ) -> Result<Run, BuildError> {
        Ok(Run {
            algorithm,
            store: (algorithm.store)(quotas, options)?,
            detailed,
            meter,
            answers: Vec::new(),
            nanos: 0,
            bytes: 0,
        })
    }

    /// Decides a batch.
    pub(super) fn decide(&mut self, requests: &[Request]) {
        // What the run itself needs is allocated before the counting begins.
        self.answers.clear();
        self.answers.reserve(requests.len());

        let allocated = self.meter.map(|meter| meter());
        let start = Instant::now();
        self.store
            .fetch(&mut requests.iter().map(|request| request.key));
        let store = &*self.store;
        let decide = |request: &Request| {
            store
                .acquire_at(request.key, request.time, request.cost)
                .map_or(Answer::Error, |decision| Answer::new(decision, 0))
        };
        let decide_detailed = |request: &Request| {
            store
                .acquire_remaining_at(request.key, request.time, request.cost)
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
        if let (Some(meter), Some(before)) = (self.meter, allocated) {
            self.bytes += meter().wrapping_sub(before).cast_signed();
        }
    }
}
