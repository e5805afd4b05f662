//! A sheet with a title, two axes and a legend, on plotters' SVG backend.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{Shape, Style};

/// Units of a chart's width. A phone shows each at about 0.6 of a pixel.
const WIDTH: i32 = 640;
/// Height of titles. The backend makes letters 1.24 times smaller than this.
const TITLE: i32 = 25;
/// Height of the other texts: on a phone still more than ten pixels.
const TEXT: i32 = 22;
const LINE: i32 = 30;
const INK: RGBColor = RGBColor(20, 20, 20);
const GRID: RGBColor = RGBColor(205, 205, 205);

/// A value's place along an axis, from 0 to 1.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// What the axis tells, with its unit.
    pub(super) title: String,
    /// Labelled places.
    pub(super) ticks: Vec<(f64, String)>,
}

/// A chart being drawn.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    left: i32,
    top: i32,
    width: i32,
    height: i32,
}

/// Lines of a legend, two entries each.
fn legend_lines(entries: usize) -> i32 {
    entries.div_ceil(2) as i32
}

fn failed<E: std::fmt::Display>(error: E) -> anyhow::Error {
    anyhow!("cannot draw a chart: {error}")
}

/// Draws a chart: the sheet around, and `draw` inside. `plot_height` is that of the plot alone.
pub(super) fn chart(
    title: &str,
    x: &Axis,
    y: &Axis,
    plot_height: i32,
    legend: &[(String, Style)],
    draw: impl FnOnce(&Canvas) -> Result<()>,
) -> Result<String> {
    let widest = y.ticks.iter().map(|(_, label)| label.chars().count()).max();
    let left = 22 + 11 * widest.unwrap_or(0) as i32;
    let top = 2 * LINE + 12;
    let height = top + plot_height + 2 * LINE + 16 + legend_lines(legend.len()) * LINE + 10;
    let mut svg = String::new();
    {
        let backend = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32));
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let canvas = Canvas {
            area,
            left,
            top,
            width: WIDTH - left - 30,
            height: plot_height,
        };
        canvas.sheet(title, x, y)?;
        draw(&canvas)?;
        canvas.legend(legend)?;
        canvas.area.present().map_err(failed)?;
    }
    Ok(joined(&svg))
}

/// Returns the sheet with neighbouring lines of one stroke as one path. The backend writes each dash
/// as an element of its own, and those were nine tenths of a chart.
fn joined(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len());
    // The attributes of the path that is open.
    let mut open = None;
    for line in svg.lines() {
        let polyline = line
            .strip_prefix("<polyline ")
            .and_then(|rest| rest.strip_suffix(" \"/>"))
            .and_then(|rest| rest.split_once("points=\""));
        let attributes = polyline.map(|(attributes, _)| attributes);
        if open.is_some() && open != attributes {
            text += "\"/>\n";
        }
        match polyline {
            Some((attributes, points)) => {
                if open != Some(attributes) {
                    text += &format!("<path {attributes}d=\"");
                }
                text += &format!("M{points}");
            }
            None => {
                text += line;
                text.push('\n');
            }
        }
        open = attributes;
    }
    text
}

