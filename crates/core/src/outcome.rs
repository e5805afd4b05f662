//! The results of calls that take permits: `Ok` only if the caller may go on.

use alloc::boxed::Box;
use alloc::string::String;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use crate::clock::Nanos;
use crate::cost::Cost;
use crate::decision::{Decision, Denial, Detailed};
use crate::error::{BuildError, RequestError};
use crate::per_quota::PerQuota;
use crate::quota::Quota;
use crate::quotas::Quotas;

/// A request that was allowed, and charged whole against every quota.
///
/// It is not given back when it is dropped: what was accepted counts until it has left the window.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Allowed {
    at: Option<Nanos>,
    cost: Cost,
}

impl Allowed {
    /// An allowance of `cost` recorded under `at`, or by a policy that keeps no record.
    pub const fn new(at: Option<Nanos>, cost: Cost) -> Allowed {
        Allowed { at, cost }
    }

    /// Returns the time it was recorded under, since the zero of the limiter's clock; `None` if a
    /// policy for a full or failing store allowed it without a record.
    pub fn at(&self) -> Option<Duration> {
        self.at.map(Duration::from_nanos)
    }

    /// Returns the permits that were charged.
    pub const fn cost(&self) -> u64 {
        self.cost.get()
    }

    /// The same allowance, without its time unless `is_recorded`.
    pub(crate) fn recorded_if(self, is_recorded: impl FnOnce(Nanos) -> bool) -> Allowed {
        let at = self.at.filter(|at| is_recorded(*at));
        Allowed { at, ..self }
    }

    pub(crate) fn recorded(&self) -> Option<(Nanos, Cost)> {
        self.at.map(|at| (at, self.cost))
    }
}

/// A request that was denied by a quota: come back after [`retry_after`](Self::retry_after).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Denied {
    quota: Quota,
    index: u32,
    retry_after: Nanos,
}

impl Denied {
    /// Returns the smallest wait after which the same request would be allowed if nothing else were
    /// accepted meanwhile. It is never zero.
    pub const fn retry_after(&self) -> Duration {
        Duration::from_nanos(self.retry_after)
    }

    /// Returns the quota that denied: of several the one with the longest wait, of equals the first.
    pub const fn quota(&self) -> Quota {
        self.quota
    }

    /// Returns the index of that quota, in the order given.
    pub const fn quota_index(&self) -> usize {
        self.index as usize
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (quota, wait) = (self.quota, self.retry_after());
        write!(f, "denied by the quota of {quota}: retry after {wait:?}")
    }
}

/// Why a caller may not go on. Nothing was charged, except as [`Unavailable`](Self::Unavailable)
/// says.
///
/// ```
/// use windowpane_core::AcquireError;
///
/// fn answer(error: &AcquireError) -> u16 {
///     match error {
///         AcquireError::Denied(denied) => {
///             println!("come back after {:?}", denied.retry_after());
///             429
///         }
///         AcquireError::LimitIsZero { .. } => 429,
///         AcquireError::NeverFits { .. } | AcquireError::ZeroCost => 400,
///         _ => 503,
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcquireError {
    /// A quota is used up for now.
    #[error("{0}")]
    Denied(Denied),
    /// A quota has a limit of 0, which denies everything. No wait helps.
    #[error("the quota of {quota} denies everything: its limit is 0")]
    LimitIsZero {
        /// The quota.
        quota: Quota,
        /// Its index, in the order given.
        index: usize,
    },
    /// The cost exceeds a limit: the request could never be allowed.
    #[error("a cost of {cost} can never fit: the quota is {quota}")]
    NeverFits {
        /// The cost.
        cost: u64,
        /// The quota.
        quota: Quota,
        /// Its index, in the order given.
        index: usize,
    },
    /// The cost is 0. To read without charging, peek.
    #[error("a cost of 0 takes nothing: peek instead")]
    ZeroCost,
    /// The clock went back, and the limiter was built to reject that.
    #[error("the clock went back: {now} ns is before the latest call's {latest} ns")]
    ClockWentBack {
        /// The reading of this call, in nanoseconds.
        now: Nanos,
        /// The latest reading before it, in nanoseconds.
        latest: Nanos,
    },
    /// The time is after the last that the limiter represents.
    #[error(
        "time out of range: {now} ns is after the last instant of this limiter, {last} ns; build it again"
    )]
    TimeOutOfRange {
        /// The reading of this call, in nanoseconds.
        now: Nanos,
        /// The last instant within the range, in nanoseconds.
        last: Nanos,
    },
    /// The store has no free slot for another key: all keys that it holds are live.
    #[error("no free slot for another key: {keys} are held and none was found idle")]
    Full {
        /// The number of keys held.
        keys: usize,
    },
    /// The store did not answer in time. It is unknown whether the request was charged.
    #[error("the store is unavailable: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
    },
    /// The store is unavailable, and its policy denies until it may be reached again. No quota denied.
    #[error("denied because the store is unavailable ({reason}): retry after {retry_after:?}")]
    DeniedByPolicy {
        /// The wait until the store may be reached again.
        retry_after: Duration,
        /// What happened.
        reason: String,
    },
    /// The key's quotas cannot be held by the store's algorithm.
    // Not a source: the text contains its own, and a chain of causes would repeat it.
    #[error("the key's quotas cannot be held: {0}")]
    Build(Box<BuildError>),
    /// Others wait in the queue already, and this request does not overtake them.
    #[error("{waiting} requests wait in the queue already")]
    Queued {
        /// The number of waiting requests.
        waiting: usize,
    },
    /// The queue is on hold. The limiter was not asked.
    #[error("the queue is on hold for another {0:?}")]
    OnHold(Duration),
    /// The time given for waiting had passed before the turn came.
    #[error("the time to wait was over before the turn came")]
    TimedOut,
}

