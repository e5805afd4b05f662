//! An algorithm with a clock of its own.

use core::fmt;

use crate::build::FromQuotas;
use crate::clock::{Clock, MonotonicClock};
use crate::cost::Cost;
use crate::error::BuildError;
use crate::outcome::{AcquireError, Allowed, Rejected, Status};
use crate::per_quota::PerQuota;
use crate::quotas::{IntoQuotas, Quotas};
use crate::rate_limiter::RateLimiter;

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
