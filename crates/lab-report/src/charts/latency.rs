//! Latency curves: percentiles of every contestant in one cell.

use anyhow::Result;
use windowpane_lab_ground::figures::time;
use windowpane_lab_ground::latency::{LABELS, Latency};
use windowpane_lab_measure::state::State;

use super::super::markdown::percentiles;
use super::super::run::Run;
use super::canvas::Axis;
use super::lines::{self, Line, Scale};
use super::style::styles;

pub(super) fn draw<L: Latency>(
    run: &Run,
    state: State,
    threads: usize,
    load: Option<u32>,
) -> Result<String> {
    let lines: Vec<Line> = styles(run)
        .into_iter()
        .filter_map(|(who, style)| {
            let row = run.latency_of::<L>(&who.contestant, state, threads, load)?;
            let values = percentiles(row).into_iter().enumerate();
            Some(Line {
                name: who.contestant.clone(),
                style,
                points: values
                    .map(|(nth, value)| (nth as f64, value as f64))
                    .collect(),
            })
        })
        .collect();
    let place = |nth: f64| (nth + 0.3) / (LABELS.len() as f64 - 0.4);
    let x = Scale {
        axis: Axis {
            title: "share of decisions that were at most this slow".into(),
            ticks: (0..LABELS.len())
                .map(|nth| (place(nth as f64), LABELS[nth].into()))
                .collect(),
        },
        place: Box::new(place),
    };
    let values = lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    let y = Scale::by_decades(L::LABEL, values, |value| {
        time(value).replace(".00", "").replace(".0 ", " ")
    });
    let title = super::latency_title::<L>(state, threads, load);
    lines::draw(&title, &x, &y, 440, &lines)
}
