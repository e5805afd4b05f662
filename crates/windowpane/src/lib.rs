// The definitions come first, so that on docs.rs they replace those at the end of the page.
#![doc = include_str!("links.md")]
// The programs on the page need these features, so its tests do.
#![cfg_attr(
    any(not(doctest), all(feature = "keyed", feature = "mutex-log", feature = "tokio", feature = "tower")),
    doc = include_str!("../README.md")
)]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

pub mod algorithm;
mod start;
pub mod wait;

#[doc(inline)]
pub use windowpane_cas_ring::CasRing;
#[doc(inline)]
pub use windowpane_core::clock::{self, Clock, ManualClock, MonotonicClock, Nanos};
#[doc(inline)]
pub use windowpane_core::stack;
#[doc(inline)]
pub use windowpane_core::{
    AcquireError, Allowed, BuildError, Changeable, Denied, IntoQuotas, Quota, QuotaError, Quotas,
    Rejected, Reservation, Status, Unit,
};

pub use start::Limiter;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use start::{changeable_limiter, limiter};

#[cfg(feature = "baselines")]
#[doc(inline)]
pub use windowpane_baselines::{FixedWindow, FixedWindowRule, Gcra, GcraRule};
#[cfg(feature = "bucket-ring")]
#[doc(inline)]
pub use windowpane_bucket_ring::BucketRing;
#[cfg(feature = "parking_lot")]
#[doc(inline)]
pub use windowpane_mutex_log::ParkingLotMutex;
#[cfg(feature = "mutex-log")]
#[doc(inline)]
pub use windowpane_mutex_log::{MutexLog, OnRegression, StdMutex};
#[cfg(feature = "packed-counter")]
#[doc(inline)]
pub use windowpane_packed_counter::{PackedCounter, TwoWindowRule};

#[cfg(feature = "sharded")]
#[doc(inline)]
pub use windowpane_sharded::Sharded;

#[cfg(feature = "keyed")]
pub mod per_key;
#[cfg(feature = "keyed")]
#[doc(inline)]
pub use per_key::{
    FlatTable, KeyedLimiter, SharedRule, Sweeper, WhenFull, changeable_keyed_limiter,
};

// These names are not those of crates, so that `use windowpane::*` hides no crate.
#[cfg(feature = "redis")]
#[doc(inline)]
pub use windowpane_redis as on_redis;
#[cfg(feature = "tower")]
#[doc(inline)]
pub use windowpane_tower as http_layer;

#[cfg(any(doc, doctest))]
pub mod guide;
