//! Quotas that change while the store runs.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use windowpane_core::{BuildError, ChangeQuotas, Clock, IntoQuotas, Nanos, Quotas, RateLimiter};

use crate::key::KeyOf;
use crate::limiter::{Entry, KeyedLimiter};
use crate::tiers::Source;
use crate::time::Given;

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq,
    L: RateLimiter,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// Gives all keys that are unknown the same quotas from now on. Those that are held keep theirs
    /// until [`refresh`](Self::refresh), or until they are forgotten.
    ///
    /// # Errors
    /// [`BuildError`] if the algorithm cannot hold them; nothing was changed then.
    pub fn set_quotas(&self, quotas: impl IntoQuotas) -> Result<(), BuildError> {
        let quotas = quotas.into_quotas()?;
        (self.build)(&quotas, self.clock.now())?;
        self.tiers.set(Source::Same(quotas));
        Ok(())
    }

    /// Lets `quotas` say from now on which quotas an unknown key has. Those that are held keep
    /// theirs until [`refresh`](Self::refresh), or until they are forgotten.
    pub fn set_tiers(&self, quotas: impl Fn(&K) -> Quotas + Send + Sync + 'static) {
        self.tiers.set(Source::ByKey(Arc::new(quotas)));
    }
}

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq + Clone,
    L: ChangeQuotas,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// Gives all keys that are held the quotas that they would have if they were unknown; returns
    /// how many were changed. What was accepted is kept, as [`ChangeQuotas`] says.
    ///
    /// Call it after new quotas were set, or when the function that chooses them would return others.
    /// Each key's next decision after this call, and perhaps one during it, is made under the new
    /// quotas. O(keys); the lock of a shard is held for one key at a time. Each key is changed at a
    /// reading of the store's clock: where callers pass their own times, use
    /// [`refresh_at`](Self::refresh_at).
    ///
    /// # Errors
    /// The first [`BuildError`]: a key whose new quotas cannot be held keeps those it has; all others
    /// were changed nevertheless.
    pub fn refresh(&self) -> Result<usize, BuildError> {
        self.refresh_by(&self.clock)
    }

    /// [`refresh`](Self::refresh) at a time of the caller's own clock.
    ///
    /// # Errors
    /// As `refresh`.
    pub fn refresh_at(&self, now: Nanos) -> Result<usize, BuildError> {
        self.refresh_by(&Given(now))
    }

    fn refresh_by(&self, time: &impl Clock) -> Result<usize, BuildError> {
        self.tiers.ask_anew();
        let (mut changed, mut first_error) = (0, None);
        for slot in 0..self.slots.ever_taken() {
            let hash = self.slots.hash_of(slot);
            match self.refresh_entry(hash, time, |_, entry| entry.slot == slot) {
                Ok(one) => changed += usize::from(one),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(changed), Err)
    }

    /// [`refresh`](Self::refresh) for one key: a client's plan has changed. Returns whether its
    /// quotas were changed; an unknown key has none to change. O(1).
    ///
    /// # Errors
    /// [`BuildError`] if its new quotas cannot be held; it keeps those it has.
    pub fn refresh_key<Q>(&self, key: &Q) -> Result<bool, BuildError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.refresh_key_by(key, &self.clock)
    }

    /// [`refresh_key`](Self::refresh_key) at a time of the caller's own clock.
    ///
    /// # Errors
    /// As `refresh_key`.
    pub fn refresh_key_at<Q>(&self, key: &Q, now: Nanos) -> Result<bool, BuildError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.refresh_key_by(key, &Given(now))
    }

    fn refresh_key_by<Q>(&self, key: &Q, time: &impl Clock) -> Result<bool, BuildError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.tiers.ask_anew();
        self.refresh_entry(self.shards.hash(key), time, |k, _| k.borrow() == key)
    }

    fn refresh_entry(
        &self,
        hash: u64,
        time: &impl Clock,
        is_it: impl Fn(&K, &Entry<L>) -> bool,
    ) -> Result<bool, BuildError> {
        loop {
            // The function that chooses the quotas runs while nothing is locked, on a copy of the key.
            let version = self.tiers.version();
            let copy = |key: &K, entry: &Entry<L>| Some((key.clone(), entry.limiter.quotas()));
            let Some((key, has)) = self.shards.read(hash, &is_it, copy, || None) else {
                return Ok(false);
            };
            let quotas = self.tiers.of_owned(&key);
            if quotas == has {
                return Ok(false);
            }
            let changed = self.shards.write(
                hash,
                |k, entry| *k == key && is_it(k, entry),
                |entry| {
                    // Refreshed again meanwhile: an older answer must not come after a newer one.
                    let up_to_date = self.tiers.version() == version;
                    // The clock is read under the lock, so no decision has a later reading.
                    up_to_date.then(|| entry.limiter.change_at(time.now(), &quotas))
                },
                || (None, None),
            );
            if let Some(changed) = changed {
                return changed.map(|()| true);
            }
        }
    }
}
