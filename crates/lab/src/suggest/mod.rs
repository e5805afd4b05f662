//! The least limit that denies at most a share of the clients or requests of a log.
//!
//! | where | what |
//! |---|---|
//! | `traffic` | the log, read once: the times of each client in order, and its busiest windows |
//! | `outcome` | what a limiter denies of it at one limit |
//! | `search` | the least limit that reaches the targets, and the curve around it |
//! | `summary`, `table`, `page` | what is written |
//!
//! Requests are decided in the order of time, whatever order the log has. Memory: 8 bytes a request, 16
//! where costs differ from 1, half of that again while the log is read, and the keys.

mod outcome;
mod page;
mod risk;
mod search;
mod summary;
mod table;
mod traffic;

pub use outcome::Outcome;
pub use page::page;
pub use risk::write_keys_at_risk;
pub use search::suggest;
pub use summary::{Point, SCHEMA, Suggested, Suggestion, Targets, WindowSummary};
pub use table::render;
pub use traffic::{Traffic, read};

use windowpane_core::{Nanos, Quota};
use windowpane_lab_contestants::registry::Algorithm;

/// What a limit is suggested for.
#[derive(Clone)]
pub struct Options {
    /// The windows, each of which gets a limit of its own.
    pub windows: Vec<Nanos>,
    /// Quotas that hold beside.
    pub given: Vec<Quota>,
    /// The limiters.
    pub algorithms: Vec<&'static Algorithm>,
    /// Sub-windows of a bucket ring.
    pub buckets: u32,
    /// What may be denied.
    pub targets: Targets,
}
