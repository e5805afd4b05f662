//! The builder of a limiter.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use windowpane_core::{BuildError, IntoQuotas, Quotas};

use crate::algorithm::Algorithm;
use crate::deny_cache::DenyCache;
use crate::error::ConfigError;
use crate::limiter::RedisLimiter;
use crate::policy::WhenUnavailable;
use crate::store::Store;
use crate::tiers::{TierOf, Tiers};

/// The number of denied keys that a limiter remembers by default.
pub const DENY_CACHE: usize = 10_000;

/// The options of a [`RedisLimiter`], from [`RedisLimiter::builder`].
#[must_use = "`build` makes the limiter"]
pub struct Builder<A> {
    store: Store,
    quotas: Result<Quotas, BuildError>,
    tiers: Vec<Result<Quotas, BuildError>>,
    tier_of: Option<TierOf>,
    prefix: String,
    when_unavailable: WhenUnavailable,
    deny_cache: usize,
    algorithm: PhantomData<fn() -> A>,
}

impl<A> Builder<A> {
    pub(crate) fn new(store: Store, quotas: impl IntoQuotas) -> Builder<A> {
        Builder {
            store,
            quotas: quotas.into_quotas(),
            tiers: Vec::new(),
            tier_of: None,
            prefix: "windowpane".into(),
            when_unavailable: WhenUnavailable::default(),
            deny_cache: DENY_CACHE,
            algorithm: PhantomData,
        }
    }

    /// Sets the quotas of keys that have others than most: `tier_of` returns the index of a key's
    /// quotas in `tiers`. A key for which it returns `None`, or an index that `tiers` does not have,
    /// has the limiter's own quotas. It is called in every call; it must be fast and not block.
    ///
    /// A key may change its tier while the limiter is used. What was accepted is kept.
    ///
    /// ```no_run
    /// use windowpane_redis::{Log, RedisLimiter, Store};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = Store::at("redis://127.0.0.1:6379")?.connect().await?;
    /// let limiter = RedisLimiter::<Log>::builder(store, "100/60s")
    ///     .tiers(["1000/60s", "10000/60s"], |key| match key.split_once(':') {
    ///         Some(("team", _)) => Some(0),
    ///         Some(("company", _)) => Some(1),
    ///         _ => None,
    ///     })
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tiers<Q: IntoQuotas>(
        mut self,
        tiers: impl IntoIterator<Item = Q>,
        tier_of: impl Fn(&str) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        self.tiers = tiers.into_iter().map(IntoQuotas::into_quotas).collect();
        self.tier_of = Some(Arc::new(tier_of));
        self
    }

    /// Sets the prefix of keys, which are named `prefix:ALGORITHM:{KEY}`; `windowpane` by default.
    /// Limiters of one prefix and algorithm share what was accepted for a key; others share nothing.
    /// A prefix with a brace in it is an error of [`build`](Self::build).
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets what the limiter does when the store is unavailable; [`WhenUnavailable::Error`] by default.
    pub fn when_unavailable(mut self, policy: WhenUnavailable) -> Self {
        self.when_unavailable = policy;
        self
    }

    /// Sets the number of denied keys to remember, each until the store would allow it; [`DENY_CACHE`]
    /// by default, 0 for none.
    ///
    /// A remembered denial costs no round trip. It can be too strict only if another process frees
    /// permits early: it settles a charge below its estimate, resets the key or raises the limit.
    /// Then the key is denied until the `retry_after` that was returned.
    pub fn deny_cache(mut self, keys: usize) -> Self {
        self.deny_cache = keys;
        self
    }

    /// Builds the limiter.
    ///
    /// # Errors
    /// [`ConfigError::Quotas`] for malformed quotas, [`ConfigError::BraceInPrefix`], or what the
    /// algorithm cannot hold; it names what can.
    pub fn build(self) -> Result<RedisLimiter<A>, ConfigError>
    where
        A: Algorithm,
    {
        let plan = A::plan(self.quotas?)?;
        let plan_of_tier = |quotas: Result<_, BuildError>| Ok(Arc::new(A::plan(quotas?)?));
        let tiers = self.tiers.into_iter().map(plan_of_tier);
        let tiers: Vec<_> = tiers.collect::<Result<_, ConfigError>>()?;
        if self.prefix.contains(['{', '}']) {
            let prefix = self.prefix;
            return Err(ConfigError::BraceInPrefix { prefix });
        }
        Ok(RedisLimiter::of(
            self.store,
            self.prefix,
            plan,
            Tiers::new(tiers, self.tier_of),
            self.when_unavailable,
            DenyCache::new(self.deny_cache),
        ))
    }
}

impl<A: Algorithm> fmt::Debug for Builder<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("algorithm", &A::NAME)
            .field("store", &self.store)
            .field("quotas", &self.quotas)
            .field("tiers", &self.tiers)
            .field("prefix", &self.prefix)
            .field("when_unavailable", &self.when_unavailable)
            .field("deny_cache", &self.deny_cache)
            .finish()
    }
}
