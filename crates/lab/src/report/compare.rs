//! Two recorded runs, row by row.

use std::path::Path;

use anyhow::{Context, Result};

use super::figures::{millions, percent, times};
use super::run::{BEFORE_FILE, Run};
use super::spread::{Difference, compare_runs};
use super::verdict::on_threads;
use crate::measure::rows::BeforeRow;
use crate::measure::state::State;

/// One row that both runs have.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Who.
    pub contestant: String,
    /// What the decisions are.
    pub state: State,
    /// Worker threads.
    pub threads: usize,
    /// Decisions a second in the first run.
    pub before: f64,
    /// Decisions a second in the second run.
    pub after: f64,
    /// The larger noise of the two runs in this cell.
    pub noise: f64,
    /// The second's rate over the first's.
    pub difference: Difference,
}

/// The rows of throughput that both runs have.
pub fn compare(before: &Run, after: &Run) -> Vec<Compared> {
    let mut rows = Vec::new();
    for state in State::ALL {
        for threads in before.threads() {
            for who in &before.contestants {
                rows.extend(row(before, after, &who.contestant, state, threads));
            }
        }
    }
    rows
}

fn row(before: &Run, after: &Run, who: &str, state: State, threads: usize) -> Option<Compared> {
    let rates = |run: &Run| -> Vec<f64> {
        run.rates(who, state, threads)
            .into_iter()
            .map(|(_, rate)| rate)
            .collect()
    };
    let noise = before
        .noise(state, threads)
        .max(after.noise(state, threads));
    Some(Compared {
        contestant: who.into(),
        state,
        threads,
        before: before.rate(who, state, threads)?.median,
        after: after.rate(who, state, threads)?.median,
        noise,
        difference: compare_runs(&rates(after), &rates(before), noise)?,
    })
}

/// The share of rows in which no difference is shown.
pub fn share_without_difference(rows: &[Compared]) -> f64 {
    let same = rows
        .iter()
        .filter(|row| matches!(row.difference, Difference::NotShown(_)));
    same.count() as f64 / rows.len().max(1) as f64
}

/// Writes beside a run's raw data how it compares with the run before it, so that its report can
/// tell; nothing if the processors differ.
///
/// # Errors
/// If the file cannot be written.
pub fn write_before(before: &Run, after: &Run, folder: &Path) -> Result<()> {
    if before.environment.cpu != after.environment.cpu {
        return Ok(());
    }
    let write = || -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join(BEFORE_FILE))?;
        for row in compare(before, after) {
            writer.serialize(BeforeRow {
                before_began: before.environment.began.clone(),
                before_revision: before.environment.git_revision.clone(),
                contestant: row.contestant,
                state: row.state.word().into(),
                threads: row.threads,
                before_per_second: row.before,
                per_second: row.after,
                ratio: row.difference.ratio(),
                noise: row.noise.is_finite().then_some(row.noise),
                shown: matches!(row.difference, Difference::Shown(_)),
            })?;
        }
        Ok(writer.flush()?)
    };
    write().with_context(|| format!("cannot write {BEFORE_FILE}"))
}

/// The comparison, as it is printed.
pub fn told(before: &Run, after: &Run) -> String {
    let rows = compare(before, after);
    let mut text = String::new();
    for (name, run) in [("before", before), ("after", after)] {
        let environment = &run.environment;
        text += &format!(
            "{name}: {} ({}, {}, {} cores, {} rounds)\n",
            run.folder.display(),
            environment
                .git_revision
                .get(..12)
                .unwrap_or(&environment.git_revision),
            environment.cpu,
            environment.cores,
            environment.rounds
        );
    }
    if before.environment.cpu != after.environment.cpu {
        text += "The machines differ: a difference below is theirs as much as the code's.\n";
    }
    let header = [
        "limiter",
        "state",
        "threads",
        "before, M/s",
        "after, M/s",
        "after ÷ before",
        "noise",
        "verdict",
    ];
    let cells = rows.iter().map(|row| {
        let verdict = match row.difference {
            Difference::NotShown(_) => "no difference shown",
            Difference::Shown(ratio) if ratio > 1.0 => "faster",
            Difference::Shown(_) => "slower",
        };
        vec![
            row.contestant.clone(),
            row.state.word().into(),
            on_threads(row.threads),
            millions(row.before),
            millions(row.after),
            times(row.difference.ratio()),
            if row.noise.is_finite() {
                percent(row.noise)
            } else {
                "not measured".into()
            },
            verdict.into(),
        ]
    });
    let header = header.map(String::from).to_vec();
    text += &format!("{}\n", super::console::table(header, cells.collect()));
    text + &format!(
        "{} of {} rows of throughput differ by more than the noise; in {} no difference is shown. \
         Latency, memory and accuracy are not compared.\n",
        rows.iter()
            .filter(|row| matches!(row.difference, Difference::Shown(_)))
            .count(),
        rows.len(),
        percent(share_without_difference(&rows))
    )
}
