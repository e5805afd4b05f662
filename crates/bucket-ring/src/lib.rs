#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod change;
mod head;
mod plan;
mod record;
mod ring;
mod view;
mod width;

pub use head::MAX_LIMIT;
pub use plan::{DEFAULT_BUCKETS, MAX_BUCKETS};
pub use ring::BucketRing;
