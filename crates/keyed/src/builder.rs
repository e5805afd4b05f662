//! How a store is made.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::sync::Arc;

use windowpane_core::{
    BuildError, Clock, FromQuotas, IntoQuotas, MonotonicClock, Nanos, Quotas, RateLimiter,
};

use crate::hasher::DefaultHasher;
use crate::limiter::{KeyedLimiter, WhenFull};
use crate::shards::Shards;
use crate::slots::Slots;
use crate::tiers::{Source, Tiers};

/// A function that makes a key's limiter from its quotas and a recent reading of the clock.
pub type Build<L> = Box<dyn Fn(&Quotas, Nanos) -> Result<L, BuildError> + Send + Sync>;

/// The cap on keys unless another is given.
pub const DEFAULT_MAX_KEYS: usize = 1_000_000;

/// The parts of a [`KeyedLimiter`]. [`KeyedLimiter::builder`] makes one.
pub struct Builder<K, L, S = DefaultHasher, C = MonotonicClock> {
    source: Result<Source<K>, BuildError>,
    build: Build<L>,
    max_keys: usize,
    when_full: WhenFull,
    keep_denied: bool,
    hasher: S,
    clock: C,
    keys: PhantomData<fn() -> K>,
}

/// An algorithm of which a store makes one limiter a key, from quotas alone: all that are
/// [`FromQuotas`], and [`SharedRule`](crate::SharedRule).
pub trait ForKeys: RateLimiter + Sized {
    /// The function that makes them.
    fn maker() -> Build<Self>;
}

impl<L: FromQuotas + 'static> ForKeys for L {
    fn maker() -> Build<L> {
        Box::new(L::from_quotas)
    }
}

impl<K: Hash + Eq, L: ForKeys> KeyedLimiter<K, L> {
    /// A store in which every key has the same quotas, with the default cap, hasher and clock.
    ///
    /// # Errors
    /// [`BuildError`] if the algorithm cannot hold the quotas.
    pub fn new(quotas: impl IntoQuotas) -> Result<Self, BuildError> {
        Self::builder(quotas).build()
    }

    /// A store in which every key has the same quotas. What is wrong with them is an error of
    /// [`build`](Builder::build).
    pub fn builder(quotas: impl IntoQuotas) -> Builder<K, L> {
        Builder::new(quotas.into_quotas().map(Source::Same), L::maker())
    }

    /// A store in which `quotas` returns the quotas of a key. It is called once an entry, when an
    /// unknown key is to be inserted, and never while anything is locked.
    ///
    /// ```
    /// use windowpane_cas_ring::CasRing;
    /// use windowpane_core::Quotas;
    /// use windowpane_keyed::KeyedLimiter;
    ///
    /// let (paying, free) = (Quotas::parse(["1000/60s"])?, Quotas::parse(["10/60s"])?);
    /// let limiter: KeyedLimiter<String, CasRing> = KeyedLimiter::tiered(move |key: &String| {
    ///     if key.starts_with("paying-") { paying.clone() } else { free.clone() }
    /// })
    /// .build()?;
    /// limiter.try_acquire_many("paying-7", 500)?;
    /// assert!(limiter.try_acquire_many("free-3", 500).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tiered(quotas: impl Fn(&K) -> Quotas + Send + Sync + 'static) -> Builder<K, L> {
        Builder::new(Ok(Source::ByKey(Arc::new(quotas))), L::maker())
    }
}

impl<K: Hash + Eq, L: RateLimiter> KeyedLimiter<K, L> {
    /// A store in which every key has the same quotas and `build` makes a key's limiter of them,
    /// for a clock that reads about the time given: for algorithms that take more than quotas.
    pub fn builder_with(
        quotas: impl IntoQuotas,
        build: impl Fn(&Quotas, Nanos) -> Result<L, BuildError> + Send + Sync + 'static,
    ) -> Builder<K, L> {
        Builder::new(quotas.into_quotas().map(Source::Same), Box::new(build))
    }
}

impl<K, L> Builder<K, L> {
    fn new(source: Result<Source<K>, BuildError>, build: Build<L>) -> Self {
        Builder {
            source,
            build,
            max_keys: DEFAULT_MAX_KEYS,
            when_full: WhenFull::default(),
            keep_denied: false,
            hasher: DefaultHasher::default(),
            clock: MonotonicClock::new(),
            keys: PhantomData,
        }
    }
}

impl<K, L, S, C> Builder<K, L, S, C> {
    /// Sets the cap on keys, at least 1 and at most 2^31. It reserves no memory.
    pub fn max_keys(mut self, keys: usize) -> Self {
        self.max_keys = keys;
        self
    }

    /// Sets what an unknown key gets when the store is full.
    pub fn when_full(mut self, policy: WhenFull) -> Self {
        self.when_full = policy;
        self
    }

    /// Holds keys whose first request was denied, too: for an algorithm in which a denial records
    /// something. Of ours that is the mutex log that rejects times that step back, at a limit of 0.
    pub fn keep_denied(mut self, keep: bool) -> Self {
        self.keep_denied = keep;
        self
    }

    /// Sets the hasher. It should be seeded, and safe against keys that a client chooses.
    pub fn hasher<T>(self, hasher: T) -> Builder<K, L, T, C> {
        Builder {
            source: self.source,
            build: self.build,
            max_keys: self.max_keys,
            when_full: self.when_full,
            keep_denied: self.keep_denied,
            hasher,
            clock: self.clock,
            keys: PhantomData,
        }
    }

    /// Sets the clock.
    pub fn clock<T>(self, clock: T) -> Builder<K, L, S, T> {
        Builder {
            source: self.source,
            build: self.build,
            max_keys: self.max_keys,
            when_full: self.when_full,
            keep_denied: self.keep_denied,
            hasher: self.hasher,
            clock,
            keys: PhantomData,
        }
    }

    /// Makes the store.
    ///
    /// # Errors
    /// [`BuildError`] if the quotas are malformed or the algorithm cannot hold them. If each key has
    /// its own quotas, a request of that key returns the error.
    pub fn build(self) -> Result<KeyedLimiter<K, L, S, C>, BuildError>
    where
        K: Hash + Eq,
        L: RateLimiter,
        S: BuildHasher + Clone,
        C: Clock,
    {
        let opened = self.clock.now();
        let source = self.source?;
        if let Source::Same(quotas) = &source {
            (self.build)(quotas, opened)?;
        }
        let slots = Slots::new(self.max_keys);
        Ok(KeyedLimiter {
            shards: Shards::new(slots.cap(), self.hasher),
            slots,
            tiers: Tiers::new(source),
            build: self.build,
            clock: self.clock,
            when_full: self.when_full,
            keep_denied: self.keep_denied,
            opened,
            floor: Default::default(),
            counts: Default::default(),
        })
    }
}

impl<K, L, S, C> fmt::Debug for Builder<K, L, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("max_keys", &self.max_keys)
            .field("when_full", &self.when_full)
            .finish_non_exhaustive()
    }
}
