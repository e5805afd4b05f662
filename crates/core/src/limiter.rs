//! What an algorithm is, and an algorithm with a clock of its own.

use std::fmt;

use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::error::AcquireError;
use crate::quotas::Quotas;

/// A rate limiter for one key, told the time by its caller.
///
/// This is what the algorithms implement and what stores, middleware and the laboratory are
/// generic over. Those who want a limiter with a clock take [`Limiter`].
///
/// Every decision is linearizable, the time being an argument of the call. An earlier time than
/// the latest recorded one is read as that one (a clock that steps back creates no capacity),
/// unless the algorithm says otherwise.
pub trait RateLimiter: Send + Sync {
    /// The quotas in force.
    fn quotas(&self) -> Quotas;

    /// Decides a request of `cost` at `now` and, if it is allowed, charges it.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError>;

    /// [`acquire_at`](Self::acquire_at), and what remains right after the decision, seen at the
    /// same instant. It can cost more than the decision alone.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError>;

    /// What [`acquire_detailed_at`](Self::acquire_detailed_at) would answer, to the letter
    /// (`remaining` is what would be left after it), changing nothing.
    ///
    /// # Errors
    /// [`AcquireError`], as `acquire_detailed_at`.
    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError>;

    /// Forgets all that was accepted, and with it the latest recorded time.
    fn reset(&self);

    /// Whether every window is empty at `now`: forgetting the limiter would change no decision.
    fn is_idle_at(&self, now: Nanos) -> bool;

    /// [`acquire_at`](Self::acquire_at) with a reading of `clock`. An algorithm that holds a lock
    /// reads the clock inside it, so that lock order and time order agree.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    #[inline]
    fn acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, AcquireError>
    where
        Self: Sized,
    {
        self.acquire_at(clock.now(), cost)
    }

    /// [`acquire_detailed_at`](Self::acquire_detailed_at) with a reading of `clock`.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    #[inline]
    fn acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, AcquireError>
    where
        Self: Sized,
    {
        self.acquire_detailed_at(clock.now(), cost)
    }

    /// [`peek_at`](Self::peek_at) with a reading of `clock`.
    ///
    /// # Errors
    /// [`AcquireError`].
    #[inline]
    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, AcquireError>
    where
        Self: Sized,
    {
        self.peek_at(clock.now(), cost)
    }
}

/// A limiter that lies elsewhere: a map of many keys has room to spare and moves its entries when it
/// grows, and with large limiters inside, both cost more than a pointer.
impl<L: RateLimiter> RateLimiter for Box<L> {
    fn quotas(&self) -> Quotas {
        (**self).quotas()
    }

    #[inline]
    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError> {
        (**self).acquire_at(now, cost)
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        (**self).acquire_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        (**self).peek_at(now, cost)
    }

    fn reset(&self) {
        (**self).reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        (**self).is_idle_at(now)
    }

    #[inline]
    fn acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, AcquireError> {
        (**self).acquire_with(clock, cost)
    }

    fn acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, AcquireError> {
        (**self).acquire_detailed_with(clock, cost)
    }

    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, AcquireError> {
        (**self).peek_with(clock, cost)
    }
}

/// A rate limiter for one key with a clock of its own: what most programs hold.
///
/// ```
/// use windowpane_core::clock::ManualClock;
/// use windowpane_core::{Cost, Limiter, RateLimiter};
///
/// fn serve<L: RateLimiter>(limiter: &Limiter<L, ManualClock>) -> &'static str {
///     match limiter.acquire(Cost::ONE) {
///         Ok(decision) if decision.is_allowed() => "served",
///         Ok(_) => "429, come back later",
///         Err(_) => "400, such a request can never be served",
///     }
/// }
/// ```
#[derive(Clone, Default)]
pub struct Limiter<L, C = MonotonicClock> {
    algorithm: L,
    clock: C,
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
impl<L> Limiter<L> {
    /// A limiter on the system's monotonic clock.
    ///
    /// It does not exist on `wasm32-unknown-unknown`, which [has no clock](crate::clock); use
    /// [`with_clock`](Self::with_clock) there.
    pub fn new(algorithm: L) -> Limiter<L> {
        Limiter::with_clock(algorithm, MonotonicClock::new())
    }
}

impl<L, C> Limiter<L, C> {
    /// A limiter on a clock of your choice.
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
}

impl<L: RateLimiter, C: Clock> Limiter<L, C> {
    /// Decides a request of `cost` now and, if it is allowed, charges it.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    #[inline]
    pub fn acquire(&self, cost: Cost) -> Result<Decision, AcquireError> {
        self.algorithm.acquire_with(&self.clock, cost)
    }

    /// [`acquire`](Self::acquire), and what remains right after the decision.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    #[inline]
    pub fn acquire_detailed(&self, cost: Cost) -> Result<Detailed, AcquireError> {
        self.algorithm.acquire_detailed_with(&self.clock, cost)
    }

    /// What [`acquire_detailed`](Self::acquire_detailed) would answer, changing nothing.
    ///
    /// # Errors
    /// [`AcquireError`].
    #[inline]
    pub fn peek(&self, cost: Cost) -> Result<Detailed, AcquireError> {
        self.algorithm.peek_with(&self.clock, cost)
    }

    /// Forgets all that was accepted.
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
