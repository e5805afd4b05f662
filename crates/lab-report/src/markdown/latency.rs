//! Latency, each kind under its own label.

use std::fmt::Write as _;

use windowpane_lab_ground::figures::{millions, thousands, time};
use windowpane_lab_ground::latency::{LABELS, Latency};
use windowpane_lab_measure::folder::HISTOGRAMS;
use windowpane_lab_measure::rows::LatencyRow;
use windowpane_lab_measure::state::State;

use super::super::charts;
use super::super::run::Run;
use super::super::verdict::{code, on_threads};
use super::percentiles;
use super::text::{capital, count_for_nothing, data, image, items, spread, strings, table};

/// The file of percentiles, a row a round.
const LATENCY: &str = "latency.csv";

pub(super) fn latency<L: Latency>(run: &Run) -> String {
    let cells = run.latency_cells::<L>();
    if cells.is_empty() {
        return String::new();
    }
    let open = cells.iter().any(|(_, _, load)| load.is_some());
    let mut text = format!(
        "## Latency: {}\n\nPercentiles of all rounds' decisions together, and p99.9 as median (minimum–maximum) of the rounds. Two readings of the clock in a row mostly differ by {} ns. ",
        L::LABEL,
        run.environment.clock_step_ns
    );
    text += match open {
        true => {
            "Open loop: decisions come on a schedule at a share of the capacity of the instrumented loop, and each is timed from its \
             *intended* start, so that a stall counts for all who waited. Nothing is subtracted. Lateness is how long after the intended start a decision was begun.\n\n"
        }
        false => {
            "Closed loop: the next decision starts when the last has ended, so these are times of one decision and **not** response times. \
             Nothing is subtracted: `empty-pair` is two readings of the clock with nothing in between, `clock-only` one reading in between. \
             With more threads than cores a thread can be preempted inside a decision; the floor's rows show what that costs without any limiter.\n\n"
        }
    };
    for &(state, threads, load) in &cells {
        if !charts::is_charted::<L>(run, state, threads, load) {
            continue;
        }
        text += &image(
            &charts::latency_title::<L>(state, threads, load),
            &charts::latency_file::<L>(state, threads, load),
        );
    }
    text += &data(&[LATENCY, HISTOGRAMS]);
    for (state, threads, load) in cells {
        let oversubscribed = match run.is_oversubscribed(threads) {
            true => format!(" on {} cores: oversubscribed", run.environment.cores),
            false => String::new(),
        };
        let at = load.map_or(String::new(), |load| format!(", {load} % of capacity"));
        let _ = write!(
            text,
            "### {}, {}, {}{oversubscribed}{at}\n\n",
            capital(L::LABEL),
            state.word(),
            on_threads(threads)
        );
        text += &latency_table::<L>(run, state, threads, load);
        text += &data(&[LATENCY, HISTOGRAMS]);
    }
    let rows = run.latency.iter();
    let rows = rows.filter(|row| row.round > 0 && row.kind == L::LABEL && row.cannot.is_empty());
    if let Some(told) = count_for_nothing(rows.map(|row| row.share_ok)) {
        text += &items([told + "."]);
    }
    text
}

fn latency_table<L: Latency>(run: &Run, state: State, threads: usize, load: Option<u32>) -> String {
    let mut header = strings(["limiter"]);
    header.extend(LABELS.map(String::from));
    header.push("p99.9 by round".into());
    header.push("samples".into());
    match load {
        Some(_) => header.extend(strings([
            "achieved ÷ intended",
            "lateness p99",
            "capacity, M/s",
        ])),
        None => header.push("M/s".into()),
    }
    let mut rows: Vec<&LatencyRow> = run
        .latency
        .iter()
        .filter(|row| {
            row.round == 0
                && row.kind == L::LABEL
                && row.state == state.word()
                && row.threads == threads
                && row.load_percent == load
        })
        .collect();
    rows.sort_by_key(|row| (row.p50, row.p99));
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let mut cells = vec![code(&row.contestant)];
            cells.extend(percentiles(row).map(|nanos| time(nanos as f64)));
            let by_round = run.percentile(row, |row| row.p99_9);
            cells.push(by_round.map_or("—".into(), |tail| spread(tail, time)));
            cells.push(thousands(row.samples));
            match row.intended_per_second {
                Some(intended) => {
                    cells.push(format!("{:.2}", row.achieved_per_second / intended));
                    cells.push(row.late_p99.map_or("—".into(), |nanos| time(nanos as f64)));
                    cells.push(millions(row.capacity_per_second));
                }
                None => cells.push(millions(row.achieved_per_second)),
            }
            cells
        })
        .collect();
    table(&header, &rows)
}
