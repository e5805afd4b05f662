//! Memory of stores of many keys by limit: bytes a key, one chart a number of keys.

use anyhow::Result;
use windowpane_lab_ground::figures::bytes;
use windowpane_lab_measure::memory::Fill;
use windowpane_lab_measure::rows::KeyedMemoryRow;

use super::super::run::Run;
use super::lines::{self, Line, Scale};
use super::memory::by_limit;
use super::style::keyed_styles;

/// Bytes a key, where they were counted.
fn bytes_a_key(row: &KeyedMemoryRow) -> Option<f64> {
    let counted = row.fill == Fill::Full.word() && row.keys > 0;
    counted.then_some(row.bytes? as f64 / row.keys as f64)
}

pub(super) fn draw(run: &Run, keys: u64) -> Result<String> {
    let lines: Vec<Line> = keyed_styles(run)
        .into_iter()
        .map(|(who, style)| {
            let of_who = |row: &&KeyedMemoryRow| row.contestant == *who && row.keys == keys;
            let rows = run.keyed_memory.iter().filter(of_who);
            let mut points: Vec<(f64, f64)> = rows
                .filter_map(|row| Some((row.limit as f64, bytes_a_key(row)?)))
                .collect();
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            Line {
                name: who.to_string(),
                style,
                points,
            }
        })
        .filter(|line| !line.points.is_empty())
        .collect();
    let x = by_limit("limit of every key");
    // Of all numbers of keys, so that their charts have the same axes.
    let values = run.keyed_memory.iter().filter_map(bytes_a_key);
    let y = Scale::by_decades("bytes a key, all full", values, |value| bytes(value as u64));
    lines::draw(&super::keyed_memory_title(keys), &x, &y, 420, &lines)
}
