#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bucket_ring;
pub mod check;
pub mod flat_table;
pub mod ring;
