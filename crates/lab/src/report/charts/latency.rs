//! Latency curves: percentiles of every contestant in one cell.

use anyhow::Result;

use super::super::figures::time;
use super::super::markdown::percentiles;
use super::super::run::Run;
use super::canvas::{Axis, chart, decades, logarithmic};
use super::style::{Style, styles};
use crate::measure::latency::{LABELS, Latency};
use crate::measure::state::State;

pub(super) fn draw<L: Latency>(
    run: &Run,
    state: State,
    threads: usize,
    load: Option<u32>,
) -> Result<String> {
    let curves: Vec<(String, Style, [u64; 6])> = styles(run)
        .into_iter()
        .filter_map(|(who, style)| {
            let row = run.latency_of::<L>(&who.contestant, state, threads, load)?;
            Some((who.contestant.clone(), style, percentiles(row)))
        })
        .collect();
    let values = curves
        .iter()
        .flat_map(|(_, _, values)| values.iter().map(|v| *v as f64));
    let range = decades(values);
    let across = |nth: usize| (nth as f64 + 0.3) / (LABELS.len() as f64 - 0.4);
    let x = Axis {
        title: "share of decisions that were at most this slow".into(),
        ticks: (0..LABELS.len())
            .map(|nth| (across(nth), LABELS[nth].into()))
            .collect(),
    };
    let y = Axis {
        title: format!("{}, logarithmic", L::LABEL),
        ticks: (range.0..=range.1)
            .map(|power| {
                let value = 10_f64.powi(power);
                (
                    logarithmic(value, range),
                    time(value).replace(".00", "").replace(".0 ", " "),
                )
            })
            .collect(),
    };
    let legend: Vec<(String, Style)> = curves
        .iter()
        .map(|(name, style, _)| (name.clone(), *style))
        .collect();
    let title = super::latency_title::<L>(state, threads, load);
    chart(&title, &x, &y, 440, &legend, |canvas| {
        for (_, style, values) in &curves {
            let points: Vec<(f64, f64)> = values
                .iter()
                .enumerate()
                .map(|(nth, value)| (across(nth), logarithmic(*value as f64, range)))
                .collect();
            canvas.curve(&points, style)?;
        }
        Ok(())
    })
}
