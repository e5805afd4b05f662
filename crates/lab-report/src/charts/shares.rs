//! Shares by a quantity: curves from 0 to 100 % over a logarithmic axis.

use super::curves::{self, Line};
use super::svg::{Scale, Whose};

/// One curve: a quantity above 0, and a share from 0 to 1.
pub struct Shares {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by the quantity.
    pub points: Vec<(f64, f64)>,
}

/// Draws the curves; a `target` is a line across.
pub fn draw(title: &str, x: &str, y: &str, curves: &[Shares], target: Option<f64>) -> String {
    let line = |name, whose, points: &[(f64, f64)]| Line {
        name,
        whose,
        points: points
            .iter()
            .map(|(x, share)| (*x, share * 100.0))
            .collect(),
    };
    let mut lines: Vec<Line> = curves
        .iter()
        .map(|curve| line(curve.name.as_str(), Whose::Ours, &curve.points))
        .collect();
    if let Some(target) = target {
        let values = || curves.iter().flat_map(|curve| curve.points.iter());
        let last = values().map(|(value, _)| *value).fold(1.0, f64::max);
        let first = values().map(|(value, _)| *value).fold(last, f64::min);
        lines.push(line(
            "target",
            Whose::Floor,
            &[(first, target), (last, target)],
        ));
    }
    let shares = lines.iter().flat_map(|line| &line.points);
    let most = shares.map(|(_, share)| *share).fold(0.1, f64::max);
    curves::draw(title, x, y, (Scale::linear(most), " %"), &lines)
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
            let svg = draw("title", "limit", "denied", &curves, target);
            assert!(svg.contains("exact") && svg.contains("limit, logarithmic"));
            assert_eq!(svg.contains("target"), target.is_some());
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
