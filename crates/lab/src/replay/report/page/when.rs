//! When requests were denied: a chart a limiter.

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
    let mut charts = Vec::new();
    for (nth, algorithm) in summary.algorithms.iter().enumerate() {
        let steps = steps(report, &scale, |step| {
            step.denied.get(nth).copied().unwrap_or(0)
        });
        let title = format!("Denied by {}", algorithm.name);
        let svg = draw(&title, Bars::Denied, &steps, scale.labels(), each(&scale))?;
        let label = format!(
            "{title}: {} of {} over {}",
            number(algorithm.denied),
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
    let denied = |step: &Step| step.denied.get(nth).copied().unwrap_or(0);
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
        (figures(&charts))
    })
}

pub(super) fn figures(charts: &[(String, String)]) -> Markup {
    let charts: Vec<(&str, &str)> = charts
        .iter()
        .map(|(svg, label)| (svg.as_str(), label.as_str()))
        .collect();
    chart(&charts, &html! {})
}
