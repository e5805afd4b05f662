//! What an algorithm is, and an algorithm with a clock of its own.

use alloc::boxed::Box;
use core::fmt;

use crate::build::FromQuotas;
use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::error::{BuildError, RequestError};
use crate::outcome::{self, AcquireError, Allowed, Rejected, Status};
use crate::per_quota::PerQuota;
use crate::quota::Quota;
use crate::quotas::{IntoQuotas, Quotas};
#[cfg(feature = "std")]
use crate::wait::Queue;

/// A rate limiter for one key, to which the caller gives the time.
///
/// The algorithms implement it; stores, middleware and the laboratory are generic over it. A
/// decision is a value here, and `Ok` also when the request is denied. Programs use [`Limiter`],
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

/// A limiter that lies elsewhere: a map of many keys has room to spare and moves its entries when it
/// grows, and with large limiters inside, both cost more than a pointer.
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

/// A rate limiter for one key with a clock of its own: what most programs hold.
///
/// A call that takes permits returns `Ok` only if the caller may go on.
///
/// ```
/// use windowpane_core::clock::ManualClock;
/// use windowpane_core::{AcquireError, Limiter, RateLimiter};
///
/// fn serve<L: RateLimiter>(limiter: &Limiter<L, ManualClock>) -> String {
///     match limiter.try_acquire() {
///         Ok(_) => "served".into(),
///         Err(AcquireError::Denied(denied)) => format!("429, {:?}", denied.retry_after()),
///         Err(error) => error.to_string(),
///     }
/// }
/// ```
#[derive(Clone, Default)]
pub struct Limiter<L, C = MonotonicClock> {
    algorithm: L,
    clock: C,
}

#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
impl<L: FromQuotas> Limiter<L> {
    /// A limiter with `quotas`, such as `"100/60s"`, on the system's monotonic clock.
    ///
    /// # Errors
    /// [`BuildError`] if the quotas are malformed or the algorithm cannot hold them; it says what
    /// can.
    pub fn new(quotas: impl IntoQuotas) -> Result<Limiter<L>, BuildError> {
        Limiter::on_clock(quotas, MonotonicClock::new())
    }
}

#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
impl<L> Limiter<L> {
    /// A limiter of an algorithm that was built by hand, on the system's monotonic clock.
    pub fn of(algorithm: L) -> Limiter<L> {
        Limiter::with_clock(algorithm, MonotonicClock::new())
    }
}

impl<L: FromQuotas, C: Clock> Limiter<L, C> {
    /// A limiter with `quotas` on a clock of your choice.
    ///
    /// # Errors
    /// [`BuildError`] if the quotas are malformed or the algorithm cannot hold them; it says what
    /// can.
    pub fn on_clock(quotas: impl IntoQuotas, clock: C) -> Result<Limiter<L, C>, BuildError> {
        let algorithm = L::from_quotas(&quotas.into_quotas()?, clock.now())?;
        Ok(Limiter { algorithm, clock })
    }
}

impl<L, C> Limiter<L, C> {
    /// A limiter of an algorithm that was built by hand, on a clock of your choice.
    pub const fn with_clock(algorithm: L, clock: C) -> Limiter<L, C> {
        Limiter { algorithm, clock }
    }

    /// The algorithm, for what only it offers.
    pub const fn algorithm(&self) -> &L {
        &self.algorithm
    }

    /// The clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// Puts a queue before the limiter, in which callers wait their turn.
    #[cfg(feature = "std")]
    pub fn queued(self) -> Queue<L, C> {
        Queue::new(self)
    }
}

impl<L: RateLimiter, C: Clock> Limiter<L, C> {
    /// Takes one permit now, if all quotas have one left.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    #[inline]
    pub fn try_acquire(&self) -> Result<Allowed, AcquireError> {
        self.algorithm.try_acquire_with(&self.clock, Cost::ONE)
    }

    /// Takes `cost` permits now: all of them, against every quota, or none.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    #[inline]
    pub fn try_acquire_many(&self, cost: u64) -> Result<Allowed, AcquireError> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        self.algorithm.try_acquire_with(&self.clock, cost)
    }

    /// [`try_acquire_many`](Self::try_acquire_many), and what is left right after the decision, seen
    /// at the same instant.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if a quota denied; nothing was charged then.
    pub fn try_acquire_detailed(&self, cost: u64) -> Result<(Allowed, Status), Rejected> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        self.algorithm.try_acquire_detailed_with(&self.clock, cost)
    }

    /// Returns what [`try_acquire_detailed`](Self::try_acquire_detailed) would return, and changes
    /// nothing. What is left is what would be left after it.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if a quota would deny.
    pub fn peek(&self, cost: u64) -> Result<(Allowed, Status), Rejected> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        self.algorithm.try_peek_with(&self.clock, cost)
    }

    /// Returns the largest cost that would be allowed now; 0 if none. It changes nothing.
    pub fn remaining(&self) -> u64 {
        let Ok((_, status)) = self.peek(1) else {
            return 0;
        };
        // The permit that the peek would take is still there.
        let left = status.remaining_per_quota().iter();
        let left = left.zip(status.quotas().iter());
        let left: PerQuota = left
            .map(|(left, quota)| left + quota.charge(Cost::ONE))
            .collect();
        status.quotas().largest_cost(&left)
    }

    /// Forgets all that was accepted, and with it the latest recorded time.
    pub fn reset(&self) {
        self.algorithm.reset();
    }

    /// Whether every window is empty now.
    pub fn is_idle(&self) -> bool {
        self.algorithm.is_idle_at(self.clock.now())
    }

    /// The quotas in force.
    pub fn quotas(&self) -> Quotas {
        self.algorithm.quotas()
    }
}

impl<L: RateLimiter, C> fmt::Debug for Limiter<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("quotas", &self.algorithm.quotas())
            .finish_non_exhaustive()
    }
}