impl Canvas<'_> {
    fn sheet(&self, title: &str, x: &Axis, y: &Axis) -> Result<()> {
        self.text(12, LINE / 2 + 2, title, HPos::Left, TITLE)?;
        self.text(12, LINE + LINE / 2 + 2, &y.title, HPos::Left, TEXT)?;
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        for (at, label) in &x.ticks {
            let x = self.x(*at);
            self.line(&[(x, self.top), (x, bottom)], GRID, 1)?;
            self.text(x, bottom + LINE / 2 + 2, label, HPos::Center, TEXT)?;
        }
        for (at, label) in &y.ticks {
            let y = self.y(*at);
            self.line(&[(self.left, y), (right, y)], GRID, 1)?;
            self.text(self.left - 8, y, label, HPos::Right, TEXT)?;
        }
        self.line(&[(self.left, bottom), (right, bottom)], INK, 2)?;
        self.line(&[(self.left, self.top), (self.left, bottom)], INK, 2)?;
        self.text(right, bottom + LINE + LINE / 2, &x.title, HPos::Right, TEXT)
    }

    fn legend(&self, entries: &[(String, Style)]) -> Result<()> {
        let top = self.top + self.height + 2 * LINE + 16;
        for (nth, (name, style)) in entries.iter().enumerate() {
            let x = 14 + (nth as i32 % 2) * (WIDTH / 2);
            let y = top + (nth as i32 / 2) * LINE + LINE / 2;
            if !style.dashes.is_empty() || entries.len() > 4 {
                self.dashed(&[(x, y), (x + 48, y)], style)?;
            }
            self.marker_at((x + 24, y), style)?;
            self.text(x + 58, y, name, HPos::Left, TEXT)?;
        }
        Ok(())
    }

    /// Where a place along the horizontal axis is drawn.
    fn x(&self, at: f64) -> i32 {
        self.left + (at.clamp(0.0, 1.0) * f64::from(self.width)).round() as i32
    }

    /// Where a place along the vertical axis is drawn.
    fn y(&self, at: f64) -> i32 {
        self.top + self.height - (at.clamp(0.0, 1.0) * f64::from(self.height)).round() as i32
    }

    /// A marker at a place of both axes, moved down by so many units.
    pub(super) fn marker(&self, x: f64, y: f64, down: i32, style: &Style) -> Result<()> {
        self.marker_at((self.x(x), self.y(y) + down), style)
    }

    /// A thin line from one place to another, moved down by so many units.
    pub(super) fn whisker(
        &self,
        from: f64,
        to: f64,
        y: f64,
        down: i32,
        style: &Style,
    ) -> Result<()> {
        let y = self.y(y) + down;
        self.line(&[(self.x(from), y), (self.x(to), y)], style.color, 2)
    }

    /// A bar from the horizontal axis up, at least a unit wide and, if it is above 0, high.
    pub(super) fn bar(&self, from: f64, to: f64, y: f64, style: &Style) -> Result<()> {
        if y <= 0.0 {
            return Ok(());
        }
        let bottom = self.top + self.height;
        let (left, right) = (self.x(from), self.x(to));
        let corners = [
            (left, self.y(y).min(bottom - 1)),
            (right.max(left + 1), bottom),
        ];
        let bar = Rectangle::new(corners, style.color.filled());
        self.area.draw(&bar).map_err(failed)
    }

    /// A curve with a marker at each point.
    pub(super) fn curve(&self, points: &[(f64, f64)], style: &Style) -> Result<()> {
        let points: Vec<(i32, i32)> = points
            .iter()
            .map(|(x, y)| (self.x(*x), self.y(*y)))
            .collect();
        self.dashed(&points, style)?;
        points
            .iter()
            .try_for_each(|point| self.marker_at(*point, style))
    }

    fn text(&self, x: i32, y: i32, text: &str, anchor: HPos, size: i32) -> Result<()> {
        let style = ("sans-serif", size)
            .into_font()
            .color(&INK)
            .pos(Pos::new(anchor, VPos::Center));
        self.area
            .draw(&Text::new(text.to_string(), (x, y), style))
            .map_err(failed)
    }

    fn line(&self, points: &[(i32, i32)], color: RGBColor, width: u32) -> Result<()> {
        let path = PathElement::new(points.to_vec(), color.stroke_width(width));
        self.area.draw(&path).map_err(failed)
    }

    /// A line of dashes: the backend draws whole ones only.
    fn dashed(&self, points: &[(i32, i32)], style: &Style) -> Result<()> {
        if style.dashes.is_empty() {
            return self.line(points, style.color, 2);
        }
        // How far into the pattern the last segment ended.
        let mut offset = 0.0;
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
            let length = dx.hypot(dy);
            for (start, end) in dashes(style.dashes, offset, length) {
                let at = |along: f64| {
                    let share = along / length;
                    let place = |from: i32, by: f64| from + (by * share).round() as i32;
                    (place(from.0, dx), place(from.1, dy))
                };
                self.line(&[at(start), at(end)], style.color, 2)?;
            }
            offset += length;
        }
        Ok(())
    }

    fn marker_at(&self, center: (i32, i32), style: &Style) -> Result<()> {
        const RADIUS: i32 = 7;
        let shape = match (style.filled, style.shape) {
            (_, Shape::Cross) => {
                let r = RADIUS - 1;
                let (x, y) = center;
                self.line(&[(x - r, y - r), (x + r, y + r)], style.color, 2)?;
                return self.line(&[(x - r, y + r), (x + r, y - r)], style.color, 2);
            }
            (true, _) => style.color.filled(),
            // See-through: what is beneath must not look as if it were not there.
            (false, _) => style.color.stroke_width(2),
        };
        if style.shape == Shape::Circle {
            self.area
                .draw(&Circle::new(center, RADIUS, shape))
                .map_err(failed)?;
            let rim = Circle::new(center, RADIUS, style.color.stroke_width(2));
            return self.area.draw(&rim).map_err(failed);
        }
        let mut corners = corners(style.shape, center, f64::from(RADIUS));
        if style.filled {
            let filled = Polygon::new(corners.clone(), shape);
            self.area.draw(&filled).map_err(failed)?;
        }
        corners.push(corners[0]);
        self.line(&corners, style.color, 2)
    }
}

