//! The ground of the laboratory, which every other part stands on.
//!
//! | module | content |
//! |---|---|
//! | [`clock`] | the clock that all contestants share |
//! | [`workers`] | threads, timed by their own clocks |
//! | [`latency`] | closed and open loops, their histograms and percentiles |
//! | [`comparison`] | whether two contestants differ: paired ratios, intervals, outcomes |
//! | [`machine`] | how busy others keep the machine |
//! | [`modes`] | whether a cell has two speeds |
//! | [`spread`] | median, minimum and maximum over rounds |
//! | [`figures`] | numbers with their units |
//! | [`output`] | files that are written whole or not at all |

#![forbid(unsafe_code)]

pub mod clock;
pub mod comparison;
pub mod figures;
pub mod latency;
pub mod machine;
pub mod modes;
pub mod output;
mod place;
mod processor;
pub mod spread;
pub mod workers;
