//! What a run becomes: CSV, Markdown, SVG, HTML.
//!
//! A run's folder holds raw rows; everything here is made from those rows alone, always the same.

#![forbid(unsafe_code)]

mod cells;
pub mod charts;
pub mod choose;
pub mod companions;
pub mod compare;
pub mod console;
pub mod kept;
mod markdown;
pub mod page;
pub mod publish;
mod readme;
mod report;
mod run;
mod summary;
pub mod versus;

use std::path::Path;

use anyhow::Result;
use windowpane_lab_measure::folder;

pub use cells::{Cell, Speed};
pub use run::Run;

/// The limiter that `windowpane::limiter` builds.
pub const DEFAULT: &str = "cas-ring";

/// The report as one page that needs no other file, beside its twin in Markdown.
pub(crate) const PAGE_FILE: &str = "report.html";

/// Returns `1 thread`, `2 threads`.
pub fn on_threads(threads: usize) -> String {
    match threads {
        1 => "1 thread".into(),
        _ => format!("{threads} threads"),
    }
}

/// Renders the run in `place`: `REPORT.md` and `report.html`, which say the same, `README.md`,
/// `summary.csv` and the charts beside its raw data. The same rows give the same files.
///
/// # Errors
/// If it holds no run, or a file cannot be written.
pub fn render(place: &Path) -> Result<Run> {
    let run = Run::load(place)?;
    let report = report::report(&run);
    for chart in report.charts() {
        folder::text(place, chart.file, &chart.svg)?;
    }
    summary::write(&run, place)?;
    folder::text(place, "REPORT.md", &report::markdown(&report))?;
    folder::text(place, PAGE_FILE, &report::page(&report))?;
    let beside = companions::inside(place)?;
    folder::text(place, "README.md", &readme::of_run(&run, &beside))?;
    Ok(run)
}
