#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod acquire;
mod algorithm;
mod builder;
mod counters;
mod decided;
mod deny_cache;
mod error;
#[cfg(test)]
mod forged;
mod lease;
mod limiter;
mod policy;
mod reply;
mod script;
mod store;
mod tiers;

pub use algorithm::{Algorithm, Gcra, Log, Settles, TwoCounter};
pub use builder::{Builder, DENY_CACHE};
pub use counters::{LimiterStats, StoreStats};
pub use decided::{By, Decided};
pub use error::{ConfigError, ConnectError};
pub use lease::{Leased, Leases};
pub use limiter::RedisLimiter;
pub use policy::{WhenUnavailable, share};
#[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
pub use store::Tls;
pub use store::{Credentials, Health, Store, StoreOptions};
