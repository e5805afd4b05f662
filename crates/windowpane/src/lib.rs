#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use windowpane_core::*;

#[cfg(feature = "baselines")]
pub use windowpane_baselines::{FixedWindow, FixedWindowRule, Gcra, GcraRule};
#[cfg(feature = "bucket-ring")]
pub use windowpane_bucket_ring::BucketRing;
#[cfg(feature = "cas-ring")]
pub use windowpane_cas_ring::CasRing;
#[cfg(feature = "keyed")]
pub use windowpane_keyed::{self as keyed, FlatTable, KeyedLimiter};
#[cfg(feature = "mutex-log")]
pub use windowpane_mutex_log::{self as mutex_log, MutexLog, OnRegression};
#[cfg(feature = "packed-counter")]
pub use windowpane_packed_counter::{PackedCounter, TwoWindowRule};

#[cfg(feature = "redis")]
pub use windowpane_redis as redis;
#[cfg(feature = "tower")]
pub use windowpane_tower as tower;

#[doc = include_str!("../WHICH.md")]
pub mod which_one {}
