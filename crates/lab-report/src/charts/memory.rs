//! Memory of one key by limit.

use anyhow::Result;
use windowpane_lab_ground::figures::bytes;
use windowpane_lab_measure::memory::{Fill, LIMITS};

use super::super::run::Run;
use super::lines::{self, Line, Scale};
use super::style::styles;

pub(super) fn draw(run: &Run) -> Result<String> {
    let lines: Vec<Line> = styles(run)
        .into_iter()
        .map(|(who, style)| {
            let at = |limit| {
                let bytes = run.bytes(&who.contestant, limit, Fill::Full.word())?;
                Some((limit as f64, bytes as f64))
            };
            Line {
                name: who.contestant.clone(),
                style,
                points: LIMITS.into_iter().filter_map(at).collect(),
            }
        })
        .filter(|line| !line.points.is_empty())
        .collect();
    let values = lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    let x = by_limit("limit of the quota");
    let y = Scale::by_decades("bytes of one limiter for one key, full", values, |value| {
        bytes(value as u64)
    });
    lines::draw("Memory by limit", &x, &y, 420, &lines)
}

/// An axis of the limits at which memory is counted.
pub(super) fn by_limit(title: &str) -> Scale {
    Scale::by_values(title, LIMITS.map(|limit| limit as f64).to_vec())
}
