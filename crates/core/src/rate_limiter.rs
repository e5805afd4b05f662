//! The trait of algorithms.

use alloc::boxed::Box;

use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::error::RequestError;
use crate::outcome::{self, AcquireError, Allowed, Rejected, Status};
use crate::quota::Quota;
use crate::quotas::Quotas;

/// A rate limiter for one key, to which the caller gives the time.
///
/// The algorithms implement it; stores, middleware and the laboratory are generic over it. A
/// decision is a value here, and `Ok` also when the request is denied. Programs use [`Limiter`](crate::Limiter),
/// whose calls are `Ok` only if the caller may go on.
///
/// Every decision is linearizable, the time being an argument of the call. An earlier time than
/// the latest recorded one is read as that one (a clock that steps back creates no capacity),
/// unless the algorithm says otherwise.
pub trait RateLimiter: Send + Sync {
    /// The quotas in force.
    fn quotas(&self) -> Quotas;

    /// The quota of that index among those in force. An algorithm should answer in O(1) and without
    /// an allocation: every denial is named by it.
    ///
    /// # Panics
    /// If there is none of that index.
    fn quota(&self, index: usize) -> Quota {
        self.quotas()[index]
    }

    /// Decides a request of `cost` at `now` and, if it is allowed, charges it.
    ///
    /// # Errors
    /// [`RequestError`]; nothing was changed then.
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError>;

    /// [`decide_at`](Self::decide_at), and what remains right after the decision, seen at the
    /// same instant. It can cost more than the decision alone.
    ///
    /// # Errors
    /// [`RequestError`]; nothing was changed then.
    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError>;

    /// What [`decide_detailed_at`](Self::decide_detailed_at) would answer, to the letter
    /// (`remaining` is what would be left after it), changing nothing.
    ///
    /// # Errors
    /// [`RequestError`], as `decide_detailed_at`.
    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError>;

    /// Forgets all that was accepted, and with it the latest recorded time.
    fn reset(&self);

    /// Whether every window is empty at `now`: forgetting the limiter would change no decision.
    fn is_idle_at(&self, now: Nanos) -> bool;

    /// [`decide_at`](Self::decide_at) with a reading of `clock`. An algorithm that holds a lock
    /// reads the clock inside it, so that lock order and time order agree.
    ///
    /// # Errors
    /// [`RequestError`]; nothing was changed then.
    #[inline]
    fn decide_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, RequestError>
    where
        Self: Sized,
    {
        self.decide_at(clock.now(), cost)
    }

    /// [`decide_detailed_at`](Self::decide_detailed_at) with a reading of `clock`.
    ///
    /// # Errors
    /// [`RequestError`]; nothing was changed then.
    #[inline]
    fn decide_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, RequestError>
    where
        Self: Sized,
    {
        self.decide_detailed_at(clock.now(), cost)
    }

    /// [`peek_at`](Self::peek_at) with a reading of `clock`.
    ///
    /// # Errors
    /// [`RequestError`].
    #[inline]
    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, RequestError>
    where
        Self: Sized,
    {
        self.peek_at(clock.now(), cost)
    }

    /// [`decide_with`](Self::decide_with) as a result that is `Ok` only if the caller may go on. The
    /// error names the quota that was in force at the decision.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    #[inline]
    fn try_acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Allowed, AcquireError>
    where
        Self: Sized,
    {
        match self.decide_with(clock, cost) {
            Ok(Decision::Allowed { at }) => Ok(Allowed::new(Some(at), cost)),
            Ok(Decision::Denied(denial)) => {
                Err(AcquireError::of_denial(denial, self.quota(denial.quota())))
            }
            Err(error) => Err(AcquireError::of_request(error, |index| self.quota(index))),
        }
    }

    /// [`try_acquire_with`](Self::try_acquire_with), and what is left right after the decision.
    ///
    /// # Errors
    /// [`Rejected`]; nothing was charged then.
    fn try_acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<(Allowed, Status), Rejected>
    where
        Self: Sized,
    {
        let decided = self.decide_detailed_with(clock, cost);
        detailed(self, decided, cost)
    }

    /// What [`try_acquire_detailed_with`](Self::try_acquire_detailed_with) would return, changing
    /// nothing.
    ///
    /// # Errors
    /// [`Rejected`].
    fn try_peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<(Allowed, Status), Rejected>
    where
        Self: Sized,
    {
        let decided = self.peek_with(clock, cost);
        detailed(self, decided, cost)
    }
}

fn detailed<L: RateLimiter>(
    limiter: &L,
    decided: Result<Detailed, RequestError>,
    cost: Cost,
) -> Result<(Allowed, Status), Rejected> {
    match decided {
        Ok(decided) => outcome::detailed(decided, limiter.quotas(), None, cost),
        Err(error) => Err(AcquireError::of_request(error, |index| limiter.quota(index)).into()),
    }
}

/// A limiter behind a pointer: a map of many keys has free entries and moves its entries when it
/// grows. With large limiters inside, both cost more than a pointer.
impl<L: RateLimiter> RateLimiter for Box<L> {
    fn quotas(&self) -> Quotas {
        (**self).quotas()
    }

    #[inline]
    fn quota(&self, index: usize) -> Quota {
        (**self).quota(index)
    }

    #[inline]
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        (**self).decide_at(now, cost)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        (**self).decide_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        (**self).peek_at(now, cost)
    }

    fn reset(&self) {
        (**self).reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        (**self).is_idle_at(now)
    }

    #[inline]
    fn decide_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, RequestError> {
        (**self).decide_with(clock, cost)
    }

    fn decide_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, RequestError> {
        (**self).decide_detailed_with(clock, cost)
    }

    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, RequestError> {
        (**self).peek_with(clock, cost)
    }

    #[inline]
    fn try_acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Allowed, AcquireError> {
        (**self).try_acquire_with(clock, cost)
    }

    fn try_acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<(Allowed, Status), Rejected> {
        (**self).try_acquire_detailed_with(clock, cost)
    }

    fn try_peek_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<(Allowed, Status), Rejected> {
        (**self).try_peek_with(clock, cost)
    }
}
