//! `before.csv`: a run's throughput beside that of the run that was recorded before it.

use std::path::Path;

use anyhow::{Context, Result};
use windowpane_lab_measure::rows::BeforeRow;

use super::super::run::{BEFORE_FILE, Run};
use super::Row;
use super::timed::{self, Place};

/// Writes beside a run's raw data how its throughput compares with that of the run before it, so
/// that its report can tell; nothing if the processors differ.
///
/// # Errors
/// If the file cannot be written.
pub fn write_before(before: &Run, after: &Run, folder: &Path) -> Result<()> {
    if before.environment.cpu != after.environment.cpu {
        return Ok(());
    }
    let rows = timed::placed(before, after);
    let write = || -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join(BEFORE_FILE))?;
        for (place, row) in rows {
            if let Some(row) = before_row(before, &place, row) {
                writer.serialize(row)?;
            }
        }
        Ok(writer.flush()?)
    };
    write().with_context(|| format!("cannot write {BEFORE_FILE}"))
}

/// `None` for a row that is not of throughput, or that only one of the runs has.
fn before_row(before: &Run, place: &Place, row: Row) -> Option<BeforeRow> {
    let (state, threads) = place.of_throughput()?;
    Some(BeforeRow {
        before_began: before.environment.began.clone(),
        before_revision: before.environment.git_revision.clone(),
        contestant: row.contestant,
        state: state.word().into(),
        threads,
        before_per_second: row.before?,
        per_second: row.after?,
        ratio: row.ratio?,
        noise: row
            .smallest
            .map(|smallest| smallest - 1.0)
            .filter(|y| y.is_finite()),
        shown: row.verdict.differs(),
    })
}
