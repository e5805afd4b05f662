//! Recorded requests through the limiters, compared with the oracle.
//!
//! | where | what |
//! |---|---|
//! | `run`, `judge`, `tally` | one algorithm's limiters and decisions, judged by the oracle and counted |
//! | `who` | each denied client's blocks, and denials by hour |
//! | `retries` | a model of clients that come again |
//! | `steps_back` | requests whose time is before another one's |
//! | `engine` | all of it, from the first request to the summary |
//! | `rows`, `summary`, `table` | what is written |
//! | `report` | the page of `--report` |
//!
//! The command, its outputs and their columns are documented in `REPLAY.md` of this crate.

mod engine;
mod error;
pub(crate) mod input;
mod judge;
mod options;
mod report;
mod retries;
mod rows;
mod run;
mod steps_back;
mod summary;
mod table;
mod tally;
mod who;

pub use engine::{Decided, Observer, Progress, replay, replay_inputs};
pub use error::ReplayError;
pub use judge::Overshoot;
pub use options::Options;
pub use report::Report;
pub(crate) use report::file_name;
pub use retries::{RetryCounts, RetryModel};
pub use rows::{Decisions, Disagreements, write_clients};
pub use run::{Answer, Meter};
pub use steps_back::StepsBackSummary;
pub use summary::{
    AlgorithmSummary, Client, Comparison, InputSummary, MOST_DENIED, SCHEMA, Skipped, Summary,
};
pub use table::{count, number, render, span, step_back};
pub use tally::Service;
pub use who::{Denials, DeniedClient};
