#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod head;
mod ring;
mod slot;

pub use head::MAX_CAPACITY;
pub use ring::CasRing;
