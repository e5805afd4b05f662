#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

extern crate alloc;

mod build;
#[cfg(feature = "std")]
mod change;
mod change_quotas;
pub mod clock;
mod cost;
mod decision;
mod error;
mod everyone;
pub mod keyed;
mod limiter;
pub mod more;
pub mod one_word;
mod outcome;
mod per_quota;
mod quota;
mod quotas;
mod rate_limiter;
#[cfg(feature = "serde")]
mod serde;
mod settle;
#[cfg(feature = "std")]
pub mod stack;
#[cfg(feature = "std")]
pub mod wait;
mod window;

pub use build::FromQuotas;
#[cfg(feature = "std")]
pub use change::Changeable;
pub use change_quotas::ChangeQuotas;
pub use clock::{Clock, MonotonicClock, Nanos};
pub use cost::Cost;
pub use decision::{Decision, Denial, Detailed};
pub use error::{BuildError, RequestError};
pub use keyed::{
    Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, KeyedRateLimiter, KeyedSettle, Local,
    StoreError,
};
pub use limiter::Limiter;
pub use one_word::OneWordLimiter;
pub use outcome::{AcquireError, Allowed, Denied, Rejected, Status};
pub use per_quota::PerQuota;
pub use quota::{Quota, Unit};
pub use quotas::{IntoQuotas, Quotas};
pub use rate_limiter::RateLimiter;
pub use settle::{Charge, Reservation, Settle};
#[doc(inline)]
pub use windowpane_sync as sync;

pub use window::{MAX_WINDOW, QuotaError, format_nanos, parse_nanos};
