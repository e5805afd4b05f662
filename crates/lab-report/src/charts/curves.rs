//! Curves of any two quantities, for the pages of other benches: named at their ends.

use super::svg::{Scale, Svg, TEXT, WIDTH, Whose, width};

const LEFT: f64 = 66.0;
const TOP: f64 = 66.0;
const HEIGHT: f64 = 340.0;

/// A curve by name.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Ours, filled and blue, or a rival's, hollow and orange.
    pub ours: bool,
    /// Its points, both coordinates above 0.
    pub points: Vec<(f64, f64)>,
}

/// Returns an SVG with both axes logarithmic.
pub fn curves(title: &str, x_title: &str, y_title: &str, curves: &[Curve]) -> String {
    let lines: Vec<Line> = curves
        .iter()
        .map(|curve| Line {
            name: &curve.name,
            whose: if curve.ours {
                Whose::Ours
            } else {
                Whose::Rival
            },
            points: curve.points.clone(),
        })
        .collect();
    let y = Scale::tight(lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y));
    let y_title = format!("{y_title}, logarithmic");
    draw(title, x_title, &y_title, (y, ""), &lines)
}

/// A named line, with marks at its points unless it is a floor.
pub(super) struct Line<'l> {
    pub(super) name: &'l str,
    pub(super) whose: Whose,
    pub(super) points: Vec<(f64, f64)>,
}

/// Draws named curves over a logarithmic axis; `y` has its scale and the unit of its labels.
pub(super) fn draw(
    title: &str,
    x_title: &str,
    y_title: &str,
    (y, unit): (Scale, &str),
    lines: &[Line],
) -> String {
    let mut svg = Svg::new(TOP + HEIGHT + 62.0);
    let points = || lines.iter().flat_map(|line| &line.points);
    let x = Scale::tight(points().map(|(x, _)| *x));
    let names = lines
        .iter()
        .map(|line| width(line.name))
        .fold(0.0, f64::max);
    let right = WIDTH - 26.0 - names;
    let at = |(px, py): (f64, f64)| {
        (
            LEFT + x.place(px) * (right - LEFT),
            TOP + (1.0 - y.place(py)) * HEIGHT,
        )
    };
    svg.text(12.0, 22.0, "start", title);
    svg.text(12.0, 48.0, "start", y_title);
    svg.text(
        right,
        TOP + HEIGHT + 48.0,
        "end",
        &format!("{x_title}, logarithmic"),
    );
    for (place, label) in x.ticks() {
        let x = LEFT + place * (right - LEFT);
        svg.line((x, TOP), (x, TOP + HEIGHT), true);
        svg.text(x, TOP + HEIGHT + 22.0, "middle", &label);
    }
    for (place, label) in y.ticks() {
        let y = TOP + (1.0 - place) * HEIGHT;
        svg.line((LEFT, y), (right, y), true);
        svg.text(LEFT - 8.0, y + 6.0, "end", &format!("{label}{unit}"));
    }
    let mut ends: Vec<(f64, f64, &str)> = Vec::new();
    for (nth, line) in lines.iter().enumerate() {
        let drawn: Vec<(f64, f64)> = line.points.iter().map(|point| at(*point)).collect();
        for pair in drawn.windows(2) {
            svg.range(pair[0], pair[1], line.whose);
        }
        if line.whose != Whose::Floor {
            for (x, y) in &drawn {
                svg.mark(*x, *y, 4.5, nth, line.whose);
            }
        }
        ends.extend(drawn.last().map(|(x, y)| (*x, *y, line.name)));
    }
    // Names from the top down, none on another, and the last one inside.
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let step = (TEXT + 2.0).min(HEIGHT / ends.len().max(1) as f64);
    let mut free = TOP;
    for (nth, (x, y, name)) in ends.iter().enumerate() {
        let below = (ends.len() - nth - 1) as f64 * step;
        let place = y.max(free).min(TOP + HEIGHT - below);
        svg.line((x + 6.0, *y), (right + 14.0, place), true);
        svg.text(right + 18.0, place + 6.0, "start", name);
        free = place + step;
    }
    svg.document()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_named_and_names_do_not_touch() {
        let curve = |name: &str, last| Curve {
            name: name.into(),
            ours: name == "a",
            points: vec![(100.0, 1e3), (1_000.0, last)],
        };
        let svg = curves("T", "limit", "bytes", &[curve("a", 9e3), curve("b", 9e3)]);
        for text in ["bytes, logarithmic", ">1000<", ">a<", ">b<"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        let y = |name: &str| {
            let line = svg
                .lines()
                .find(|line| line.ends_with(&format!(">{name}</text>")));
            let y = line.unwrap().split("y=\"").nth(1).unwrap();
            y.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!((y("a") - y("b")).abs() >= TEXT, "{svg}");
    }
}
