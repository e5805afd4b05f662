//! Memory of stores of many keys by limit: bytes a key, one chart a number of keys.

use anyhow::Result;

use super::super::figures::{bytes, thousands};
use super::super::run::Run;
use super::canvas::{Axis, chart, decades, logarithmic};
use super::style::{Style, keyed_styles};
use crate::measure::memory::{Fill, LIMITS};
use crate::measure::rows::KeyedMemoryRow;

/// A store's name, its style, and its bytes a key by limit.
type Curve = (String, Style, Vec<(u64, f64)>);

/// Bytes a key, where they were counted.
fn bytes_a_key(row: &KeyedMemoryRow) -> Option<f64> {
    let counted = row.fill == Fill::Full.word() && row.keys > 0;
    counted.then_some(row.bytes? as f64 / row.keys as f64)
}

pub(super) fn draw(run: &Run, keys: u64) -> Result<String> {
    let curves: Vec<Curve> = keyed_styles(run)
        .into_iter()
        .map(|(who, style)| {
            let of_who = |row: &&KeyedMemoryRow| row.contestant == *who && row.keys == keys;
            let rows = run.keyed_memory.iter().filter(of_who);
            let mut points: Vec<(u64, f64)> = rows
                .filter_map(|row| Some((row.limit, bytes_a_key(row)?)))
                .collect();
            points.sort_by_key(|(limit, _)| *limit);
            (who.to_string(), style, points)
        })
        .filter(|(_, _, points): &Curve| !points.is_empty())
        .collect();
    // Of all numbers of keys, so that their charts have the same axes.
    let range = decades(run.keyed_memory.iter().filter_map(bytes_a_key));
    let limits = decades(LIMITS.iter().map(|limit| *limit as f64));
    let across = |limit: u64| 0.04 + 0.92 * logarithmic(limit as f64, limits);
    let x = Axis {
        title: "limit of every key, logarithmic".into(),
        ticks: LIMITS
            .iter()
            .map(|limit| (across(*limit), thousands(*limit)))
            .collect(),
    };
    let y = Axis {
        title: "bytes a key, all full, logarithmic".into(),
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
    let title = super::keyed_memory_title(keys);
    chart(&title, &x, &y, 420, &legend, |canvas| {
        for (_, style, points) in &curves {
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|(limit, bytes)| (across(*limit), logarithmic(*bytes, range)))
                .collect();
            canvas.curve(&points, style)?;
        }
        Ok(())
    })
}
