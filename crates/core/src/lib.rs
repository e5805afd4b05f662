#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod clock;
mod cost;
mod decision;
mod error;
mod limiter;
pub mod one_word;
mod quota;
mod quotas;
pub mod sync;
mod window;

pub use clock::{Clock, MonotonicClock, Nanos};
pub use cost::Cost;
pub use decision::{Decision, Denied, Detailed, PerQuota};
pub use error::{AcquireError, BuildError, QuotaError};
pub use limiter::{Limiter, RateLimiter};
pub use one_word::OneWordLimiter;
pub use quota::{Quota, Unit};
pub use quotas::Quotas;
pub use window::{MAX_WINDOW, format_nanos, parse_nanos};
