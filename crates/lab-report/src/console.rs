//! What is printed when a run is done.

use std::io::{self, Write};

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, presets};
use windowpane_lab_ground::figures::{bytes, millions, percent, time};
use windowpane_lab_ground::latency::{LABELS, Latency, ResponseTime, ServiceTime};
use windowpane_lab_measure::rows::LatencyRow;
use windowpane_lab_measure::state::State;

use super::run::Run;
use crate::cells::Cell;
use crate::on_threads;
use crate::report::{advice, where_measured};

/// A table as it is printed: the first column words, the others figures.
pub fn table(header: Vec<String>, rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for row in rows {
        table.add_row(row);
    }
    align(&mut table);
    table
}

/// The same without rows yet, as Markdown that is printed as it is recorded.
pub fn markdown_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    align(&mut table);
    table
}

fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// The summary: one line a contestant.
pub fn summary(run: &Run) -> Table {
    let on_cores: Vec<usize> = run
        .threads()
        .into_iter()
        .filter(|threads| !run.is_oversubscribed(*threads))
        .collect();
    let mut header: Vec<String> = ["limiter", "exact"].map(String::from).to_vec();
    for state in State::ALL {
        header.extend(
            on_cores
                .iter()
                .map(|threads| format!("{}\n{}", state.word(), on_threads(*threads))),
        );
    }
    header.extend(
        [
            "p99.9 response\n1 thread, 50 %",
            "bytes\nat 1,000",
            "worst\novershoot",
        ]
        .map(String::from),
    );
    let rows = run.contestants.iter().map(|who| {
        let name = &who.contestant;
        let exact = match (who.origin.as_str(), who.exact) {
            ("floor", _) => "",
            (_, true) => "yes",
            (_, false) => "no",
        };
        let mut row = vec![name.clone(), exact.into()];
        for state in State::ALL {
            row.extend(
                on_cores
                    .iter()
                    .map(|&threads| match run.rate(name, state, threads) {
                        None => "-".into(),
                        Some(rate) if threads == 1 => time(1e9 / rate.median),
                        Some(rate) => format!("{} M/s", millions(rate.median)),
                    }),
            );
        }
        let tail = run.latency_of::<ResponseTime>(name, State::Allowed, 1, Some(50));
        row.push(tail.map_or("-".into(), |row| time(row.p99_9 as f64)));
        row.push(run.bytes(name, 1_000, "full").map_or("-".into(), bytes));
        row.push(
            run.worst(name)
                .map_or("-".into(), |row| percent(row.worst_overshoot_share)),
        );
        row
    });
    table(header, rows.collect())
}

/// The summary, the recommendation and the report's place: the last that a run prints.
pub fn told(run: &Run) -> String {
    let mut text = format!("\n{}\n", summary(run));
    text += &format!(
        "Time a decision with 1 thread; million decisions a second with more; median of {} rounds.\n\n",
        run.environment.rounds
    );
    text += &format!("{}\n", where_measured(run).replace('`', ""));
    for item in advice(run) {
        text += &format!("- {} {}\n", item.lead, item.text).replace('`', "");
    }
    let page = run.folder.join(super::PAGE_FILE);
    text + &format!(
        "\nReport: {}, and in Markdown {}\n",
        page.display(),
        run.folder.join("REPORT.md").display()
    )
}

/// Prints `text`. Whoever closes the pipe wants no more: that is no error.
///
/// # Errors
/// If it cannot be written otherwise.
pub fn say(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to the standard output"),
    }
}

/// Prints every cell of a run, for runs that are not recorded: filtered ones, and single targets.
pub fn print_rows(run: &Run) {
    let header = [
        "throughput",
        "state",
        "threads",
        "M/s",
        "minimum–maximum",
        "time",
    ];
    let mut rows = Vec::new();
    for state in State::ALL {
        for threads in run.threads() {
            for who in &run.contestants {
                let Some(rate) = run.rate(&who.contestant, state, threads) else {
                    continue;
                };
                rows.push(vec![
                    who.contestant.clone(),
                    state.word().into(),
                    threads.to_string(),
                    millions(rate.median),
                    format!("{}–{}", millions(rate.min), millions(rate.max)),
                    if threads == 1 {
                        time(1e9 / rate.median)
                    } else {
                        "-".into()
                    },
                ]);
            }
        }
    }
    if !rows.is_empty() {
        println!("{}", table(header.map(String::from).to_vec(), rows));
    }
    print_keyed(run);
    print_latency::<ResponseTime>(run);
    print_latency::<ServiceTime>(run);
}

/// Prints the stores of many keys, a line a cell.
fn print_keyed(run: &Run) {
    let mut cells: Vec<(&str, usize, &str)> = Vec::new();
    for row in run.keyed.iter().filter(|row| row.round > 0) {
        let cell = (row.workload.as_str(), row.threads, row.contestant.as_str());
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    cells.sort_unstable();
    let row = |(workload, threads, store): (&str, usize, &str)| {
        let rates = run.speed(store, Cell::Keys(workload, threads))?.rates;
        Some(vec![
            store.into(),
            workload.into(),
            threads.to_string(),
            millions(rates.median),
            format!("{}–{}", millions(rates.min), millions(rates.max)),
        ])
    };
    let rows: Vec<Vec<String>> = cells.into_iter().filter_map(row).collect();
    if !rows.is_empty() {
        let header = ["store", "keys", "threads", "M/s", "minimum–maximum"];
        println!("{}", table(header.map(String::from).to_vec(), rows));
    }
}

/// The percentiles of a row, in the order of their labels.
fn percentiles(row: &LatencyRow) -> [u64; 6] {
    [row.p50, row.p90, row.p99, row.p99_9, row.p99_99, row.max]
}

fn print_latency<L: Latency>(run: &Run) {
    let mut header: Vec<String> = [L::LABEL, "state", "threads", "load"]
        .map(String::from)
        .to_vec();
    header.extend(LABELS.map(String::from));
    header.push("M/s".into());
    let mut rows: Vec<&LatencyRow> = run
        .latency
        .iter()
        .filter(|row| row.round == 0 && row.kind == L::LABEL)
        .collect();
    rows.sort_by_key(|row| {
        (
            row.state.clone(),
            row.threads,
            row.load_percent,
            row.p50,
            row.p99,
        )
    });
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let load = row
                .load_percent
                .map_or("closed".into(), |load| format!("{load} %"));
            let mut cells = vec![
                row.contestant.clone(),
                row.state.clone(),
                row.threads.to_string(),
                load,
            ];
            cells.extend(percentiles(row).map(|nanos| time(nanos as f64)));
            cells.push(millions(row.achieved_per_second));
            cells
        })
        .collect();
    if !rows.is_empty() {
        println!("{}", table(header, rows));
    }
}
