//! Memory of stores by how many new keys have attacked them.

use anyhow::Result;

use super::super::figures::{bytes, thousands};
use super::super::markdown::attack::{courses, who};
use super::super::run::Run;
use super::canvas::{Axis, chart, decades, linear, logarithmic};
use super::style::{Style, style};

/// Those that are drawn: one of each kind, not each algorithm in each store.
const DRAWN: [&str; 6] = [
    "flat/gcra",
    "store/gcra",
    "store/cas-ring",
    "governor",
    "rate-net-log",
    "trypema",
];

/// A store's name, its style, and its bytes by attackers so far.
type Curve = (String, Style, Vec<(u64, u64)>);

pub(super) fn attack_curves(run: &Run) -> Vec<Curve> {
    let mut seen = [0; 2];
    courses(run)
        .into_iter()
        .filter(|course| DRAWN.contains(&course[0].contestant.as_str()))
        // What could not be built has no course.
        .filter(|course| course.len() > 1)
        .map(|course| {
            let points = course.iter().map(|row| (row.asked, row.bytes));
            let style = style(&course[0].origin, &mut seen);
            (who(course[0]), style, points.collect())
        })
        .collect()
}

pub(super) fn draw(run: &Run) -> Result<String> {
    let curves = attack_curves(run);
    let points = || curves.iter().flat_map(|(.., points)| points);
    let range = decades(points().map(|(_, bytes)| *bytes as f64));
    let most = points().map(|(asked, _)| *asked).max().unwrap_or(1);
    let (end, ticks) = linear(most as f64);
    let across = |asked: f64| 0.02 + 0.92 * asked / end;
    // Numbers of seven digits stand close.
    let apart = ticks.len().div_ceil(4);
    let x = Axis {
        title: "new keys so far".into(),
        ticks: ticks
            .into_iter()
            .step_by(apart)
            .map(|asked| (across(asked), thousands(asked as u64)))
            .collect(),
    };
    let y = Axis {
        title: "bytes of the store, logarithmic".into(),
        ticks: (range.0..=range.1)
            .map(|power| {
                let value = 10_f64.powi(power);
                (logarithmic(value, range), bytes(value as u64))
            })
            .collect(),
    };
    let legend: Vec<(String, Style)> = curves
        .iter()
        .map(|(name, style, _)| (name.clone(), *style))
        .collect();
    chart("Memory under attack", &x, &y, 380, &legend, |canvas| {
        for (_, style, points) in &curves {
            let points: Vec<(f64, f64)> = points
                .iter()
                // Nothing has no place on a logarithmic axis.
                .filter(|(_, bytes)| *bytes > 0)
                .map(|(asked, bytes)| (across(*asked as f64), logarithmic(*bytes as f64, range)))
                .collect();
            canvas.curve(&points, style)?;
        }
        Ok(())
    })
}
