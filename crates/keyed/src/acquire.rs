//! The calls of a program: `Ok` only if the caller may go on.

use std::hash::{BuildHasher, Hash};

use windowpane_core::{
    AcquireError, Allowed, Charge, Clock, Cost, Decision, KeyedSettle, Quota, RateLimiter,
    Rejected, Settle, Status, StoreError,
};

use crate::ask::{InDetail, Named};
use crate::key::KeyOf;
use crate::limiter::{KeyedLimiter, UNRECORDED, recorded};

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq,
    L: RateLimiter,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// Takes one permit for `key` now, if all its quotas have one left.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    #[inline]
    pub fn try_acquire<Q>(&self, key: &Q) -> Result<Allowed, AcquireError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.try_acquire_cost(key, Cost::ONE)
    }

    /// Takes `cost` permits for `key` now: all of them, against every quota, or none.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    #[inline]
    pub fn try_acquire_many<Q>(&self, key: &Q, cost: u64) -> Result<Allowed, AcquireError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.try_acquire_cost(key, Cost::new(cost).ok_or(AcquireError::ZeroCost)?)
    }

    #[inline]
    fn try_acquire_cost<Q>(&self, key: &Q, cost: Cost) -> Result<Allowed, AcquireError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        match self.ask(key, &self.clock, &Named(cost)) {
            Ok((Decision::Allowed { at }, _)) => Ok(Allowed::new(recorded(at), cost)),
            Ok((Decision::Denied(denial), quota)) => {
                let quota = quota.unwrap_or_else(|| self.quota_of(key, denial.quota()));
                Err(AcquireError::of_denial(denial, quota))
            }
            Err(error) => Err(self.error(key, error)),
        }
    }

    /// [`try_acquire_many`](Self::try_acquire_many), with what is left right after the decision and
    /// when more will be.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if a quota denied; nothing was charged then.
    pub fn try_acquire_detailed<Q>(&self, key: &Q, cost: u64) -> Result<(Allowed, Status), Rejected>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        match self.ask(key, &self.clock, &InDetail(cost)) {
            Ok(answer) => answer.into_result(cost, |at| at != UNRECORDED),
            Err(error) => Err(self.error(key, error).into()),
        }
    }

    /// Returns what [`try_acquire_detailed`](Self::try_acquire_detailed) would return if there is a
    /// free slot for the key. It changes nothing and creates no key.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if a quota would deny.
    pub fn peek<Q>(&self, key: &Q, cost: u64) -> Result<(Allowed, Status), Rejected>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        match self.peek_by(key, &self.clock, cost) {
            Ok(answer) => answer.into_result(cost, |at| at != UNRECORDED),
            Err(error) => Err(self.error(key, error).into()),
        }
    }

    #[cold]
    fn error<Q>(&self, key: &Q, error: StoreError) -> AcquireError
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        AcquireError::of_store(error, |index| self.quota_of(key, index))
    }

    /// The quota of that index; the first if the key has fewer by now.
    #[cold]
    fn quota_of<Q>(&self, key: &Q, index: usize) -> Quota
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let quotas = self.quotas(key);
        quotas.get(index).copied().unwrap_or(quotas[0])
    }
}

impl<K, L, S, C> KeyedLimiter<K, L, S, C> {
    /// Replaces what an allowed request of `key` was charged by `actual` permits; see
    /// [`KeyedSettle::settle`]. A request that was allowed without a record changes nothing.
    pub fn settle<Q>(&self, key: &Q, allowed: Allowed, actual: u64)
    where
        Self: KeyedSettle<Q>,
        L: Settle,
        Q: ?Sized,
    {
        if let Some(charge) = Charge::of(allowed) {
            KeyedSettle::settle(self, key, charge, actual);
        }
    }
}

/// A key that is unknown by then has nothing to settle: it was evicted, so what was charged has left
/// every window; or reset; or allowed without a record.
impl<K, L, S, C, Q> KeyedSettle<Q> for KeyedLimiter<K, L, S, C>
where
    K: KeyOf<Q> + Send + Sync,
    L: Settle,
    S: BuildHasher + Clone + Send + Sync,
    C: Clock + Send + Sync,
    Q: Hash + Eq + ?Sized,
{
    fn settle(&self, key: &Q, charge: Charge, actual: u64) {
        // Without a record there is nothing to replace, even if the key has become known.
        if charge.at() != UNRECORDED {
            let settle = |limiter: &L| limiter.settle_at(charge.at(), charge.estimate(), actual);
            self.known(key, settle);
        }
    }

    fn cancel(&self, key: &Q, charge: Charge) {
        if charge.at() != UNRECORDED {
            let cancel = |limiter: &L| limiter.cancel_at(charge.at(), charge.estimate());
            self.known(key, cancel);
        }
    }
}
