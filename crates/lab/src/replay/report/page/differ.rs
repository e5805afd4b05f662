//! Where a limiter decides otherwise than the oracle: when, and the first such lines.

use anyhow::Result;
use maud::{Markup, html};
use windowpane_lab_report::charts::timeline::{Bars, draw};
use windowpane_lab_report::page::{Column, table};

use super::super::super::summary::{AlgorithmSummary, Summary};
use super::super::super::table::{count, number};
use super::super::{LINES, Report};
use super::key;
use super::scale::{Scale, each, instant};
use super::when::{figures, steps};

pub(super) fn differ(report: &Report, summary: &Summary) -> Result<Markup> {
    let scale = Scale::of(report);
    let differs = |algorithm: &AlgorithmSummary| {
        let oracle = algorithm.against_oracle.as_ref();
        oracle.map_or(0, |oracle| oracle.differ)
    };
    let mut charts = Vec::new();
    for (nth, algorithm) in summary.algorithms.iter().enumerate() {
        if differs(algorithm) == 0 {
            continue;
        }
        let steps = steps(report, &scale, |step| {
            step.differ.get(nth).copied().unwrap_or(0)
        });
        let title = format!("{} differs from the oracle", algorithm.name);
        let svg = draw(&title, Bars::Differ, &steps, scale.labels(), each(&scale))?;
        let label = format!("{title} in {}", count(differs(algorithm), "decision"));
        charts.push((svg, label));
    }
    if charts.is_empty() {
        return Ok(
            html! { p { "Nowhere: each decides every request as the oracle, the exact log, does." } },
        );
    }
    let agree: Vec<&str> = summary
        .algorithms
        .iter()
        .filter(|algorithm| differs(algorithm) == 0)
        .map(|algorithm| algorithm.name)
        .collect();
    let mut header: Vec<Markup> = ["line", "time", "client", "cost", "oracle"]
        .map(|name| html! { (name) })
        .to_vec();
    header.extend(report.names.iter().map(|name| html! { code { (name) } }));
    let mut columns = vec![
        Column::Figures,
        Column::Words,
        Column::Words,
        Column::Figures,
    ];
    columns.resize(header.len(), Column::Words);
    let rows: Vec<Vec<Markup>> = report
        .differ
        .iter()
        .map(|line| {
            let mut row = vec![
                html! { (number(line.line)) },
                html! { (instant(line.time, 0)) },
                key(&line.key),
                html! { (number(line.cost)) },
                html! { (line.oracle) },
            ];
            row.extend(
                line.answers
                    .iter()
                    .map(|answer| match *answer == line.oracle {
                        true => html! { (answer) },
                        false => html! { b { (answer) } },
                    }),
            );
            row
        })
        .collect();
    let title = match report.lines_that_differ {
        lines if lines > LINES as u64 => {
            format!(
                "The first {LINES} of {} on which one differs",
                count(lines, "line")
            )
        }
        lines => format!("The {} on which one differs", count(lines, "line")),
    };
    Ok(html! {
        p {
            "The oracle is the exact log, in a run of its own: what it allows and denies beside what each limiter does. "
            @if !agree.is_empty() {
                "No decision differs of "
                @for (nth, name) in agree.iter().enumerate() {
                    @if nth > 0 { ", " }
                    code { (name) }
                }
                "."
            }
        }
        (figures(&charts))
        h3 #lines { (title) }
        (table(&title, &columns, &header, &rows, &html! {}))
        p { "All of them: add " code { "--disagreements OUT.csv" } "." }
    })
}
