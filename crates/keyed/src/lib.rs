#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod acquire;
mod ask;
mod builder;
mod change;
mod counters;
mod evict;
pub mod flat;
mod hasher;
mod key;
mod limiter;
#[cfg(test)]
mod race;
mod shards;
mod shared_rule;
mod slots;
mod sweeper;
mod tiers;
mod time;
mod unknown;

pub use builder::{Build, Builder, DEFAULT_MAX_KEYS, ForKeys};
pub use evict::EXAMINED_A_CALL;
pub use flat::{FlatBuilder, FlatTable};
pub use hasher::{DefaultHasher, KeyHasher};
pub use key::KeyOf;
pub use limiter::{KeyedLimiter, Stats, WhenFull};
pub use shared_rule::SharedRule;
pub use sweeper::Sweeper;
