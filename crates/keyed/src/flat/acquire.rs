//! The calls of a program: `Ok` only if the caller may go on.

use std::hash::{BuildHasher, Hash};

use windowpane_core::one_word::OneWordRule;
use windowpane_core::{AcquireError, Allowed, Clock, Cost, Decision, Rejected, Status, StoreError};

use super::table::FlatTable;
use super::{UNRECORDED, recorded};

impl<R: OneWordRule, C: Clock, S: BuildHasher> FlatTable<R, S, C> {
    /// Takes one permit for `key` now, if the quota has one left. O(1); lock-free; no allocation.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    #[inline]
    pub fn try_acquire<Q: Hash + ?Sized>(&self, key: &Q) -> Result<Allowed, AcquireError> {
        self.try_acquire_cost(key, Cost::ONE)
    }

    /// Takes `cost` permits for `key` now: all of them or none.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    #[inline]
    pub fn try_acquire_many<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        cost: u64,
    ) -> Result<Allowed, AcquireError> {
        self.try_acquire_cost(key, Cost::new(cost).ok_or(AcquireError::ZeroCost)?)
    }

    #[inline]
    fn try_acquire_cost<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        cost: Cost,
    ) -> Result<Allowed, AcquireError> {
        match self.decide_at(key, self.clock().now(), cost) {
            Ok(Decision::Allowed { at }) => Ok(Allowed::new(recorded(at), cost)),
            Ok(Decision::Denied(denial)) => Err(AcquireError::of_denial(denial, self.rule.quota())),
            Err(error) => Err(self.error(error)),
        }
    }

    /// [`try_acquire_many`](Self::try_acquire_many), with what is left right after the decision and
    /// when more will be.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if the quota denied; nothing was charged then.
    pub fn try_acquire_detailed<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        cost: u64,
    ) -> Result<(Allowed, Status), Rejected> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        match self.decide_detailed_at(key, self.clock().now(), cost) {
            Ok(answer) => answer.into_result(cost, |at| at != UNRECORDED),
            Err(error) => Err(self.error(error).into()),
        }
    }

    /// Returns what [`try_acquire_detailed`](Self::try_acquire_detailed) would return. It changes
    /// nothing and creates no key.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if the quota would deny.
    pub fn peek<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        cost: u64,
    ) -> Result<(Allowed, Status), Rejected> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        match self.peek_at(key, self.clock().now(), cost) {
            Ok(answer) => answer.into_result(cost, |at| at != UNRECORDED),
            Err(error) => Err(self.error(error).into()),
        }
    }

    #[cold]
    fn error(&self, error: StoreError) -> AcquireError {
        AcquireError::of_store(error, |_| self.rule.quota())
    }
}
