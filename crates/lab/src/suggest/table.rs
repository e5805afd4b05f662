//! The suggestion as people read it.

use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use windowpane_lab_input::one_line;

use super::summary::{Suggested, Suggestion, Targets, WindowSummary};
use crate::replay::{count, number, span};

/// Points of a curve in the table, about.
const POINTS: usize = 10;

/// The suggestion as text: what was read, the limits, and the curve of the first limiter.
pub fn render(suggestion: &Suggestion) -> String {
    let input = &suggestion.input;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} of {} in {}; {}\n",
        one_line(&input.name),
        count(input.requests, "request"),
        count(input.keys, "key"),
        span(input.latest_ns - input.earliest_ns),
        in_words(&suggestion.targets),
    );
    if !suggestion.given.is_empty() {
        let _ = writeln!(text, "beside {}\n", suggestion.given.join(" and "));
    }
    for window in &suggestion.windows {
        let _ = writeln!(text, "{}\n", limits(window, suggestion));
        if let Some(first) = window.algorithms.first() {
            let _ = writeln!(
                text,
                "what other limits would deny, by {}\n{}\n",
                first.name,
                curve(first, suggestion)
            );
        }
        for skipped in &window.skipped {
            let _ = writeln!(text, "left out {}: {}", skipped.name, skipped.reason);
        }
    }
    text.push_str(
        "block: from a denial to when a request of that client would be allowed, none being so in between\n\
         requests are decided in the order of time; one limit less denies more than the targets\n",
    );
    text
}

/// The targets in words.
pub(super) fn in_words(targets: &Targets) -> String {
    let share = |share: f64, what: &str| format!("{} % of {what}", share * 100.0);
    let shares = [
        targets.clients.map(|of| share(of, "clients")),
        targets.requests.map(|of| share(of, "requests")),
    ];
    let shares: Vec<String> = shares.into_iter().flatten().collect();
    format!("denied at most {}", shares.join(" and "))
}

/// A number and its share of all.
pub(super) fn share(part: u64, of: u64) -> String {
    format!(
        "{} ({:.2} %)",
        number(part),
        part as f64 / of as f64 * 100.0
    )
}

fn limits(window: &WindowSummary, suggestion: &Suggestion) -> String {
    let (requests, clients) = (suggestion.input.requests, suggestion.input.keys);
    let mut table = table([
        "algorithm",
        "least limit",
        "requests denied",
        "clients denied",
        "longest block",
    ]);
    for of in &window.algorithms {
        let cells = match (of.limit, &of.denied) {
            (Some(limit), Some(denied)) => [
                format!("{limit}/{}", window.window),
                share(denied.requests_denied, requests),
                share(denied.clients_denied, clients),
                span(denied.longest_block_ns),
            ],
            _ => ["none".into(), "-".into(), "-".into(), "-".into()],
        };
        table.add_row([of.name.to_string()].into_iter().chain(cells));
    }
    aligned(table)
}

fn curve(of: &Suggested, suggestion: &Suggestion) -> String {
    let (requests, clients) = (suggestion.input.requests, suggestion.input.keys);
    let mut table = table([
        "",
        "limit",
        "requests denied",
        "clients denied",
        "longest block",
    ]);
    let each = of.curve.len().div_ceil(POINTS).max(1);
    for (nth, point) in of.curve.iter().enumerate() {
        let is_it = Some(point.limit) == of.limit;
        if nth % each == 0 || is_it || nth + 1 == of.curve.len() {
            table.add_row([
                if is_it { "->".into() } else { String::new() },
                number(point.limit),
                share(point.denied.requests_denied, requests),
                share(point.denied.clients_denied, clients),
                span(point.denied.longest_block_ns),
            ]);
        }
    }
    aligned(table)
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    const RULED: TableStyle =
        TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(header);
    table
}

/// Names to the left, numbers to the right.
fn aligned(mut table: Table) -> String {
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
