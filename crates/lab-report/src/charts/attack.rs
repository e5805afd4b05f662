//! Memory of stores by how many new keys have attacked them.

use anyhow::Result;
use windowpane_lab_ground::figures::{bytes, thousands};

use super::super::markdown::attack::{courses, who};
use super::super::run::Run;
use super::canvas::{Axis, linear};
use super::lines::{self, Line, Scale};
use super::style::style;

/// Those that are drawn: one of each kind, not each algorithm in each store.
const DRAWN: [&str; 6] = [
    "flat/gcra",
    "store/gcra",
    "store/cas-ring",
    "governor",
    "rate-net-log",
    "trypema",
];

/// Bytes by attackers so far.
pub(super) fn attack_lines(run: &Run) -> Vec<Line> {
    let mut seen = [0; 2];
    courses(run)
        .into_iter()
        .filter(|course| DRAWN.contains(&course[0].contestant.as_str()))
        // What could not be built has no course.
        .filter(|course| course.len() > 1)
        .map(|course| {
            // Nothing has no place on a logarithmic axis.
            let rows = course.iter().filter(|row| row.bytes > 0);
            Line {
                name: who(course[0]),
                style: style(&course[0].origin, &mut seen),
                points: rows
                    .map(|row| (row.asked as f64, row.bytes as f64))
                    .collect(),
            }
        })
        .collect()
}

pub(super) fn draw(run: &Run) -> Result<String> {
    let lines = attack_lines(run);
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|(asked, _)| *asked).fold(1.0, f64::max);
    let (end, ticks) = linear(most);
    let place = move |asked: f64| 0.02 + 0.92 * asked / end;
    // Numbers of seven digits stand close.
    let apart = ticks.len().div_ceil(4);
    let x = Scale {
        axis: Axis {
            title: "new keys so far".into(),
            ticks: ticks
                .into_iter()
                .step_by(apart)
                .map(|asked| (place(asked), thousands(asked as u64)))
                .collect(),
        },
        place: Box::new(place),
    };
    let values = points().map(|(_, bytes)| *bytes);
    let y = Scale::by_decades("bytes of the store", values, |value| bytes(value as u64));
    lines::draw("Memory under attack", &x, &y, 380, &lines)
}
