#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod ask;
mod builder;
mod change;
mod counters;
mod evict;
pub mod flat;
mod hasher;
mod key;
mod limiter;
mod shards;
mod slots;
mod sweeper;
mod tiers;
mod time;
mod unknown;
mod wait;

pub use builder::{Builder, DEFAULT_MAX_KEYS};
pub use evict::EXAMINED_A_CALL;
pub use flat::FlatTable;
pub use hasher::DefaultHasher;
pub use key::KeyOf;
pub use limiter::{KeyedLimiter, UNRECORDED, WhenFull};
pub use sweeper::Sweeper;
