//! Quotas that change while a limiter is in use.

use std::fmt;
use std::sync::PoisonError;

use crate::build::FromQuotas;
use crate::change_quotas::ChangeQuotas;
use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::error::{BuildError, RequestError};
use crate::limiter::Limiter;
use crate::outcome::{AcquireError, Allowed, Rejected, Status};
use crate::quota::Quota;
use crate::quotas::{IntoQuotas, Quotas};
use crate::rate_limiter::RateLimiter;
use crate::settle::Settle;
use crate::sync::ShardedLock;

/// A limiter whose quotas can be changed while other threads decide.
///
/// Each call is made wholly before a change or wholly after it. A call holds one of several shared
/// locks, each on cache lines of its own, so that threads do not contend. A change takes all of them
/// and makes callers wait while it carries over what was accepted. A limiter whose limits never
/// change needs no wrapper and pays nothing. The locks take about a kilobyte; a store of many keys
/// changes an entry under the lock that it already has.
///
/// The clock is read under these locks, so that its readings come in the order of the calls: a
/// change by a reading that a decision has overtaken would forget what that decision still counts.
/// So a [`Clock`] must not call the limiter that reads it. A clock that panics changes nothing.
///
/// ```
/// use windowpane_core::clock::ManualClock;
/// use windowpane_core::{ChangeQuotas, Changeable, Limiter};
///
/// # fn example<L: ChangeQuotas>(algorithm: L) -> Result<(), Box<dyn std::error::Error>> {
/// let limiter = Limiter::with_clock(Changeable::new(algorithm), ManualClock::new(0));
/// limiter.try_acquire()?;
/// // From any thread, while others go on:
/// limiter.change("200/60s")?;
/// assert_eq!(limiter.remaining(), 199);
/// # Ok(())
/// # }
/// ```
pub struct Changeable<L> {
    limiter: ShardedLock<L>,
}

impl<L> Changeable<L> {
    /// Makes the quotas of `limiter` changeable.
    pub fn new(limiter: L) -> Changeable<L> {
        Changeable {
            limiter: ShardedLock::new(limiter),
        }
    }

    /// Makes a call while no change is made.
    // Under the exclusive lock only the clock and the algorithm run. The clock has changed nothing
    // when it panics, and no algorithm of ours panics, so a poisoned lock guards a sound limiter.
    #[inline]
    fn with<R>(&self, call: impl FnOnce(&L) -> R) -> R {
        let guard = self.limiter.read().unwrap_or_else(PoisonError::into_inner);
        call(&guard)
    }
}

impl<L: ChangeQuotas> Changeable<L> {
    /// Puts `quotas` in force at `now`, for all later decisions, and keeps what was accepted. See
    /// [`ChangeQuotas::change_at`].
    ///
    /// # Errors
    /// [`BuildError`] where the algorithm cannot hold the quotas; nothing was changed then.
    pub fn change_at(&self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        self.change_with(|| now, quotas)
    }

    /// [`change_at`](Self::change_at) with a reading of `clock`. It is taken under the lock, while no
    /// other call is made, so that it is the latest.
    fn change_with(
        &self,
        clock: impl FnOnce() -> Nanos,
        quotas: &Quotas,
    ) -> Result<(), BuildError> {
        let mut guard = self.limiter.write().unwrap_or_else(PoisonError::into_inner);
        guard.change_at(clock(), quotas)
    }
}

impl<L: ChangeQuotas, C: Clock> Limiter<Changeable<L>, C> {
    /// Puts `quotas` in force from now on and keeps what was accepted. See
    /// [`ChangeQuotas::change_at`].
    ///
    /// # Errors
    /// [`BuildError`] where the algorithm cannot hold the quotas; nothing was changed then.
    pub fn change(&self, quotas: impl IntoQuotas) -> Result<(), BuildError> {
        let quotas = quotas.into_quotas()?;
        self.algorithm().change_with(|| self.clock().now(), &quotas)
    }
}

impl<L: RateLimiter> RateLimiter for Changeable<L> {
    fn quotas(&self) -> Quotas {
        self.with(L::quotas)
    }

    fn quota(&self, index: usize) -> Quota {
        self.with(|limiter| limiter.quota(index))
    }

    #[inline]
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.with(|limiter| limiter.decide_at(now, cost))
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.with(|limiter| limiter.decide_detailed_at(now, cost))
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.with(|limiter| limiter.peek_at(now, cost))
    }

    fn reset(&self) {
        self.with(L::reset);
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.with(|limiter| limiter.is_idle_at(now))
    }

    #[inline]
    fn decide_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, RequestError> {
        self.with(|limiter| limiter.decide_with(clock, cost))
    }

    #[inline]
    fn decide_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, RequestError> {
        self.with(|limiter| limiter.decide_detailed_with(clock, cost))
    }

    #[inline]
    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, RequestError> {
        self.with(|limiter| limiter.peek_with(clock, cost))
    }

    // Under one lock: the error names a quota that was in force at the decision.
    #[inline]
    fn try_acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Allowed, AcquireError> {
        self.with(|limiter| limiter.try_acquire_with(clock, cost))
    }

    fn try_acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<(Allowed, Status), Rejected> {
        self.with(|limiter| limiter.try_acquire_detailed_with(clock, cost))
    }

    fn try_peek_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<(Allowed, Status), Rejected> {
        self.with(|limiter| limiter.try_peek_with(clock, cost))
    }
}

impl<L: FromQuotas> FromQuotas for Changeable<L> {
    const NAME: &'static str = L::NAME;

    fn from_quotas(quotas: &Quotas, start: Nanos) -> Result<Self, BuildError> {
        L::from_quotas(quotas, start).map(Changeable::new)
    }
}

impl<L: Settle> Settle for Changeable<L> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        self.with(|limiter| limiter.settle_at(at, estimate, actual));
    }

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        self.with(|limiter| limiter.cancel_at(at, cost));
    }
}

impl<L: RateLimiter> fmt::Debug for Changeable<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changeable")
            .field("quotas", &self.quotas())
            .finish_non_exhaustive()
    }
}
