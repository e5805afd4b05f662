#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod build;
mod change;
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
mod quota;
mod quotas;
mod settle;
pub mod stack;
pub mod sync;
pub mod wait;
mod window;

pub use build::FromQuotas;
pub use change::{ChangeQuotas, Changeable};
pub use clock::{Clock, MonotonicClock, Nanos};
pub use cost::Cost;
pub use decision::{Decision, Denial, Detailed, PerQuota};
pub use error::{BuildError, QuotaError, RequestError};
pub use keyed::{
    Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, KeyedRateLimiter, KeyedSettle, Local,
    StoreError,
};
pub use limiter::{Limiter, RateLimiter};
pub use one_word::OneWordLimiter;
pub use outcome::{AcquireError, Allowed, Denied, Rejected, Status};
pub use quota::{Quota, Unit};
pub use quotas::{IntoQuotas, Quotas};
pub use settle::{Charge, Reservation, Settle};
pub use window::{MAX_WINDOW, format_nanos, parse_nanos};
