//! Every limiter's figures.

use maud::{Markup, html};
use windowpane_lab_report::page::{Column, table};

use super::super::super::summary::{AlgorithmSummary, Summary};
use super::super::super::table::figures;

pub(super) fn limiters(summary: &Summary) -> Markup {
    let header = [
        "limiter",
        "exact",
        "allowed",
        "denied",
        "errors",
        "false allows",
        "false denies",
        "differ",
        "worst overshoot",
        "bytes a client",
        "ns a decision",
    ];
    let header: Vec<Markup> = header.map(|name| html! { (name) }).to_vec();
    let mut columns = vec![Column::Words, Column::Words];
    columns.resize(header.len(), Column::Figures);
    let row = |algorithm: &AlgorithmSummary| -> Vec<Markup> {
        let exact = if algorithm.exact { "yes" } else { "no" };
        let mut row = vec![html! { code { (algorithm.name) } }, html! { (exact) }];
        row.extend(figures(algorithm, "—").map(|cell| html! { (cell) }));
        row
    };
    let rows: Vec<Vec<Markup>> = summary.algorithms.iter().map(row).collect();
    html! {
        (table("Every limiter", &columns, &header, &rows, &html! {}))
        p {
            @if summary.compared {
                "False allows and false denies are judged by the oracle fed what that limiter accepted; “differ” counts decisions unlike those of the oracle's own run; the worst overshoot is that of any window, beyond the limit, as a share of it. "
            } @else {
                "Nothing was compared with the oracle (" code { "--no-compare" } "). "
            }
            "Bytes are what the store of limiters has allocated at the end, without the keys. Nanoseconds are of " code { (summary.call) } " in a keyed store on one thread, without reading the input: rough."
        }
    }
}
