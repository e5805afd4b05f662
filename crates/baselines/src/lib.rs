#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod fixed_window;
mod gcra;

pub use fixed_window::{FixedWindow, FixedWindowRule};
pub use gcra::{Gcra, GcraRule};
