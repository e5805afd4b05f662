//! Curves of any two quantities, for the pages of other benches.

use anyhow::Result;

use super::super::figures::thousands;
use super::canvas::{Axis, chart, decades, logarithmic};
use super::style::{Style, style};

/// A curve by name.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Who it is of.
    pub name: String,
    /// Ours, filled and blue, or a rival's, hollow and orange.
    pub ours: bool,
    /// Its points, both coordinates above 0.
    pub points: Vec<(f64, f64)>,
}

/// Labels on the x axis that would be closer than this share of it are left out.
const LEAST_GAP: f64 = 0.06;

/// An SVG with both axes logarithmic; the x axis is labelled where points are.
///
/// # Errors
/// If it cannot be drawn.
pub fn curves(title: &str, x_title: &str, y_title: &str, curves: &[Curve]) -> Result<String> {
    let mut seen = [0; 2];
    let looks: Vec<Style> = curves
        .iter()
        .map(|curve| style(if curve.ours { "ours" } else { "rival" }, &mut seen))
        .collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (xs, ys) = (
        decades(points().map(|(x, _)| *x)),
        decades(points().map(|(_, y)| *y)),
    );
    let across = |x: f64| 0.04 + 0.92 * logarithmic(x, xs);
    let mut labelled: Vec<f64> = points().map(|(x, _)| *x).collect();
    labelled.sort_by(f64::total_cmp);
    labelled.dedup_by(|next, kept| across(*next) - across(*kept) < LEAST_GAP);
    let x = Axis {
        title: format!("{x_title}, logarithmic"),
        ticks: labelled
            .into_iter()
            .map(|x| (across(x), thousands(x as u64)))
            .collect(),
    };
    let y = Axis {
        title: format!("{y_title}, logarithmic"),
        ticks: (ys.0..=ys.1)
            .map(|power| {
                let value = 10_f64.powi(power);
                (logarithmic(value, ys), thousands(value as u64))
            })
            .collect(),
    };
    let legend: Vec<(String, Style)> = curves
        .iter()
        .zip(&looks)
        .map(|(curve, style)| (curve.name.clone(), *style))
        .collect();
    chart(title, &x, &y, 420, &legend, |canvas| {
        for (curve, style) in curves.iter().zip(&looks) {
            let places: Vec<(f64, f64)> = curve
                .points
                .iter()
                .map(|(x, y)| (across(*x), logarithmic(*y, ys)))
                .collect();
            canvas.curve(&places, style)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_has_a_line_and_a_name_and_labels_do_not_touch() {
        let curve = |name: &str, ours| Curve {
            name: name.into(),
            ours,
            points: vec![(100.0, 1e3), (128.0, 2e3), (129.0, 3e3), (1_000.0, 9e3)],
        };
        let svg = curves(
            "T",
            "limit",
            "bytes",
            &[curve("a", true), curve("b", false)],
        )
        .unwrap();
        for text in ["bytes, logarithmic", "1,000", "10,000"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(svg.contains("\n100\n") && svg.contains("\n128\n"), "{svg}");
        assert!(!svg.contains("\n129\n"), "{svg}");
    }
}
