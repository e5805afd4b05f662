//! Reports of recorded runs: charts, pages, comparisons and published runs.

mod charts;
mod compared;
mod page;
mod recorded;
mod reports;
