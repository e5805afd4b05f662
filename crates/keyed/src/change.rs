//! Quotas that change while the store runs.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use windowpane_core::{BuildError, ChangeQuotas, Clock, Quotas, RateLimiter};

use crate::key::KeyOf;
use crate::limiter::{Entry, KeyedLimiter};
use crate::tiers::Source;

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
    pub fn set_quotas(&self, quotas: impl Into<Quotas>) -> Result<(), BuildError> {
        let quotas = quotas.into();
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
    /// Gives all keys that are held the quotas that they would have if they were unknown; answers
    /// how many were changed. What was accepted is kept, as [`ChangeQuotas`] says.
    ///
    /// To be called after the quotas were set anew, or when the function that says them would answer
    /// otherwise. Each key's next decision after this call, and perhaps one during it, is made under
    /// the new ones. O(keys); each key is changed while its shard is locked for it alone.
    ///
    /// # Errors
    /// The first [`BuildError`]: a key whose new quotas cannot be held keeps those it has; all others
    /// were changed nevertheless.
    pub fn refresh(&self) -> Result<usize, BuildError> {
        self.tiers.ask_anew();
        let (mut changed, mut first_error) = (0, None);
        for slot in 0..self.slots.ever_taken() {
            let hash = self.slots.hash_of(slot);
            match self.refresh_entry(hash, |_, entry| entry.slot == slot) {
                Ok(one) => changed += usize::from(one),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(changed), Err)
    }

    /// [`refresh`](Self::refresh) for one key: a client's plan has changed. Answers whether its
    /// quotas were changed; an unknown key has none to change. O(1).
    ///
    /// # Errors
    /// [`BuildError`] if its new quotas cannot be held; it keeps those it has.
    pub fn refresh_key<Q>(&self, key: &Q) -> Result<bool, BuildError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.tiers.ask_anew();
        self.refresh_entry(self.shards.hash(key), |k, _| k.borrow() == key)
    }

    fn refresh_entry(
        &self,
        hash: u64,
        is_it: impl Fn(&K, &Entry<L>) -> bool,
    ) -> Result<bool, BuildError> {
        loop {
            // The function that says the quotas runs while nothing is locked, on a copy of the key.
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
                    // Asked anew meanwhile: an older answer must not come after a newer one.
                    let up_to_date = self.tiers.version() == version;
                    up_to_date.then(|| entry.limiter.change_at(self.clock.now(), &quotas))
                },
                || (None, None),
            );
            if let Some(changed) = changed {
                return changed.map(|()| true);
            }
        }
    }
}
