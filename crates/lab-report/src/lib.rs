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
mod ranking;
mod readme;
mod run;
mod summary;
mod targets;
mod verdict;
pub mod versus;

use std::path::Path;

use anyhow::Result;
use windowpane_lab_measure::folder;

pub use cells::{Cell, Speed};
pub use run::Run;

/// The limiter that `windowpane::limiter` builds.
pub const DEFAULT: &str = "cas-ring";
pub use verdict::{on_threads, verdict};

/// What a run says of many keys, as Markdown; empty if it measured none.
pub fn keyed(run: &Run) -> String {
    markdown::keyed::keyed(run)
}

/// The report as one page that needs no other file, beside its twin in Markdown.
pub(crate) const PAGE_FILE: &str = "report.html";

/// Renders the run in `place`: `REPORT.md` and `report.html`, which say the same, `README.md`,
/// `summary.csv` and the charts beside its raw data. The same rows give the same files.
///
/// # Errors
/// If it holds no run, or a file cannot be written.
pub fn render(place: &Path) -> Result<Run> {
    let run = Run::load(place)?;
    // All is made before anything is written: what cannot be made leaves the files as they were.
    let charts = charts::draw(&run)?;
    let report = markdown::report(&run);
    let page = page::markdown::page(&report, &charts).document();
    for (file, chart) in &charts {
        folder::text(place, file, chart)?;
    }
    summary::write(&run, place)?;
    folder::text(place, "REPORT.md", &report)?;
    folder::text(place, PAGE_FILE, &page)?;
    let beside = companions::inside(place)?;
    folder::text(place, "README.md", &readme::of_run(&run, &beside))?;
    Ok(run)
}
