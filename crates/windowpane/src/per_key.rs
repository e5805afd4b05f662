//! One limiter per key, such as a client's address or its API key. Feature `keyed`.
//!
//! | type | keys | algorithms |
//! |---|---|---|
//! | [`KeyedLimiter`] | kept, up to a cap; each key can have quotas of its own | all |
//! | [`FlatTable`] | kept as fingerprints of 63 bits; all have one quota | those of one word |
//!
//! Keys never share an allowance. A key that is idle frees its slot for another one. A flood of new
//! keys never evicts a key that is in use.

use windowpane_cas_ring::CasRing;
use windowpane_core::MonotonicClock;

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
/// Limits that change: a ring has the capacity that it was built with, so give it the largest limit
/// that you will set.
///
/// ```
/// use windowpane::{CasRing, KeyedLimiter, Quota, Quotas};
///
/// const MAX_LIMIT: u64 = 1_000;
/// let ring = |quotas: &Quotas, _| CasRing::with_capacity(quotas.clone(), MAX_LIMIT);
/// let limiter = KeyedLimiter::<String>::builder_with(Quota::per_minute(100), ring).build()?;
/// limiter.try_acquire_many("alice", 100)?;
///
/// limiter.set_quotas(Quota::per_minute(150))?; // for new keys
/// limiter.refresh()?; // for the keys held; what they took still counts
/// limiter.try_acquire_many("alice", 50)?;
/// assert!(limiter.try_acquire("alice").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type KeyedLimiter<K, L = CasRing, S = DefaultHasher, C = MonotonicClock> =
    windowpane_keyed::KeyedLimiter<K, L, S, C>;
