//! Costs that are known later: charge an estimate, then replace it.

use alloc::boxed::Box;
use core::fmt;
use core::time::Duration;

use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::limiter::Limiter;
use crate::outcome::{AcquireError, Allowed};
use crate::rate_limiter::RateLimiter;

/// A limiter in which what was charged can be replaced by what was really used, exactly: from then
/// on it decides as if the request had cost that in the first place.
///
/// Only limiters that still know what was charged when can do so; the others lack this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot give back what it has charged",
    note = "take `MutexLog` (exact), or `PackedCounter` for one quota (approximate)",
    note = "of several limits in one decision, one that cannot give back may be charged last"
)]
pub trait Settle: RateLimiter {
    /// Replaces the `estimate` that was recorded under `at` by `actual` permits. What has left
    /// every window by then changes nothing. Charging more is always possible: a quota may be used
    /// up by it and more than used up, and has 0 remaining then. A quota of requests counts the
    /// request whatever it cost, so it gives nothing back.
    ///
    /// `at` and `estimate` are those of an allowed decision that is settled once; to have that
    /// checked by the compiler, [`try_reserve`](Limiter::try_reserve).
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64);

    /// Takes back what was charged for a request of `cost` that was recorded under `at`: from then
    /// on it decides as if the request had been denied. Quotas of requests give it back too. What
    /// has left every window by then changes nothing.
    ///
    /// `at` and `cost` are those of an allowed decision that is neither settled nor cancelled.
    fn cancel_at(&self, at: Nanos, cost: Cost);
}

impl<L: Settle> Settle for Box<L> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        (**self).settle_at(at, estimate, actual);
    }

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        (**self).cancel_at(at, cost);
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
    /// The charge of `estimate` that was recorded under `at`.
    pub const fn new(at: Nanos, estimate: Cost) -> Charge {
        Charge { at, estimate }
    }

    /// The charge of an allowed request; `None` if it was allowed without a record, so that there
    /// is nothing to replace.
    pub fn of(allowed: Allowed) -> Option<Charge> {
        let (at, estimate) = allowed.recorded()?;
        Some(Charge { at, estimate })
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
    /// The time it was recorded under, since the zero of the limiter's clock.
    pub fn at(&self) -> Duration {
        Duration::from_nanos(self.charge.at())
    }

    /// The permits that were charged.
    pub fn estimate(&self) -> u64 {
        self.charge.estimate().get()
    }

    /// Replaces the estimate by `actual` permits, 0 included. See [`Settle::settle_at`].
    pub fn settle(self, actual: u64) {
        let Charge { at, estimate } = self.charge;
        self.limiter.settle_at(at, estimate, actual);
    }
}

impl<L: Settle> fmt::Debug for Reservation<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("charge", &self.charge)
            .finish_non_exhaustive()
    }
}

impl<L: Settle, C: Clock> Limiter<L, C> {
    /// Takes `estimate` permits now for a request whose cost is known later. The estimate is
    /// replaced by [`settle`](Reservation::settle).
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    pub fn try_reserve(&self, estimate: u64) -> Result<Reservation<'_, L>, AcquireError> {
        let allowed = self.try_acquire_many(estimate)?;
        let limiter = self.algorithm();
        let charge = Charge::of(allowed).expect("a limiter records what it allows");
        Ok(Reservation { limiter, charge })
    }
}