/// The dashes of a segment, as start and end along it, in a pattern that began `offset` before.
fn dashes(pattern: &[f64], offset: f64, length: f64) -> Vec<(f64, f64)> {
    let period: f64 = pattern.iter().sum();
    let mut at = -(offset % period);
    let mut found = Vec::new();
    for (nth, step) in pattern.iter().cycle().enumerate() {
        if at >= length {
            break;
        }
        let (start, end) = (at.max(0.0), (at + step).min(length));
        if nth % 2 == 0 && end > start {
            found.push((start, end));
        }
        at += step;
    }
    found
}

/// The corners of a shape around a centre.
fn corners(shape: Shape, (x, y): (i32, i32), radius: f64) -> Vec<(i32, i32)> {
    let place = |(across, up): (f64, f64)| {
        let scaled = |by: f64| (by * radius).round() as i32;
        (x + scaled(across), y - scaled(up))
    };
    outline(shape).into_iter().map(place).collect()
}

/// A shape's corners around 0, to the right and up, of such sizes that all look equally large.
fn outline(shape: Shape) -> Vec<(f64, f64)> {
    match shape {
        Shape::Square => around(4, 1.0, &[1.2]),
        Shape::Diamond => around(4, 0.0, &[1.35]),
        Shape::Triangle => around(3, 0.0, &[1.4]),
        Shape::TriangleDown => around(3, 4.0, &[1.4]),
        Shape::Star => around(10, 0.0, &[1.55, 0.65]),
        Shape::Plus => {
            const ARM: f64 = 1.25;
            const HALF: f64 = 0.4;
            let quarter = [(-HALF, ARM), (HALF, ARM), (HALF, HALF)];
            // Each quarter is the one before, turned to the right.
            let turned = |quarter: [(f64, f64); 3]| quarter.map(|(across, up)| (up, -across));
            std::iter::successors(Some(quarter), |before| Some(turned(*before)))
                .take(4)
                .flatten()
                .collect()
        }
        Shape::Circle | Shape::Cross => around(12, 0.0, &[1.0]),
    }
}

