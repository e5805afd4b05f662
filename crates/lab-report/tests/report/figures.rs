//! Figures of a rendered report, drawn at random and found in the rows of its CSV files. What is
//! compared is computed here from the files alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use scraper::{ElementRef, Html, Selector};
use windowpane_lab_ground::figures::{bytes, digits, thousands, time};
use windowpane_lab_measure::folder;
use windowpane_lab_report::render;

use crate::recorded;

type Rows = Vec<BTreeMap<String, String>>;

fn rows(folder: &Path, file: &str) -> Rows {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn text(element: ElementRef) -> String {
    let text: String = element.text().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The median of the rates of a cell: the lower one in the middle.
fn median(rows: &Rows, is_in: impl Fn(&BTreeMap<String, String>) -> bool) -> Option<f64> {
    let is_measured = |row: &&BTreeMap<String, String>| {
        row["round"] != "0"
            && row["share_ok"] == "true"
            && row.get("side").is_none_or(String::is_empty)
    };
    let rates = rows.iter().filter(is_measured).filter(|row| is_in(row));
    let mut rates: Vec<f64> = rates
        .map(|row| row["per_second"].parse().unwrap())
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len().checked_sub(1)? / 2).copied()
}

fn speed(rate: f64, threads: &str) -> String {
    match threads {
        "1" => time(1e9 / rate),
        _ => digits(rate / 1e6),
    }
}

/// A figure of the page: its table, its row, its column, and its text.
struct Figure {
    table: String,
    row: String,
    column: String,
    state: Option<String>,
    text: String,
}

fn figures(page: &Html) -> Vec<Figure> {
    let select = |selector: &str| Selector::parse(selector).unwrap();
    let mut figures = Vec::new();
    for table in page.select(&select("div[aria-label]")) {
        let heads: Vec<ElementRef> = table.select(&select("thead th")).collect();
        for row in table.select(&select("tbody tr")) {
            let cells: Vec<ElementRef> = row.select(&select("th, td")).collect();
            for (cell, head) in cells.iter().zip(&heads).skip(1) {
                let shown = text(*cell);
                // A dash is no figure, and a cell of two speeds has a test of its own.
                if shown.starts_with(|c: char| c.is_ascii_digit()) && !shown.contains('(') {
                    figures.push(Figure {
                        table: table.attr("aria-label").unwrap().into(),
                        row: text(cells[0]).split(' ').next().unwrap().into(),
                        column: text(*head),
                        state: head.attr("data-state").map(Into::into),
                        text: shown,
                    });
                }
            }
        }
    }
    figures
}

/// What the files say of a figure; `None` of tables that are not checked here.
fn expected(folder: &Path, figure: &Figure) -> Option<String> {
    let Figure {
        row: who, column, ..
    } = figure;
    let last = || column.rsplit(", ").next().unwrap().to_string();
    match figure.table.as_str() {
        "Throughput" | "Limiters at a glance"
            if figure.state.is_some() && !column.contains("keys") =>
        {
            let threads = column
                .chars()
                .find(char::is_ascii_digit)
                .unwrap()
                .to_string();
            let rows = rows(folder, "throughput.csv");
            let rate = median(&rows, |row| {
                row["contestant"] == *who
                    && row["threads"] == threads
                    && Some(&row["state"]) == figure.state.as_ref()
            });
            Some(speed(rate?, &threads))
        }
        "Many keys" if column.contains(", ") => {
            let threads = last();
            let workload = column.strip_suffix(&format!(", {threads}"))?;
            let rate = median(&rows(folder, "keyed.csv"), |row| {
                row["contestant"] == *who
                    && row["threads"] == threads
                    && row["workload"] == workload
            });
            Some(speed(rate?, &threads))
        }
        "Memory" => {
            let limit = column.strip_prefix("limit ")?.replace(',', "");
            let rows = rows(folder, "memory.csv");
            let row = rows.iter().find(|row| {
                row["contestant"] == *who && row["limit"] == limit && row["fill"] == "full"
            })?;
            Some(bytes(row["bytes"].parse().ok()?))
        }
        "A stalled thread" => {
            let rows = rows(folder, "stalled.csv");
            let row = rows.iter().find(|row| {
                row["contestant"] == *who && Some(&row["state"]) == figure.state.as_ref()
            })?;
            Some(match column.starts_with("decided") {
                true => thousands(row["meanwhile"].parse().ok()?),
                false => time(row["max"].parse().ok()?),
            })
        }
        "Tails" => {
            let threads = last();
            let percentile = column.split(',').next()?.replace('.', "_");
            let rows = rows(folder, "latency.csv");
            let row = rows.iter().find(|row| {
                row["contestant"] == *who
                    && row["round"] == "0"
                    && row["kind"] == "response time"
                    && row["state"] == "allowed"
                    && row["load_percent"] == "50"
                    && row["threads"] == threads
            })?;
            Some(time(row.get(&percentile)?.parse().ok()?))
        }
        _ => None,
    }
}

fn check(folder: &Path, seed: u64) {
    render(folder).unwrap();
    let page = Html::parse_document(&fs::read_to_string(folder.join("report.html")).unwrap());
    let figures = figures(&page);
    let mut random = StdRng::seed_from_u64(seed);
    let (mut checked, mut tables) = (0, std::collections::BTreeSet::new());
    for figure in figures.choose_multiple(&mut random, figures.len()) {
        if checked == 30 {
            break;
        }
        if let Some(expected) = expected(folder, figure) {
            assert_eq!(
                figure.text, expected,
                "{}: {}, {} (seed {seed})",
                figure.table, figure.row, figure.column
            );
            tables.insert(figure.table.clone());
            checked += 1;
        }
    }
    assert!(checked == 30 && tables.len() >= 3, "{checked}: {tables:?}");
}

#[test]
fn thirty_figures_at_random_are_in_the_csv() {
    let seed = rand::rng().random();
    let folder = tempfile::tempdir().unwrap();
    recorded::write(&[], folder.path());
    check(folder.path(), seed);
    if let Some(run) = newest() {
        let copy = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(&run).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
            }
        }
        check(copy.path(), seed);
        let report = fs::read_to_string(copy.path().join("REPORT.md")).unwrap();
        let words = report.split_whitespace().count();
        assert!(words <= 5_000, "{words} words");
    }
}

/// The published run that has a page.
fn newest() -> Option<std::path::PathBuf> {
    let entries = fs::read_dir(folder::workspace().join("results")).unwrap();
    let mut runs = entries.map(|entry| entry.unwrap().path());
    runs.find(|run| run.join("report.html").is_file() && !run.ends_with("latest"))
}
