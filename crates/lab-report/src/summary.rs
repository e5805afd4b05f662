//! `summary.csv`: every figure of the report that is not a row of the raw data.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::folder;
use windowpane_lab_measure::rows::ContestantRow;
use windowpane_lab_measure::state::State;

use super::run::Run;

/// One figure over the rounds.
#[derive(Debug, Serialize)]
struct Row {
    /// `throughput`, `time` or `time on a traffic`.
    quantity: &'static str,
    /// Who.
    what: String,
    /// The state, or the traffic.
    state: String,
    threads: Option<usize>,
    unit: &'static str,
    median: f64,
    min: f64,
    max: f64,
    rounds: usize,
}

/// Writes the figures of a run.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write(run: &Run, place: &Path) -> Result<()> {
    let write = || -> Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows(run) {
            writer.serialize(row)?;
        }
        folder::put(&place.join("summary.csv"), &writer.into_inner()?)
    };
    write().context("cannot write summary.csv")
}

fn rows(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for state in State::ALL {
        for threads in run.threads() {
            rows.extend(cell(run, state, threads));
        }
    }
    for traffic in run.traffics() {
        rows.extend(on_traffic(run, &traffic.traffic));
    }
    rows
}

fn row(quantity: &'static str, what: String, spread: Spread) -> Row {
    Row {
        quantity,
        what,
        state: String::new(),
        threads: None,
        unit: "",
        median: spread.median,
        min: spread.min,
        max: spread.max,
        rounds: spread.rounds,
    }
}

fn on_traffic(run: &Run, traffic: &str) -> Vec<Row> {
    let row_of = |who: &ContestantRow| {
        let rate = run.rate_on(&who.contestant, traffic)?;
        Some(Row {
            state: traffic.into(),
            threads: Some(1),
            unit: "ns",
            ..row(
                "time on a traffic",
                who.contestant.clone(),
                rate.inverse(1e9),
            )
        })
    };
    run.limiters().filter_map(row_of).collect()
}

fn cell(run: &Run, state: State, threads: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for who in &run.contestants {
        let Some(rate) = run.rate(&who.contestant, state, threads) else {
            continue;
        };
        let name = || who.contestant.clone();
        rows.push(Row {
            unit: "decisions/s",
            ..row("throughput", name(), rate)
        });
        if threads == 1 {
            rows.push(Row {
                unit: "ns",
                ..row("time", name(), rate.inverse(1e9))
            });
        }
    }
    for row in &mut rows {
        row.state = state.word().into();
        row.threads = Some(threads);
    }
    rows
}
