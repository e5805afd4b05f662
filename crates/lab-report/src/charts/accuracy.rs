//! Accuracy beside speed: who is fast because it lets more through.

use anyhow::Result;
use windowpane_lab_ground::figures::tick;
use windowpane_lab_measure::state::State;

use super::super::run::Run;
use super::canvas::{Axis, chart, linear};
use super::style::{Style, styles};

pub(super) fn draw(run: &Run) -> Result<String> {
    let points: Vec<(String, Style, f64, f64)> = styles(run)
        .into_iter()
        .filter_map(|(who, style)| {
            let name = &who.contestant;
            let rate = run.rate(name, State::Allowed, 1)?.median / 1e6;
            let overshoot = run.worst(name)?.worst_overshoot_share;
            Some((name.clone(), style, rate, overshoot))
        })
        .collect();
    let (rate_end, rate_ticks) = linear(
        points
            .iter()
            .map(|(_, _, rate, _)| *rate)
            .fold(0.0, f64::max),
    );
    let (share_end, share_ticks) = linear(points.iter().map(|(_, _, _, s)| *s).fold(0.0, f64::max));
    // 0 is no edge: it is where the exact ones are.
    let up = |share: f64| 0.06 + 0.9 * share / share_end;
    let x = Axis {
        title: "million decisions a second, allowed, 1 thread".into(),
        ticks: rate_ticks
            .iter()
            .map(|at| (at / rate_end, tick(*at)))
            .collect(),
    };
    let y = Axis {
        title: "worst overshoot, share of the limit (lower is better)".into(),
        ticks: share_ticks
            .iter()
            .map(|at| (up(*at), format!("{} %", tick(at * 100.0))))
            .collect(),
    };
    let legend: Vec<(String, Style)> = points
        .iter()
        .map(|(name, style, _, _)| (name.clone(), *style))
        .collect();
    chart("Accuracy beside speed", &x, &y, 380, &legend, |canvas| {
        points.iter().try_for_each(|(_, style, rate, share)| {
            canvas.marker(rate / rate_end, up(*share), 0, style)
        })
    })
}
