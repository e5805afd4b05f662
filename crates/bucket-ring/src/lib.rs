#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

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