impl AcquireError {
    /// Returns the denial, if the request was denied for now.
    pub const fn denied(&self) -> Option<Denied> {
        match self {
            AcquireError::Denied(denied) => Some(*denied),
            _ => None,
        }
    }

    /// The error for `denial`, which is by `quota`.
    #[inline]
    pub fn of_denial(denial: Denial, quota: Quota) -> AcquireError {
        let index = denial.quota();
        match denial.retry_after_nanos() {
            Some(retry_after) => AcquireError::Denied(Denied {
                quota,
                index: index as u32,
                retry_after,
            }),
            None => AcquireError::LimitIsZero { quota, index },
        }
    }

    /// The error for `error` of a limiter with `quotas`.
    #[cold]
    pub fn of_request(error: RequestError, quota: impl FnOnce(usize) -> Quota) -> AcquireError {
        match error {
            RequestError::NeverFits {
                cost, quota: index, ..
            } => AcquireError::NeverFits {
                cost: cost.get(),
                quota: quota(index),
                index,
            },
            RequestError::ClockWentBack { now, latest } => {
                AcquireError::ClockWentBack { now, latest }
            }
            RequestError::TimeOutOfRange { now, last } => {
                AcquireError::TimeOutOfRange { now, last }
            }
        }
    }
}

/// What is left of the quotas right after a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    remaining: u64,
    per_quota: PerQuota,
    more_after: Option<Nanos>,
    quotas: Quotas,
}

impl Status {
    /// Returns the largest cost that would be allowed at the same instant; 0 if none.
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Returns what is left of each quota, in the order of [`quotas`](Self::quotas) and in its own
    /// unit.
    pub fn remaining_per_quota(&self) -> &[u64] {
        &self.per_quota
    }

    /// Returns the wait after which [`remaining`](Self::remaining) would be larger if nothing else
    /// were accepted meanwhile; `None` if it cannot grow. Only stores of many keys report it.
    pub fn more_after(&self) -> Option<Duration> {
        self.more_after.map(Duration::from_nanos)
    }

    /// Returns the quotas that were in force.
    pub const fn quotas(&self) -> &Quotas {
        &self.quotas
    }
}

/// [`AcquireError`] with what is left, for headers and metrics.
///
/// As an error it reads as the [`AcquireError`] in it, so that a chain of causes names it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    // In a box: the error is large, and every result has space for it.
    error: Box<AcquireError>,
    status: Option<Box<Status>>,
}

impl Rejected {
    /// Returns why the caller may not go on.
    pub const fn error(&self) -> &AcquireError {
        &self.error
    }

    /// Returns what is left, if a quota denied the request; `None` if no quota was read.
    pub fn status(&self) -> Option<&Status> {
        self.status.as_deref()
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Rejected {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl From<AcquireError> for Rejected {
    fn from(error: AcquireError) -> Rejected {
        Rejected {
            error: Box::new(error),
            status: None,
        }
    }
}

impl From<Rejected> for AcquireError {
    fn from(rejected: Rejected) -> AcquireError {
        *rejected.error
    }
}

/// Turns a decision with what remains into the result of a call.
pub(crate) fn detailed(
    decided: Detailed,
    quotas: Quotas,
    more_after: Option<Nanos>,
    cost: Cost,
) -> Result<(Allowed, Status), Rejected> {
    let decision = decided.decision();
    let status = Status {
        remaining: decided.remaining(),
        per_quota: decided.into_per_quota(),
        more_after,
        quotas,
    };
    match decision {
        Decision::Allowed { at } => Ok((Allowed::new(Some(at), cost), status)),
        Decision::Denied(denial) => Err(Rejected {
            error: Box::new(AcquireError::of_denial(
                denial,
                status.quotas[denial.quota()],
            )),
            status: Some(Box::new(status)),
        }),
    }
}
