//! One algorithm's run over the input: a limiter for each key, and its answers.

use std::time::Instant;

use windowpane_core::{BuildError, Decision, Nanos, Quotas, RateLimiter};

use super::batch::Request;
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
    quotas: Quotas,
    options: BuildOptions,
    /// Whether `remaining` is asked for.
    detailed: bool,
    meter: Option<Meter>,
    /// By the key's number.
    limiters: Vec<Option<Box<dyn RateLimiter>>>,
    /// Of the latest batch, request by request.
    pub(super) answers: Vec<Answer>,
    /// Spent on deciding.
    pub(super) nanos: u64,
    /// Allocated by the limiters and not freed.
    pub(super) bytes: i64,
}

impl Run {
    pub(super) fn new(
        algorithm: &'static Algorithm,
        quotas: &Quotas,
        options: BuildOptions,
        detailed: bool,
        meter: Option<Meter>,
    ) -> Run {
        Run {
            algorithm,
            quotas: quotas.clone(),
            options,
            detailed,
            meter,
            limiters: Vec::new(),
            answers: Vec::new(),
            nanos: 0,
            bytes: 0,
        }
    }

    /// Decides a batch, in which `keys` keys are known.
    pub(super) fn decide(&mut self, requests: &[Request], keys: usize) -> Result<(), BuildError> {
        // What the run itself needs is allocated before the counting begins.
        self.limiters
            .resize_with(keys.max(self.limiters.len()), || None);
        self.answers.clear();
        self.answers.reserve(requests.len());

        let allocated = self.meter.map(|meter| meter());
        self.build(requests)?;
        let start = Instant::now();
        let limiters = &self.limiters;
        // Asked once a batch, not once a request.
        match self.detailed {
            true => self.answers.extend(requests.iter().map(|request| {
                answer(limiters, request, |limiter| {
                    let detailed = limiter
                        .acquire_detailed_at(request.time, request.cost)
                        .ok()?;
                    Some(Answer::new(detailed.decision(), detailed.remaining()))
                })
            })),
            false => self.answers.extend(requests.iter().map(|request| {
                answer(limiters, request, |limiter| {
                    let decision = limiter.acquire_at(request.time, request.cost).ok()?;
                    Some(Answer::new(decision, 0))
                })
            })),
        }
        self.nanos += u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let (Some(meter), Some(before)) = (self.meter, allocated) {
            self.bytes += meter().wrapping_sub(before).cast_signed();
        }
        Ok(())
    }

    /// Builds the limiters of the keys that have none.
    ///
    /// The range of one-word limiters counts from the time given here. Nothing that is recorded
    /// may be earlier, and nothing is: the first request whose cost can fit is the first to be
    /// recorded, and what comes later with an earlier time is read as the recorded window's start.
    fn build(&mut self, requests: &[Request]) -> Result<(), BuildError> {
        for request in requests {
            let limiter = &mut self.limiters[request.key as usize];
            if limiter.is_none() && self.quotas.check_cost(request.cost).is_ok() {
                let options = BuildOptions {
                    start: request.time,
                    ..self.options
                };
                *limiter = Some((self.algorithm.build)(&self.quotas, options)?);
            }
        }
        Ok(())
    }
}

/// The answer to a request. A key without a limiter has had only costs that can never fit.
#[inline]
fn answer(
    limiters: &[Option<Box<dyn RateLimiter>>],
    request: &Request,
    ask: impl FnOnce(&dyn RateLimiter) -> Option<Answer>,
) -> Answer {
    limiters[request.key as usize]
        .as_deref()
        .and_then(ask)
        .unwrap_or(Answer::Error)
}
