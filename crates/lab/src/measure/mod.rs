//! Throughput, latency, memory and accuracy, by rules that the types keep.

pub mod clock;
pub mod latency;
pub mod state;
pub mod throughput;
pub mod workers;
