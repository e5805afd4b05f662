//! Named curves over two axes: what the charts of memory, attack and latency share.

use anyhow::Result;
use windowpane_lab_ground::figures::thousands;

use super::canvas::{Axis, chart, decades, logarithmic};
use super::style::Style;

/// A curve, in the quantities of its axes.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Its name in the legend.
    pub(super) name: String,
    pub(super) style: Style,
    pub(super) points: Vec<(f64, f64)>,
}

/// An axis, and where a quantity has its place along it, from 0 to 1.
pub(super) struct Scale {
    pub(super) axis: Axis,
    pub(super) place: Box<dyn Fn(f64) -> f64>,
}

/// Labels that would be closer than this share of the axis are left out.
const LEAST_GAP: f64 = 0.06;

impl Scale {
    /// Logarithmic and labelled at the powers of ten around `values`, as `write` writes them.
    pub(super) fn by_decades(
        title: &str,
        values: impl Iterator<Item = f64> + Clone,
        write: impl Fn(f64) -> String,
    ) -> Scale {
        let range = decades(values);
        let tick = |power| {
            let value = 10_f64.powi(power);
            (logarithmic(value, range), write(value))
        };
        Scale {
            axis: Axis {
                title: format!("{title}, logarithmic"),
                ticks: (range.0..=range.1).map(tick).collect(),
            },
            place: Box::new(move |value| logarithmic(value, range)),
        }
    }

    /// Logarithmic with a margin at both ends, and labelled at the values themselves.
    pub(super) fn by_values(title: &str, mut values: Vec<f64>) -> Scale {
        let range = decades(values.iter().copied());
        let place = move |value| 0.04 + 0.92 * logarithmic(value, range);
        values.sort_by(f64::total_cmp);
        values.dedup_by(|next, kept| place(*next) - place(*kept) < LEAST_GAP);
        let tick = |value| (place(value), thousands(value as u64));
        Scale {
            axis: Axis {
                title: format!("{title}, logarithmic"),
                ticks: values.into_iter().map(tick).collect(),
            },
            place: Box::new(place),
        }
    }
}

/// Draws the curves, and names them in the legend; `height` is that of the plot.
pub(super) fn draw(
    title: &str,
    x: &Scale,
    y: &Scale,
    height: i32,
    lines: &[Line],
) -> Result<String> {
    let legend: Vec<(String, Style)> = lines
        .iter()
        .map(|line| (line.name.clone(), line.style))
        .collect();
    chart(title, &x.axis, &y.axis, height, &legend, |canvas| {
        lines.iter().try_for_each(|line| {
            let points = line.points.iter();
            let places: Vec<(f64, f64)> = points
                .map(|(across, up)| ((x.place)(*across), (y.place)(*up)))
                .collect();
            canvas.curve(&places, &line.style)
        })
    })
}
