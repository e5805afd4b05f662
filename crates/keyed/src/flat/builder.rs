//! How a flat table is made.

use std::fmt;
use std::hash::BuildHasher;
use std::marker::PhantomData;

use windowpane_core::one_word::OneWordRule;
use windowpane_core::{BuildError, Clock, IntoQuotas, MonotonicClock, Quotas};

use super::{DefaultHasher, FlatTable, WhenFull};

/// The parts of a [`FlatTable`]. [`FlatTable::builder`] makes one.
pub struct FlatBuilder<R, S = DefaultHasher, C = MonotonicClock> {
    quotas: Result<Quotas, BuildError>,
    entries: usize,
    when_full: WhenFull,
    hasher: S,
    clock: C,
    rule: PhantomData<fn() -> R>,
}

impl<R: OneWordRule> FlatTable<R> {
    /// An empty table of at least `entries` entries, 16 bytes each, and at least a cache line. It
    /// has the default hasher and clock.
    ///
    /// Choose twice as many entries as keys are live at the same time: see the
    /// [module](crate::flat).
    ///
    /// # Errors
    /// [`BuildError`] if there are several quotas or they do not fit a word; it says what would.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn new(quotas: impl IntoQuotas, entries: usize) -> Result<Self, BuildError> {
        Self::builder(quotas, entries).build()
    }

    /// A table of at least `entries` entries whose hasher, clock and policy are still open. Wrong
    /// quotas are an error of [`build`](FlatBuilder::build).
    ///
    /// ```
    /// use windowpane_baselines::GcraRule;
    /// use windowpane_core::clock::ManualClock;
    /// use windowpane_keyed::{FlatTable, WhenFull};
    ///
    /// let table = FlatTable::<GcraRule>::builder("1/60s", 1_000)
    ///     .when_full(WhenFull::Allow)
    ///     .clock(ManualClock::new(0))
    ///     .build()?;
    /// table.try_acquire("alice")?;
    /// assert!(table.try_acquire("alice").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(quotas: impl IntoQuotas, entries: usize) -> FlatBuilder<R> {
        FlatBuilder {
            quotas: quotas.into_quotas(),
            entries,
            when_full: WhenFull::default(),
            hasher: DefaultHasher::default(),
            clock: MonotonicClock::new(),
            rule: PhantomData,
        }
    }
}

impl<R, S, C> FlatBuilder<R, S, C> {
    /// Sets the answer to an unknown key that finds no free entry.
    #[must_use]
    pub fn when_full(self, when_full: WhenFull) -> Self {
        FlatBuilder { when_full, ..self }
    }

    /// Sets the hasher. All 64 bits of its hashes must be good, and clients must not be able to
    /// find keys with the same hash, or near ones.
    pub fn hasher<T>(self, hasher: T) -> FlatBuilder<R, T, C> {
        FlatBuilder {
            quotas: self.quotas,
            entries: self.entries,
            when_full: self.when_full,
            hasher,
            clock: self.clock,
            rule: PhantomData,
        }
    }

    /// Sets the clock.
    pub fn clock<T>(self, clock: T) -> FlatBuilder<R, S, T> {
        FlatBuilder {
            quotas: self.quotas,
            entries: self.entries,
            when_full: self.when_full,
            hasher: self.hasher,
            clock,
            rule: PhantomData,
        }
    }

    /// Makes the table.
    ///
    /// # Errors
    /// [`BuildError`] if there are several quotas or they do not fit a word; it says what would.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn build(self) -> Result<FlatTable<R, S, C>, BuildError>
    where
        R: OneWordRule,
        S: BuildHasher,
        C: Clock,
    {
        let quota = self.quotas?.single(R::NAME)?;
        let rule = R::new(quota, self.clock.now())?;
        let table = FlatTable::with_rule(rule, self.entries, self.clock, self.hasher);
        Ok(table.when_full(self.when_full))
    }
}

impl<R, S, C> fmt::Debug for FlatBuilder<R, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatBuilder")
            .field("quotas", &self.quotas)
            .field("entries", &self.entries)
            .field("when_full", &self.when_full)
            .finish_non_exhaustive()
    }
}
