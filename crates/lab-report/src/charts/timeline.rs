//! What happened when: bars by steps of time.

use anyhow::Result;
use windowpane_lab_ground::figures::thousands;

use super::canvas::{Axis, chart, linear};
use super::style::{ALL_BARS, DENIED_BARS, DIFFER_BARS, Style};

/// Height of the plot.
const HEIGHT: i32 = 150;

/// What a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    /// All requests, and in front of them those that were denied.
    Denied,
    /// The decisions that differ from the oracle's.
    Differ,
}

/// One step of time: where it begins and ends along the axis, from 0 to 1, and its counts.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// All requests.
    pub all: u64,
    /// Those that are meant.
    pub of_them: u64,
}

/// Draws the chart; `times` are the labels of the horizontal axis, `each` says what a bar is.
///
/// # Errors
/// If it cannot be drawn.
pub fn draw(
    title: &str,
    bars: Bars,
    steps: &[Step],
    times: Vec<(f64, String)>,
    each: String,
) -> Result<String> {
    let shown = |step: &Step| match bars {
        Bars::Denied => step.all,
        Bars::Differ => step.of_them,
    };
    let most = steps.iter().map(shown).max().unwrap_or(0) as f64;
    let (end, ticks) = linear(most.max(1.0));
    // Counts are whole, and an axis has few of them.
    let whole = |at: &&f64| at.fract() == 0.0;
    let y = Axis {
        title: match bars {
            Bars::Denied => "requests".into(),
            Bars::Differ => "decisions that differ from the oracle's".into(),
        },
        ticks: ticks
            .iter()
            .filter(whole)
            .map(|at| (at / end, thousands(*at as u64)))
            .collect(),
    };
    let x = Axis {
        title: each,
        ticks: times,
    };
    let legend: Vec<(String, Style)> = match bars {
        Bars::Denied => vec![
            ("requests".into(), ALL_BARS),
            ("denied of them".into(), DENIED_BARS),
        ],
        Bars::Differ => Vec::new(),
    };
    chart(title, &x, &y, HEIGHT, &legend, |canvas| {
        for step in steps {
            let height = |count: u64| count as f64 / end;
            if bars == Bars::Denied {
                canvas.bar(step.from, step.to, height(step.all), &ALL_BARS)?;
            }
            let front = match bars {
                Bars::Denied => &DENIED_BARS,
                Bars::Differ => &DIFFER_BARS,
            };
            canvas.bar(step.from, step.to, height(step.of_them), front)?;
        }
        Ok(())
    })
}
