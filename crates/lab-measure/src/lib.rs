//! Throughput, latency, memory and accuracy, by rules that the types keep.
//!
//! | where | what |
//! |---|---|
//! | [`definitions`] | what is measured: TOML files, apart from who is measured |
//! | [`state`] | allowed, denied, mixed |
//! | [`throughput`], [`latency`], [`memory`], [`accuracy`] | one measurement each |
//! | [`stalled`] | what others see while one thread is stopped in a decision |
//! | [`keyed`] | throughput and memory of stores of many keys |
//! | [`traffic`], [`trace`] | the requests of the accuracy measurements |
//! | [`plan`], [`session`] | what a run measures, and in which order |
//! | [`launches`] | the processes of a run, and their rows |
//! | [`method`] | whether the comparison finds what is known |
//! | [`arguments`], [`expect`] | what the bench targets do with it |
//! | [`recording`], [`rows`], [`environment`], [`folder`] | what a run records, and where |

#![forbid(unsafe_code)]

pub mod accuracy;
pub mod arguments;
pub mod definitions;
pub mod environment;
pub mod expect;
pub mod folder;
pub mod keyed;
pub mod latency;
pub mod launches;
pub mod memory;
pub mod method;
pub mod plan;
pub mod recording;
pub mod rows;
pub mod session;
pub mod stalled;
pub mod state;
pub mod throughput;
pub mod trace;
pub mod traffic;
