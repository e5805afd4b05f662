//! The calls of a program: `Ok` only if the caller may go on.

use windowpane_core::{
    AcquireError, Allowed, AsyncKeyedSettle, Charge, Cost, Quotas, Rejected, Status, StoreError,
};

use crate::algorithm::{Algorithm, Plan, Settles};
use crate::limiter::RedisLimiter;

impl<A: Algorithm> RedisLimiter<A> {
    /// Takes one permit for `key` now, if all quotas have one left. One round trip at most.
    ///
    /// # Errors
    /// [`AcquireError`]. Nothing was charged then, but after [`AcquireError::Unavailable`] that is
    /// unknown.
    pub async fn try_acquire(&self, key: &str) -> Result<Allowed, AcquireError> {
        self.try_acquire_many(key, 1).await
    }

    /// Takes `cost` permits for `key` now: all of them, against every quota, or none.
    ///
    /// # Errors
    /// [`AcquireError`], as [`try_acquire`](Self::try_acquire).
    pub async fn try_acquire_many(&self, key: &str, cost: u64) -> Result<Allowed, AcquireError> {
        let (allowed, _) = self.try_acquire_detailed(key, cost).await?;
        Ok(allowed)
    }

    /// [`try_acquire_many`](Self::try_acquire_many), with what is left right after the decision and
    /// when more will be.
    ///
    /// [`Allowed::at`] is the server's time, since 1970. It is `None` if a
    /// [policy](crate::WhenUnavailable) allowed the request: the store has no record of it.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if a quota denied.
    pub async fn try_acquire_detailed(
        &self,
        key: &str,
        cost: u64,
    ) -> Result<(Allowed, Status), Rejected> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        let (epoch, plan) = self.plan_of(key);
        match self.decide_by(&plan, epoch, key, cost).await {
            Ok(decided) => decided.into_result(cost),
            Err(error) => Err(of_store(error, &plan).into()),
        }
    }

    /// Returns what [`try_acquire_detailed`](Self::try_acquire_detailed) would return if the store is
    /// reached. It changes nothing, creates no key and asks no policy.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if a quota would deny.
    pub async fn peek(&self, key: &str, cost: u64) -> Result<(Allowed, Status), Rejected> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        let plan = self.plan_for(key);
        match self.peek_by(&plan, key, cost).await {
            Ok(answer) => answer.into_result(cost, |_| true),
            Err(error) => Err(of_store(error, &plan).into()),
        }
    }

    /// Forgets all that was accepted for `key`.
    ///
    /// # Errors
    /// [`AcquireError::Unavailable`]: it is unknown whether it was forgotten.
    pub async fn reset(&self, key: &str) -> Result<(), AcquireError> {
        let forgotten = self.forget(key).await;
        forgotten.map_err(|failure| AcquireError::Unavailable {
            reason: failure.reason,
        })
    }

    /// Returns the quotas in force for every key without a [tier](crate::Builder::tiers).
    pub fn quotas(&self) -> Quotas {
        self.plan().quotas.clone()
    }
}

impl<A: Settles> RedisLimiter<A> {
    /// Replaces what an allowed request of `key` was charged by `actual` permits, as if it had cost
    /// that in the first place. A request that a policy allowed changes nothing, and neither does one
    /// that has left every window.
    ///
    /// # Errors
    /// [`AcquireError::Unavailable`]: it is unknown whether the charge was replaced.
    pub async fn settle(
        &self,
        key: &str,
        allowed: Allowed,
        actual: u64,
    ) -> Result<(), AcquireError> {
        let Some(charge) = Charge::of(allowed) else {
            return Ok(());
        };
        let settled = AsyncKeyedSettle::settle(self, key, charge, actual).await;
        settled.map_err(|error| of_store(error, &self.plan_for(key)))
    }
}

/// The error of a call that `plan` decided.
#[cold]
fn of_store(error: StoreError, plan: &Plan) -> AcquireError {
    // A local limiter may have more quotas than the store.
    let quota = |index| plan.quotas.get(index).copied().unwrap_or(plan.quotas[0]);
    AcquireError::of_store(error, quota)
}
