//! Recorded requests through the limiters, compared with the oracle.
//!
//! | where | what |
//! |---|---|
//! | `lines`, `columns`, `clf`, `time`, `input` | a stream of bytes becomes a stream of requests |
//! | `keys`, `batch` | whose they are; those that are decided together |
//! | `ahead` | the thread that reads and parses while another decides |
//! | `store`, `run`, `judge`, `tally` | one algorithm's limiters and decisions, judged by the oracle and counted |
//! | `requests` | recorded requests one by one, for other measurements |
//! | `engine` | all of it, from the first request to the summary |
//! | `rows`, `summary`, `table`, `excerpt`, `output`, `place` | what is written, and where |
//! | `report` | the page of `--report` |
//!
//! The command, its outputs and their columns are documented in `REPLAY.md` of this crate.

mod ahead;
mod batch;
mod clf;
mod columns;
mod engine;
mod error;
mod excerpt;
mod input;
mod judge;
mod keys;
mod lines;
mod output;
mod place;
mod report;
mod requests;
mod rows;
mod run;
mod store;
mod summary;
mod table;
mod tally;
mod time;

pub use columns::ColumnNames;
pub use engine::{Decided, Observer, Options, Progress, replay};
pub use error::ReplayError;
pub use excerpt::one_line;
pub use input::{BadLine, Format, InputOptions};
pub use judge::Overshoot;
pub use output::{Output, remove_unfinished};
pub use report::Report;
pub use requests::requests;
pub use rows::{Decisions, Disagreements};
pub use run::{Answer, Meter};
pub use store::Store;
pub(crate) use store::{store, store_of};
pub use summary::{
    AlgorithmSummary, Client, Comparison, InputSummary, MOST_DENIED, SCHEMA, Skipped, Summary,
};
pub use table::render;
pub use time::{TimeError, TimeUnit, parse_time};
