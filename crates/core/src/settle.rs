//! Costs that are known later: charge an estimate, then replace it.

use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Denied};
use crate::error::AcquireError;
use crate::limiter::{Limiter, RateLimiter};

/// A limiter in which what was charged can be replaced by what was really used, exactly: from then
/// on it decides as if the request had cost that in the first place.
///
/// Only limiters that still know what was charged when can do so; the others lack this trait.
pub trait Settle: RateLimiter {
    /// Replaces the `estimate` that was recorded under `at` by `actual` permits. What has left
    /// every window by then changes nothing. Charging more is never refused: a quota may be used
    /// up by it and more than used up, and has 0 remaining then. A quota of requests counts the
    /// request whatever it cost, so it gives nothing back.
    ///
    /// `at` and `estimate` are those of an allowed decision that is settled once; to have that
    /// checked by the compiler, [`reserve`](Limiter::reserve).
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64);
}

impl<L: Settle> Settle for Box<L> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        (**self).settle_at(at, estimate, actual);
    }
}

/// An estimate that was charged and is still to be replaced by what the request really cost.
///
/// It can be spent once; dropped, the estimate stays charged.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an estimate that is not settled stays charged"]
pub struct Charge {
    at: Nanos,
    estimate: Cost,
}

impl Charge {
    /// The charge of `estimate` that `decision` recorded; `None` for a denial.
    pub fn of(decision: Decision, estimate: Cost) -> Option<Charge> {
        match decision {
            Decision::Allowed { at } => Some(Charge { at, estimate }),
            Decision::Denied(_) => None,
        }
    }

    /// The charge of `estimate` that was recorded under `at`.
    pub(crate) const fn at_time(at: Nanos, estimate: Cost) -> Charge {
        Charge { at, estimate }
    }

    /// The time it was recorded under.
    pub const fn at(&self) -> Nanos {
        self.at
    }

    /// What was charged.
    pub const fn estimate(&self) -> Cost {
        self.estimate
    }
}

/// A [`Charge`] on one limiter.
///
/// Settling twice does not compile. Dropped, the estimate stays charged.
#[must_use = "an estimate that is not settled stays charged"]
pub struct Reservation<'l, L: Settle> {
    limiter: &'l L,
    charge: Charge,
}

impl<L: Settle> Reservation<'_, L> {
    /// The time it was recorded under.
    pub fn at(&self) -> Nanos {
        self.charge.at()
    }

    /// What was charged.
    pub fn estimate(&self) -> Cost {
        self.charge.estimate()
    }

    /// Replaces the estimate by `actual` permits, 0 included. See [`Settle::settle_at`].
    pub fn settle(self, actual: u64) {
        self.limiter.settle_at(self.at(), self.estimate(), actual);
    }
}

impl<L: Settle, C: Clock> Limiter<L, C> {
    /// Decides a request whose cost is known later: charges `estimate` now, to be settled.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    pub fn reserve(
        &self,
        estimate: Cost,
    ) -> Result<Result<Reservation<'_, L>, Denied>, AcquireError> {
        Ok(match self.acquire(estimate)? {
            Decision::Allowed { at } => Ok(Reservation {
                limiter: self.algorithm(),
                charge: Charge { at, estimate },
            }),
            Decision::Denied(denied) => Err(denied),
        })
    }
}
