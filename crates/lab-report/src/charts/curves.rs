//! Curves of any two quantities, for the pages of other benches.

use anyhow::Result;
use windowpane_lab_ground::figures::thousands;

use super::lines::{Line, Scale, draw};
use super::style::style;

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

/// An SVG with both axes logarithmic; the x axis is labelled where points are.
///
/// # Errors
/// If it cannot be drawn.
pub fn curves(title: &str, x_title: &str, y_title: &str, curves: &[Curve]) -> Result<String> {
    let mut seen = [0; 2];
    let lines: Vec<Line> = curves
        .iter()
        .map(|curve| Line {
            name: curve.name.clone(),
            style: style(if curve.ours { "ours" } else { "rival" }, &mut seen),
            points: curve.points.clone(),
        })
        .collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Scale::by_values(x_title, points().map(|(x, _)| *x).collect());
    let up = points().map(|(_, y)| *y);
    let y = Scale::by_decades(y_title, up, |value| thousands(value as u64));
    draw(title, &x, &y, 420, &lines)
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
