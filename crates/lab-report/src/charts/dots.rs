//! Dots on a logarithmic axis: a row a limiter, named at its row; panels side by side.

use super::svg::{Scale, Svg, WIDTH, Whose, width};

const ROW: f64 = 27.0;
const TOP: f64 = 64.0;

/// One dot of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    /// The panel, from 0.
    pub(crate) panel: usize,
    /// The series, from 0: its shape.
    pub(crate) series: usize,
    /// Its value. What is not above 0 stands at the left edge of a logarithmic axis.
    pub(crate) value: f64,
}

/// A chart of dots.
#[derive(Clone, Debug)]
pub(crate) struct Dots {
    /// What the axis shows, with its unit.
    pub(crate) axis: String,
    /// The titles of the panels.
    pub(crate) panels: Vec<String>,
    /// The names of the series, for the legend; of one there is none.
    pub(crate) series: Vec<String>,
    /// The rows: the name, whose it is, its dots.
    pub(crate) rows: Vec<(String, Whose, Vec<Dot>)>,
    /// Whether values lie on both sides of 0.
    pub(crate) both_ways: bool,
}

impl Dots {
    /// Returns the SVG.
    pub(crate) fn draw(&self) -> String {
        let values = || {
            self.rows
                .iter()
                .flat_map(|(_, _, dots)| dots)
                .map(|dot| dot.value)
        };
        let scale = match self.both_ways {
            true => Scale::both(values()),
            false => Scale::tight(values()),
        };
        let left = 14.0
            + self
                .rows
                .iter()
                .map(|(name, ..)| width(name))
                .fold(0.0, f64::max);
        let gap = 26.0;
        let panels = self.panels.len().max(1) as f64;
        let each = (WIDTH - left - 16.0 - gap * panels) / panels;
        let bottom = TOP + ROW * self.rows.len() as f64;
        let legend = if self.series.len() > 1 { 34.0 } else { 0.0 };
        let mut svg = Svg::new(bottom + 56.0 + legend);
        svg.text(12.0, 22.0, "start", &self.axis);
        let x = |panel: usize| left + gap * (panel as f64 + 0.7) + each * panel as f64;
        for (panel, title) in self.panels.iter().enumerate() {
            svg.text(x(panel), 50.0, "start", title);
            let mut free = 0.0;
            for (at, label) in scale.ticks() {
                let label = label.replace('-', "−");
                let at = x(panel) + at * each;
                svg.line((at, TOP - 6.0), (at, bottom), true);
                // Labels that would touch are left out.
                let half = width(&label) / 2.0;
                if at - half >= free && at + half <= WIDTH {
                    svg.text(at, bottom + 22.0, "middle", &label);
                    free = at + half + 6.0;
                }
            }
        }
        for (nth, (name, whose, dots)) in self.rows.iter().enumerate() {
            let y = TOP + ROW * (nth as f64 + 0.5);
            svg.text(left, y + 6.0, "end", name);
            for panel in 0..self.panels.len() {
                svg.line((x(panel), y), (x(panel) + each, y), true);
            }
            let count = self.series.len().max(1) as f64;
            for dot in dots {
                // A little apart, so that series of one value do not hide each other.
                let apart = (dot.series as f64 - (count - 1.0) / 2.0) * 3.0;
                let at = match (self.both_ways, dot.value > 0.0) {
                    (false, false) => -0.06,
                    _ => scale.place(dot.value),
                };
                svg.mark(x(dot.panel) + at * each, y + apart, 4.5, dot.series, *whose);
            }
        }
        if legend > 0.0 {
            let mut at = 20.0;
            for (nth, name) in self.series.iter().enumerate() {
                svg.mark(at, bottom + 58.0, 5.0, nth, Whose::Floor);
                svg.text(at + 12.0, bottom + 64.0, "start", name);
                at += 34.0 + width(name);
            }
        }
        svg.document()
    }
}
