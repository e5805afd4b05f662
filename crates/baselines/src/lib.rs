#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod fixed_window;

pub use fixed_window::{FixedWindow, FixedWindowRule};
