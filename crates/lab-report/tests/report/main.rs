//! Reports of recorded runs: charts, pages, comparisons and published runs.

mod charts;
mod compared;
mod figures;
mod histograms;
mod kept;
mod page;
mod published;
mod recorded;
mod reports;
