//! A run as Markdown.

mod about;
mod accuracy;
mod before;
pub(super) mod keyed;
mod latency;
mod memory;
mod speed;
mod stalled;
mod two_counter;

use std::fmt::Write as _;

use super::readme::glance;
use super::run::Run;
use super::spread::Spread;
use super::verdict::verdict;
use crate::measure::latency::{LOADS, ResponseTime, ServiceTime};
use crate::measure::rows::LatencyRow;

/// The report.
pub(super) fn report(run: &Run) -> String {
    let mut text = String::new();
    text += "# Sliding-window rate limiters, measured\n\n## Verdict\n\n";
    for sentence in verdict(run) {
        let _ = writeln!(text, "- {sentence}");
    }
    text += "\n## At a glance\n\n";
    text += &glance(run);
    text += "\n";
    text += &about::who(run);
    text += &speed::throughput(run);
    text += &speed::target_table(run);
    text += &accuracy::accuracy(run);
    text += &two_counter::published(run);
    text += &two_counter::wrongly_denied(run);
    text += &memory::memory(run);
    text += &keyed::keyed(run);
    text += &latency::latency::<ResponseTime>(run);
    text += &latency::latency::<ServiceTime>(run);
    text += &stalled::stalled(run);
    text += &speed::noise(run);
    text += &before::before(run);
    text += &about::environment(run);
    text += about::RULES;
    text += &about::reproduce(run);
    text
}

/// A Markdown table whose first column is words and whose others are figures.
pub(super) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    table_of(1, header, rows)
}

/// A Markdown table whose first columns are words and whose others are figures.
pub(super) fn table_of(words: usize, header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    let mut rule = vec!["---".to_string(); words];
    rule.resize(header.len(), "---:".into());
    text += &line(&rule);
    rows.iter().for_each(|row| text += &line(row));
    text + "\n"
}

fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).to_vec()
}

fn image(title: &str, file: &str) -> String {
    format!("![{title}]({file})\n\n")
}

fn yes(is: bool) -> String {
    if is { "yes".into() } else { "no".into() }
}

/// A table of words.
fn left_aligned(header: &[String], rows: &[Vec<String>]) -> String {
    table_of(header.len(), header, rows)
}

fn spread(rate: Spread, write: impl Fn(f64) -> String) -> String {
    format!(
        "**{}** ({}–{})",
        write(rate.median),
        write(rate.min),
        write(rate.max)
    )
}

/// The percentiles of a row, in the order of their labels.
pub(super) fn percentiles(row: &LatencyRow) -> [u64; 6] {
    [row.p50, row.p90, row.p99, row.p99_9, row.p99_99, row.max]
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The loads whose curves are drawn: the middle one.
pub(super) const CHARTED_LOAD: u32 = LOADS[1];
