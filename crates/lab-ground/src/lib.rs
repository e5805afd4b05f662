//! The ground of the laboratory, which every other part stands on.
//!
//! | module | content |
//! |---|---|
//! | [`clock`] | the clock that all contestants share |
//! | [`workers`] | threads, timed by their own clocks |
//! | [`latency`] | closed and open loops, their histograms and percentiles |
//! | [`spread`] | statistics over rounds, and whether two contestants differ |
//! | [`figures`] | numbers with their units |
//! | [`output`] | files that are written whole or not at all |

#![forbid(unsafe_code)]

pub mod clock;
pub mod figures;
pub mod latency;
pub mod output;
mod place;
pub mod spread;
pub mod workers;
