//! Memory of one key by limit.

use anyhow::Result;

use super::super::figures::{bytes, thousands};
use super::super::run::Run;
use super::canvas::{Axis, chart, decades, logarithmic};
use super::style::{Style, styles};
use crate::measure::memory::{Fill, LIMITS};

/// A limiter's name, its style, and its bytes by limit.
type Curve = (String, Style, Vec<(u64, u64)>);

pub(super) fn draw(run: &Run) -> Result<String> {
    let curves: Vec<Curve> = styles(run)
        .into_iter()
        .map(|(who, style)| {
            let at = |limit| Some((limit, run.bytes(&who.contestant, limit, Fill::Full.word())?));
            (
                who.contestant.clone(),
                style,
                LIMITS.into_iter().filter_map(at).collect(),
            )
        })
        .filter(|(_, _, points): &Curve| !points.is_empty())
        .collect();
    let values = curves
        .iter()
        .flat_map(|(_, _, points)| points.iter().map(|(_, b)| *b as f64));
    let range = decades(values);
    let limits = decades(LIMITS.iter().map(|limit| *limit as f64));
    let across = |limit: u64| 0.04 + 0.92 * logarithmic(limit as f64, limits);
    let x = Axis {
        title: "limit of the quota, logarithmic".into(),
        ticks: LIMITS
            .iter()
            .map(|limit| (across(*limit), thousands(*limit)))
            .collect(),
    };
    let y = Axis {
        title: "bytes of one limiter for one key, full, logarithmic".into(),
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
    chart("Memory by limit", &x, &y, 420, &legend, |canvas| {
        for (_, style, points) in &curves {
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|(limit, bytes)| (across(*limit), logarithmic(*bytes as f64, range)))
                .collect();
            canvas.curve(&points, style)?;
        }
        Ok(())
    })
}
