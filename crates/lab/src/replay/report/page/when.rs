//! When requests were denied: a chart for the limiters that look alike.

use anyhow::Result;
use maud::{Markup, html};
use windowpane_lab_report::charts::timeline::{self, Bars, draw};
use windowpane_lab_report::page::chart;

use super::super::super::summary::Summary;
use super::super::super::table::{count, number, span};
use super::super::{Report, Step};
use super::scale::{Scale, each, instant, width};

pub(super) fn steps(
    report: &Report,
    scale: &Scale,
    of: impl Fn(&Step) -> u64,
) -> Vec<timeline::Step> {
    let steps = report.timeline.steps().map(|(at, step)| {
        let (from, to) = scale.step(at, scale.width);
        timeline::Step {
            from,
            to,
            all: step.requests,
            of_them: of(step),
        }
    });
    steps.collect()
}

pub(super) fn when(report: &Report, summary: &Summary) -> Result<Markup> {
    let scale = Scale::of(report);
    let (mut charts, mut together) = (Vec::new(), Vec::new());
    for alike in alike(report, summary) {
        let names: Vec<&str> = alike
            .iter()
            .map(|nth| summary.algorithms[*nth].name)
            .collect();
        let first = alike[0];
        let steps = steps(report, &scale, |step| denied_by(step, first));
        // A title does not wrap.
        let title = match &names[..] {
            [first, _, _, ..] => format!("Denied by {first} and {} alike", names.len() - 1),
            names => format!("Denied by {}", names.join(", ")),
        };
        if names.len() > 1 {
            together.push(names.join(", "));
        }
        let svg = draw(&title, Bars::Denied, &steps, scale.labels(), each(&scale))?;
        let counts = alike
            .iter()
            .map(|nth| number(summary.algorithms[*nth].denied));
        let label = format!(
            "Denied by {}: {} of {} over {}",
            names.join(", "),
            counts.collect::<Vec<_>>().join(", "),
            count(summary.input.requests, "request"),
            span(summary.input.latest_ns - summary.input.earliest_ns)
        );
        charts.push((svg, label));
    }
    // By the exact one, if there is one.
    let exact = summary
        .algorithms
        .iter()
        .position(|algorithm| algorithm.exact);
    let nth = exact.unwrap_or(0);
    let denied = |step: &Step| denied_by(step, nth);
    let busiest = report.timeline.steps().max_by_key(|(_, step)| denied(step));
    let busiest = busiest.filter(|(_, step)| denied(step) > 0);
    let said = busiest.zip(report.names.get(nth));
    Ok(html! {
        @if let Some(((at, step), name)) = said {
            p {
                code { (name) } " denied most in the " (width(scale.width)) " from " (instant(at, 0)) ": "
                (number(denied(step))) " of " (count(step.requests, "request")) "."
            }
        }
        @for names in &together {
            p { "One chart, that of the first, stands for " (names) ": their bars nowhere differ by more than 2 % of the highest." }
        }
        (figures(&charts))
    })
}

fn denied_by(step: &Step, nth: usize) -> u64 {
    step.denied.get(nth).copied().unwrap_or(0)
}

/// The limiters whose charts look alike, by their places: each with the first of them.
fn alike(report: &Report, summary: &Summary) -> Vec<Vec<usize>> {
    let highest = report.timeline.steps().map(|(_, step)| step.requests).max();
    let least = highest.unwrap_or(0) / 50;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for nth in 0..summary.algorithms.len() {
        let looks_like = |group: &&mut Vec<usize>| {
            let mut steps = report.timeline.steps();
            steps.all(|(_, step)| denied_by(step, group[0]).abs_diff(denied_by(step, nth)) <= least)
        };
        match groups.iter_mut().find(looks_like) {
            Some(group) => group.push(nth),
            None => groups.push(vec![nth]),
        }
    }
    groups
}

pub(super) fn figures(charts: &[(String, String)]) -> Markup {
    let charts: Vec<(&str, &str)> = charts
        .iter()
        .map(|(svg, label)| (svg.as_str(), label.as_str()))
        .collect();
    chart(&charts, &html! {})
}
