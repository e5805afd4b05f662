//! Throughput by threads: a row a contestant, a marker a number of threads.

use anyhow::Result;
use windowpane_lab_ground::figures::tick;
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::state::State;

use super::super::run::Run;
use super::super::verdict::on_threads;
use super::canvas::{Axis, chart, linear};
use super::style::{Style, of_threads};

/// Units between two contestants.
const ROW: i32 = 46;

pub(super) fn draw(run: &Run, state: State) -> Result<String> {
    let threads = run.threads();
    let first = threads.first().copied().unwrap_or(1);
    let mut rows: Vec<(String, Vec<Option<Spread>>)> = run
        .contestants
        .iter()
        .map(|who| {
            let rates = threads
                .iter()
                .map(|&threads| run.rate(&who.contestant, state, threads));
            (who.contestant.clone(), rates.collect())
        })
        .collect();
    let speed = |name: &str| run.rate(name, state, first).map_or(0.0, |rate| rate.median);
    rows.sort_by(|(a, _), (b, _)| speed(b).total_cmp(&speed(a)));

    let rates = || rows.iter().flat_map(|(_, rates)| rates.iter().flatten());
    let most = rates().map(|rate| rate.max / 1e6).fold(0.0, f64::max);
    let (end, ticks) = linear(most);
    let count = rows.len().max(1) as f64;
    let middle = |row: usize| 1.0 - (row as f64 + 0.5) / count;
    let x = Axis {
        title: "million decisions a second, all threads together".into(),
        ticks: ticks.iter().map(|at| (at / end, tick(*at))).collect(),
    };
    let y = Axis {
        title: "median; the line goes from minimum to maximum".into(),
        ticks: rows
            .iter()
            .enumerate()
            .map(|(row, (name, _))| (middle(row), name.clone()))
            .collect(),
    };
    let style = |nth: usize| of_threads(nth, run.is_oversubscribed(threads[nth]));
    let legend: Vec<(String, Style)> = threads
        .iter()
        .enumerate()
        .map(|(nth, &threads)| {
            let over = match run.is_oversubscribed(threads) {
                true => format!(" on {} cores", run.environment.cores),
                false => String::new(),
            };
            (on_threads(threads) + &over, style(nth))
        })
        .collect();
    let title = format!("Throughput, {}", state.word());
    chart(&title, &x, &y, ROW * rows.len() as i32, &legend, |canvas| {
        for (row, (_, rates)) in rows.iter().enumerate() {
            for (nth, rate) in rates.iter().enumerate() {
                let Some(rate) = rate else { continue };
                let place = |rate: f64| rate / 1e6 / end;
                // One below the other, so that none hides another.
                let down = (nth as i32 * 2 - (threads.len() as i32 - 1)) * 4;
                let style = style(nth);
                canvas.whisker(place(rate.min), place(rate.max), middle(row), down, &style)?;
                canvas.marker(place(rate.median), middle(row), down, &style)?;
            }
        }
        Ok(())
    })
}
