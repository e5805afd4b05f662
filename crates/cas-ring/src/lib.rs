#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod head;
mod ring;
mod slot;

pub use head::MAX_CAPACITY;
pub use ring::CasRing;
