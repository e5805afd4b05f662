//! Quotas that change while a limiter is in use.

use std::fmt;
use std::sync::PoisonError;

use crate::build::FromQuotas;
use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::error::{AcquireError, BuildError};
use crate::limiter::{Limiter, RateLimiter};
use crate::quotas::Quotas;
use crate::settle::Settle;
use crate::sync::ShardedLock;

/// An algorithm that can go on under other quotas and keep what was accepted.
///
/// It is changed by someone who has it alone, as a store has an entry whose lock it holds. For a
/// limiter that several threads use, see [`Changeable`].
pub trait ChangeQuotas: RateLimiter {
    /// Puts `quotas` in force at `now`, for all later decisions.
    ///
    /// What was accepted still counts, against the new limits and windows; what had left every
    /// window by now stays forgotten, however long the new ones are, and no earlier time is accepted
    /// any more that would see it. A quota lowered below what is used has 0 remaining until enough
    /// of that has left. An approximate algorithm keeps what its own rule knows, so that it never
    /// counts less than before; each says how.
    ///
    /// # Errors
    /// [`BuildError`] where the algorithm cannot hold the quotas; nothing was changed then.
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError>;
}

impl<L: ChangeQuotas> ChangeQuotas for Box<L> {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        (**self).change_at(now, quotas)
    }
}

/// A limiter whose quotas can be changed while other threads decide.
///
/// Each call is made wholly before a change or wholly after it. Calls hold a shared lock, one of
/// several on cache lines of their own, so that threads do not meet there; a change takes all of them
/// and keeps callers waiting while it carries over what was accepted. Whoever never changes a limit
/// does not wrap it and pays nothing. The locks take about a kilobyte: a store of many keys changes
/// an entry under the lock that it already has.
///
/// ```
/// use windowpane_core::clock::ManualClock;
/// use windowpane_core::{ChangeQuotas, Changeable, Cost, Limiter, Quotas};
///
/// # fn example<L: ChangeQuotas>(algorithm: L) -> Result<(), Box<dyn std::error::Error>> {
/// let limiter = Limiter::with_clock(Changeable::new(algorithm), ManualClock::new(0));
/// assert!(limiter.acquire(Cost::ONE)?.is_allowed());
/// // From any thread, while others go on asking:
/// limiter.change(Quotas::parse(["200/60s"])?)?;
/// assert_eq!(limiter.peek(Cost::ONE)?.remaining(), 198);
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
    // Nothing that a caller can make panic runs under the lock taken alone, so a poisoned lock
    // guards a sound limiter.
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

    /// [`change_at`](Self::change_at) with a reading of `clock`, taken once no other call is made, so
    /// that it is the latest.
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
    pub fn change(&self, quotas: impl Into<Quotas>) -> Result<(), BuildError> {
        let quotas = quotas.into();
        self.algorithm().change_with(|| self.clock().now(), &quotas)
    }
}

impl<L: RateLimiter> RateLimiter for Changeable<L> {
    fn quotas(&self) -> Quotas {
        self.with(L::quotas)
    }

    #[inline]
    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError> {
        self.with(|limiter| limiter.acquire_at(now, cost))
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.with(|limiter| limiter.acquire_detailed_at(now, cost))
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.with(|limiter| limiter.peek_at(now, cost))
    }

    fn reset(&self) {
        self.with(L::reset);
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.with(|limiter| limiter.is_idle_at(now))
    }

    #[inline]
    fn acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, AcquireError> {
        self.with(|limiter| limiter.acquire_with(clock, cost))
    }

    #[inline]
    fn acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, AcquireError> {
        self.with(|limiter| limiter.acquire_detailed_with(clock, cost))
    }

    #[inline]
    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, AcquireError> {
        self.with(|limiter| limiter.peek_with(clock, cost))
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
}

impl<L: RateLimiter> fmt::Debug for Changeable<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changeable")
            .field("quotas", &self.quotas())
            .finish_non_exhaustive()
    }
}
