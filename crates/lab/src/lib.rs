//! The laboratory of windowpane: what the `lab` command does with limiters, measurements and
//! reports.
//!
//! | module | content |
//! |---|---|
//! | [`replay`] | recorded requests through the limiters, compared with the oracle |
//! | [`suggest`] | the least limit that denies at most a share of a log |
//! | [`soak`] | long random use that watches the invariant |
//! | [`choose`] | which limiter fits a need, by what a run measured |
//!
//! The compiler keeps the order of the laboratory's crates; each needs only those before it:
//!
//! | crate | content |
//! |---|---|
//! | `windowpane-lab-ground` | clocks, measuring loops, statistics, units, output files |
//! | `windowpane-lab-input` | requests from CSV and access logs |
//! | `windowpane-lab-contestants` | the limiters of windowpane and their rivals |
//! | `windowpane-lab-measure` | definitions, sessions, rows |
//! | `windowpane-lab-report` | tables, charts, pages, comparisons, published runs |
//! | `windowpane-lab` | the command |

#![forbid(unsafe_code)]

pub mod choose;
pub mod replay;
pub mod soak;
pub mod suggest;