/// Corners evenly around 0, the first one `turn` eighths of a turn from the top, at these distances
/// in turn.
fn around(count: usize, turn: f64, distances: &[f64]) -> Vec<(f64, f64)> {
    let corner = |(nth, distance): (usize, &f64)| {
        let angle = std::f64::consts::TAU * (nth as f64 / count as f64 + turn / 8.0);
        (distance * angle.sin(), distance * angle.cos())
    };
    let distances = distances.iter().cycle().take(count);
    distances.enumerate().map(corner).collect()
}

/// Places on an axis that begins at 0 and ends at a round number not below `most`.
pub(super) fn linear(most: f64) -> (f64, Vec<f64>) {
    let step = step(most.max(f64::MIN_POSITIVE) / 5.0);
    let steps = (most / step).ceil().max(1.0);
    (
        steps * step,
        (0..=steps as u32).map(|n| f64::from(n) * step).collect(),
    )
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}

/// The powers of ten around values above 0: the exponents of the first and the last.
pub(super) fn decades(values: impl Iterator<Item = f64> + Clone) -> (i32, i32) {
    let positive = || values.clone().filter(|value| *value > 0.0);
    let low = positive().min_by(f64::total_cmp).unwrap_or(1.0);
    let high = positive().max_by(f64::total_cmp).unwrap_or(10.0);
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    (first, last.max(first + 1))
}

/// A value's place between two powers of ten.
pub(super) fn logarithmic(value: f64, (first, last): (i32, i32)) -> f64 {
    (value.log10() - f64::from(first)) / f64::from(last - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(linear(87.0).0, 100.0);
        assert_eq!(linear(0.0).1.len(), 2);
        assert_eq!(decades([26.0, 4_100.0].into_iter()), (1, 4));
        assert_eq!(decades([10.0].into_iter()), (1, 2));
        assert!((logarithmic(100.0, (1, 3)) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn neighbouring_lines_of_one_stroke_become_one_path() {
        let line = |stroke: &str, points: &str| {
            format!("<polyline fill=\"none\" stroke=\"{stroke}\" points=\"{points} \"/>\n")
        };
        let lines = line("#1", "0,0 1,1") + &line("#1", "2,2 3,3 4,4") + &line("#2", "5,5 6,6");
        let svg = format!(
            "<svg>\n{lines}<text>\na\n</text>\n{}</svg>\n",
            line("#2", "7,7 8,8")
        );
        assert_eq!(
            joined(&svg),
            "<svg>\n\
             <path fill=\"none\" stroke=\"#1\" d=\"M0,0 1,1M2,2 3,3 4,4\"/>\n\
             <path fill=\"none\" stroke=\"#2\" d=\"M5,5 6,6\"/>\n\
             <text>\na\n</text>\n\
             <path fill=\"none\" stroke=\"#2\" d=\"M7,7 8,8\"/>\n\
             </svg>\n"
        );
    }

    #[test]
    fn a_chart_holds_one_path_for_the_dashes_of_a_curve() {
        let style = Style {
            color: INK,
            dashes: &[4.0, 2.0],
            shape: Shape::Circle,
            filled: true,
        };
        let axis = Axis {
            title: String::new(),
            ticks: Vec::new(),
        };
        let places = [(0.0, 0.0), (1.0, 1.0)];
        let draw = |canvas: &Canvas| canvas.curve(&places, &style);
        let svg = chart("", &axis, &axis, 400, &[], draw).unwrap();
        assert!(!svg.contains("<polyline"), "{svg}");
        let paths = svg.lines().filter(|line| line.starts_with("<path"));
        let dashes = paths.map(|path| path.matches('M').count()).max();
        assert!(dashes > Some(50), "{svg}");
    }

    #[test]
    fn a_pattern_goes_on_over_the_corner_of_a_line() {
        assert_eq!(dashes(&[4.0, 2.0], 0.0, 10.0), [(0.0, 4.0), (6.0, 10.0)]);
        assert_eq!(dashes(&[4.0, 2.0], 5.0, 6.0), [(1.0, 5.0)]);
    }
}
