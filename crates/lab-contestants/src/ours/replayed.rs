//! The limiters of one run: a keyed store, by the number of the key.

use std::hint::black_box;

use windowpane_core::{
    BuildError, Clock, Cost, Decision, Detailed, Nanos, Quotas, RateLimiter, StoreError,
};
use windowpane_keyed::{DefaultHasher, ForKeys, KeyedLimiter};
use windowpane_mutex_log::OnRegression;

use crate::registry::BuildOptions;

/// A limiter for each key, told the time by its caller. Keys are numbers.
pub trait Store {
    /// Has the limiters of some keys brought into the processor's caches.
    ///
    /// A decision locks, and a processor that locks waits for all it has asked of memory: so requests
    /// of many keys wait for memory one after another. Looked up before, with nothing locked, their
    /// limiters come several at a time.
    fn fetch(&mut self, keys: &mut dyn Iterator<Item = u32>);

    /// Decides a request of `cost` for `key` at `now`.
    ///
    /// # Errors
    /// [`StoreError`].
    fn decide_at(&self, key: u32, now: Nanos, cost: Cost) -> Result<Decision, StoreError>;

    /// The same, and what remains after it.
    ///
    /// # Errors
    /// [`StoreError`].
    fn decide_remaining_at(&self, key: u32, now: Nanos, cost: Cost)
    -> Result<Detailed, StoreError>;
}

/// The time is told with every call, so the store's own clock is never asked.
struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> Nanos {
        0
    }
}

impl<L: RateLimiter> Store for KeyedLimiter<u32, L, DefaultHasher, NoClock> {
    fn fetch(&mut self, keys: &mut dyn Iterator<Item = u32>) {
        for key in keys {
            // A limiter that lies elsewhere is looked into.
            black_box(self.get_mut(&key).map(|limiter| limiter.is_idle_at(0)));
        }
    }

    fn decide_at(&self, key: u32, now: Nanos, cost: Cost) -> Result<Decision, StoreError> {
        KeyedLimiter::decide_at(self, &key, now, cost)
    }

    fn decide_remaining_at(
        &self,
        key: u32,
        now: Nanos,
        cost: Cost,
    ) -> Result<Detailed, StoreError> {
        KeyedLimiter::decide_remaining_at(self, &key, now, cost)
    }
}

/// A store of limiters that are made from quotas alone.
///
/// # Errors
/// [`BuildError`] if the algorithm cannot hold the quotas.
pub(crate) fn store<L: ForKeys + 'static>(quotas: &Quotas) -> Result<Box<dyn Store>, BuildError> {
    let store = KeyedLimiter::<u32, L>::builder(quotas.clone());
    Ok(Box::new(store.max_keys(usize::MAX).clock(NoClock).build()?))
}

/// A store of limiters that `build` makes, each in a box: a million keys are more than a map should
/// move when it grows.
///
/// # Errors
/// [`BuildError`] if the algorithm cannot hold the quotas.
pub(crate) fn store_of<L: RateLimiter + 'static>(
    quotas: &Quotas,
    options: BuildOptions,
    build: impl Fn(&Quotas, Nanos) -> Result<L, BuildError> + Send + Sync + 'static,
) -> Result<Box<dyn Store>, BuildError> {
    let boxed = move |quotas: &Quotas, start| build(quotas, start).map(Box::new);
    let store = KeyedLimiter::builder_with(quotas.clone(), boxed)
        .max_keys(usize::MAX)
        // Where times that step back are rejected, a denial records its own.
        .keep_denied(options.on_regression == OnRegression::Reject)
        .clock(NoClock);
    Ok(Box::new(store.build()?))
}
