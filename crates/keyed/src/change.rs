//! Quotas that change while the store runs.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use windowpane_core::{BuildError, Clock, Quotas, RateLimiter};

use crate::limiter::KeyedLimiter;
use crate::tiers::Source;

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq,
    L: RateLimiter,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// Gives all keys the same quotas from now on.
    ///
    /// A key that is held keeps the quotas it has until it is evicted, which a [`sweep`](Self::sweep)
    /// does to all that are idle, or [`reset`](Self::reset).
    ///
    /// # Errors
    /// [`BuildError`] if the algorithm cannot hold them; nothing was changed then.
    pub fn set_quotas(&self, quotas: impl Into<Quotas>) -> Result<(), BuildError> {
        let quotas = quotas.into();
        (self.build)(&quotas, self.clock.now())?;
        self.tiers.set(Source::Same(quotas));
        Ok(())
    }

    /// Lets `quotas` say from now on which quotas a key has. For keys that are held see
    /// [`set_quotas`](Self::set_quotas).
    pub fn set_tiers(&self, quotas: impl Fn(&K) -> Quotas + Send + Sync + 'static) {
        self.tiers.set(Source::ByKey(Arc::new(quotas)));
    }
}
