//! The answers of a limiter.

use core::num::NonZeroU64;
use core::time::Duration;

use crate::clock::Nanos;
use crate::per_quota::PerQuota;
use crate::quotas::Quotas;

/// The answer to one request. A cost that could never fit is an error, not a denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a decision that is not read limits nothing"]
pub enum Decision {
    /// The request may proceed and has been charged, whole, against every quota.
    Allowed {
        /// The time the charge was recorded under, in nanoseconds on the caller's clock: the
        /// reading of the call, or where that was earlier the latest recorded time (of a limiter
        /// that stores none, the start of its recorded window).
        at: Nanos,
    },
    /// The request must not proceed; nothing was charged.
    Denied(Denial),
}

impl Decision {
    /// Whether the request may proceed.
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allowed { .. })
    }

    /// The time the charge was recorded under, in nanoseconds; `None` for a denial.
    pub const fn at(&self) -> Option<Nanos> {
        match self {
            Decision::Allowed { at } => Some(*at),
            Decision::Denied(_) => None,
        }
    }

    /// The wait of a denial; `None` for an allowance, or where no wait helps.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Decision::Allowed { .. } => None,
            Decision::Denied(denied) => denied.retry_after(),
        }
    }

    /// The denial, if it is one.
    pub const fn denied(&self) -> Option<Denial> {
        match self {
            Decision::Allowed { .. } => None,
            Decision::Denied(denied) => Some(*denied),
        }
    }
}

/// Why and for how long a request was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Denial {
    quota: u32,
    retry_after: Option<NonZeroU64>,
}

impl Denial {
    /// A denial by the quota of index `quota`. A wait of 0 ns would not be a denial, so the wait
    /// is at least 1 ns; `None` where no wait helps (a limit of 0).
    pub fn new(quota: usize, retry_after: Option<Nanos>) -> Denial {
        Denial {
            quota: u32::try_from(quota).unwrap_or(u32::MAX),
            retry_after: retry_after.map(|wait| NonZeroU64::new(wait).unwrap_or(NonZeroU64::MIN)),
        }
    }

    /// The index of the quota that denied: the one with the longest wait, of equals the first.
    pub const fn quota(&self) -> usize {
        self.quota as usize
    }

    /// The smallest wait after which the same request would be allowed if nothing else were
    /// accepted meanwhile; `None` where no wait helps (a limit of 0).
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after_nanos().map(Duration::from_nanos)
    }

    /// [`retry_after`](Self::retry_after) in nanoseconds.
    pub fn retry_after_nanos(&self) -> Option<Nanos> {
        self.retry_after.map(NonZeroU64::get)
    }

    /// Of the denials by several quotas, the one that is reported: the longest wait, of equals the
    /// first. Fold over the quotas in their order.
    #[inline]
    pub fn longest(longest: Option<Denial>, next: Denial) -> Denial {
        match longest {
            None => next,
            Some(longest) => match (longest.retry_after, next.retry_after) {
                (Some(a), Some(b)) if b > a => next,
                (Some(_), None) => next,
                _ => longest,
            },
        }
    }
}

/// A decision with what remains, seen at the same instant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that is not read limits nothing"]
pub struct Detailed {
    decision: Decision,
    remaining: u64,
    per_quota: PerQuota,
}

impl Detailed {
    /// A decision beside what was left of each of `quotas` right after it.
    ///
    /// # Panics
    /// If `per_quota` has not one entry a quota.
    pub fn new(decision: Decision, quotas: &Quotas, per_quota: PerQuota) -> Detailed {
        Detailed {
            decision,
            remaining: quotas.largest_cost(&per_quota),
            per_quota,
        }
    }

    /// The decision itself.
    pub const fn decision(&self) -> Decision {
        self.decision
    }

    /// Whether the request may proceed.
    pub const fn is_allowed(&self) -> bool {
        self.decision.is_allowed()
    }

    /// The largest cost that would have been allowed at the same instant, right after the
    /// decision; 0 if none. See [`Quotas::largest_cost`] for quotas of requests.
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    pub(crate) fn into_per_quota(self) -> PerQuota {
        self.per_quota
    }

    /// What is left of each quota, in its own unit.
    pub fn remaining_per_quota(&self) -> &[u64] {
        &self.per_quota
    }
}
