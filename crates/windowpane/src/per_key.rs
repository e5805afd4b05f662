//! One limiter per key, such as a client's address or its API key. Feature `keyed`.
//!
//! | type | keys | algorithms |
//! |---|---|---|
//! | [`KeyedLimiter`] | kept, up to a cap; each key can have quotas of its own | all |
//! | [`FlatTable`] | kept as fingerprints of 63 bits; all have one quota | those of one word |
//!
//! Keys never share an allowance. A key that is idle frees its slot for another one. A flood of new
//! keys never evicts a key that is in use.

use std::hash::Hash;

use windowpane_cas_ring::CasRing;
use windowpane_core::{BuildError, IntoQuotas, MonotonicClock, Quotas};

#[doc(inline)]
pub use windowpane_keyed::{
    Builder, DEFAULT_MAX_KEYS, DefaultHasher, EXAMINED_A_CALL, FlatBuilder, FlatTable, ForKeys,
    KeyHasher, KeyOf, SharedRule, Stats, Sweeper, WhenFull,
};

/// One limiter per key. `K` is the key, `L` the algorithm, `S` the hasher, `C` the clock.
///
/// With `K` alone each key has the default limiter: exact, lock-free, on the monotonic clock. It
/// holds up to a million keys; [`builder`](windowpane_keyed::KeyedLimiter::builder) sets another cap.
///
/// ```
/// use windowpane::KeyedLimiter;
///
/// let limiter = KeyedLimiter::<String>::new("2/60s")?;
/// limiter.try_acquire("alice")?;
/// limiter.try_acquire("alice")?;
/// assert!(limiter.try_acquire("alice").is_err());
/// limiter.try_acquire("bob")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Limits that change: [`changeable_keyed_limiter`].
pub type KeyedLimiter<K, L = CasRing, S = DefaultHasher, C = MonotonicClock> =
    windowpane_keyed::KeyedLimiter<K, L, S, C>;

/// Returns a store as [`KeyedLimiter::new`](windowpane_keyed::KeyedLimiter::new) does, whose quotas
/// can be changed while threads use it. No limit can exceed `max_limit`.
///
/// Its memory is 8 bytes for each permit of `max_limit` and each key held.
///
/// # Errors
/// [`BuildError`] if a quota is malformed, counts requests, or has a limit above `max_limit`.
///
/// ```
/// let limiter = windowpane::changeable_keyed_limiter::<String>("100/60s", 1_000)?;
/// limiter.try_acquire_many("alice", 100)?;
///
/// limiter.set_quotas("150/60s")?; // for new keys
/// limiter.refresh()?; // for the keys held; what they took still counts
/// limiter.try_acquire_many("alice", 50)?;
/// assert!(limiter.try_acquire("alice").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn changeable_keyed_limiter<K: Hash + Eq>(
    quotas: impl IntoQuotas,
    max_limit: u64,
) -> Result<KeyedLimiter<K>, BuildError> {
    let ring = move |quotas: &Quotas, _| CasRing::with_capacity(quotas.clone(), max_limit);
    windowpane_keyed::KeyedLimiter::builder_with(quotas, ring).build()
}
