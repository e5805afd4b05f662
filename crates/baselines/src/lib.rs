#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod fixed_window;
mod gcra;

pub use fixed_window::{FixedWindow, FixedWindowRule};
pub use gcra::{Gcra, GcraRule};
