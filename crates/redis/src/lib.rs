#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod algorithm;
mod counters;
mod deny_cache;
mod error;
#[cfg(test)]
mod forged;
mod limiter;
mod policy;
mod reply;
mod script;
mod store;

pub use algorithm::{Algorithm, Gcra, Log, Settles, TwoCounter};
pub use counters::{LimiterCounts, StoreCounts};
pub use error::{ConfigError, ConnectError};
pub use limiter::{By, DENY_CACHE, Decided, RedisLimiter};
pub use policy::{WhenUnavailable, share};
pub use store::{Store, StoreOptions};
