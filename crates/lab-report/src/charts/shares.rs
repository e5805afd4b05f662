//! Shares by a quantity: curves from 0 to 100 % over a logarithmic axis.

use anyhow::Result;
use windowpane_lab_ground::figures::{thousands, tick};

use super::canvas::{Axis, linear};
use super::lines::{self, Line, Scale};
use super::style::style;

/// Height of the plot.
const HEIGHT: i32 = 300;

/// One curve: a quantity above 0, and a share from 0 to 1.
pub struct Shares {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by the quantity.
    pub points: Vec<(f64, f64)>,
}

/// Draws the curves; a `target` is a line across.
///
/// # Errors
/// If it cannot be drawn.
pub fn draw(
    title: &str,
    x: &str,
    y: &str,
    curves: &[Shares],
    target: Option<f64>,
) -> Result<String> {
    let values = || curves.iter().flat_map(|curve| curve.points.iter());
    let x = Scale::by_decades(x, values().map(|(value, _)| *value), |value| {
        thousands(value as u64)
    });
    let most = values()
        .map(|(_, share)| *share)
        .chain(target)
        .fold(0.0, f64::max);
    let (end, ticks) = linear(most.max(0.001) * 100.0);
    let y = Scale {
        axis: Axis {
            title: y.into(),
            ticks: ticks
                .iter()
                .map(|at| (at / end, format!("{} %", tick(*at))))
                .collect(),
        },
        place: Box::new(move |share| share * 100.0 / end),
    };
    let mut seen = [0; 2];
    let mut lines: Vec<Line> = curves
        .iter()
        .map(|curve| Line {
            name: curve.name.clone(),
            style: style("ours", &mut seen),
            points: curve.points.clone(),
        })
        .collect();
    if let Some(target) = target {
        let first = values()
            .map(|(value, _)| *value)
            .fold(f64::INFINITY, f64::min);
        let last = values().map(|(value, _)| *value).fold(1.0, f64::max);
        lines.push(Line {
            name: "target".into(),
            style: style("floor", &mut seen),
            points: vec![(first.min(last), target), (last, target)],
        });
    }
    lines::draw(title, &x, &y, HEIGHT, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_and_the_target_are_named_even_where_nothing_is_denied() {
        let curves = [Shares {
            name: "exact".into(),
            points: vec![(1.0, 0.0), (20.0, 0.0)],
        }];
        for target in [None, Some(0.005)] {
            let svg = draw("title", "limit", "denied", &curves, target).unwrap();
            assert!(svg.contains("exact") && svg.contains("limit, logarithmic"));
            assert_eq!(svg.contains("target"), target.is_some());
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
