//! A small writer of SVG, and scales. Colours are those that a page replaces by its own.

use std::fmt::Write;

use windowpane_lab_ground::figures::tick;

/// Units of a chart's width. A phone shows each at about 0.6 of a pixel.
pub(super) const WIDTH: f64 = 640.0;
/// Height of letters: on a phone still more than ten pixels.
pub(super) const TEXT: f64 = 17.0;
const INK: &str = "#141414";
const GRID: &str = "#CDCDCD";

/// Whose a mark is: its colour. Ours are filled, others hollow, so that print needs no colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Ours,
    Rival,
    Floor,
}

impl Whose {
    pub(crate) fn of(origin: &str) -> Whose {
        match origin {
            "ours" => Whose::Ours,
            "floor" => Whose::Floor,
            _ => Whose::Rival,
        }
    }

    fn color(self) -> &'static str {
        match self {
            Whose::Ours => "#004488",
            Whose::Rival => "#BB5500",
            Whose::Floor => "#6E6E6E",
        }
    }
}

/// An SVG that is being written.
pub(super) struct Svg {
    body: String,
    height: f64,
}

impl Svg {
    pub(super) fn new(height: f64) -> Svg {
        let body = String::new();
        Svg { body, height }
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = maud::html! { (text) }.into_string();
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-family="sans-serif" font-size="{TEXT}" fill="{INK}">{text}</text>"#
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), is_grid: bool) {
        let color = if is_grid { GRID } else { INK };
        let _ = writeln!(
            self.body,
            r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="{color}" fill="none"/>"#,
            from.0, from.1, to.0, to.1
        );
    }

    /// A thick line: a range.
    pub(super) fn range(&mut self, from: (f64, f64), to: (f64, f64), whose: Whose) {
        let _ = writeln!(
            self.body,
            r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="{}" stroke-width="2" fill="none"/>"#,
            from.0,
            from.1,
            to.0,
            to.1,
            whose.color()
        );
    }

    /// A filled bar between two corners.
    pub(super) fn bar(&mut self, from: (f64, f64), to: (f64, f64), whose: Whose) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="{}"/>"#,
            from.0,
            from.1,
            (to.0 - from.0).max(1.0),
            (to.1 - from.1).max(1.0),
            whose.color()
        );
    }

    /// A mark of the shape of a series: circle, square, triangle, diamond in turn.
    pub(super) fn mark(&mut self, x: f64, y: f64, size: f64, nth: usize, whose: Whose) {
        let color = whose.color();
        let fill = if whose == Whose::Ours {
            color
        } else {
            "#FFFFFF"
        };
        let (s, t) = (size, size * 1.2);
        let path = match nth % 4 {
            0 => {
                let _ = writeln!(
                    self.body,
                    r#"<circle cx="{x:.1}" cy="{y:.1}" r="{s:.1}" fill="{fill}" stroke="{color}" stroke-width="2"/>"#
                );
                return;
            }
            1 => format!(
                "m{:.1} {:.1}h{:.1}v{:.1}h-{:.1}z",
                -s,
                -s,
                2.0 * s,
                2.0 * s,
                2.0 * s
            ),
            2 => format!("m0 {:.1}l{t:.1} {:.1}h-{:.1}z", -t, 2.0 * s, 2.0 * t),
            _ => format!("m0 {:.1}l{t:.1} {t:.1}l-{t:.1} {t:.1}l-{t:.1} -{t:.1}z", -t),
        };
        let _ = writeln!(
            self.body,
            r#"<path d="M{x:.1} {y:.1}{path}" fill="{fill}" stroke="{color}" stroke-width="2"/>"#
        );
    }

    /// The document.
    pub(super) fn document(&self) -> String {
        let height = self.height;
        format!(
            r##"<?xml version="1.0" encoding="UTF-8"?>
<svg width="{WIDTH}" height="{height:.0}" viewBox="0 0 {WIDTH} {height:.0}" xmlns="http://www.w3.org/2000/svg">
<rect width="{WIDTH}" height="{height:.0}" fill="#FFFFFF"/>
{}</svg>
"##,
            self.body
        )
    }
}

/// How wide a text is, roughly.
pub(super) fn width(text: &str) -> f64 {
    0.56 * TEXT * text.chars().count() as f64
}

/// A scale from values to 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scale {
    /// Logarithmic; of values above 0.
    Log { from: f64, to: f64 },
    /// Logarithmic either way from 0, linear within one of it.
    Both { from: f64, to: f64 },
    /// In equal steps from 0.
    Linear { to: f64, step: f64 },
}

impl Scale {
    /// Whole decades around these values.
    pub(crate) fn decades(values: impl Iterator<Item = f64>) -> Scale {
        let (from, to) = ends(values.filter(|value| *value > 0.0), (1.0, 10.0));
        let to = to.log10().ceil().max(from.log10().floor() + 1.0);
        Scale::Log {
            from: 10_f64.powf(from.log10().floor()),
            to: 10_f64.powf(to),
        }
    }

    /// Just around these values.
    pub(crate) fn tight(values: impl Iterator<Item = f64>) -> Scale {
        let (from, to) = ends(values.filter(|value| *value > 0.0), (1.0, 10.0));
        Scale::Log {
            from: from * 0.6,
            to: to * 1.7,
        }
    }

    /// From 0 on, in equal steps, to a round value.
    pub(crate) fn linear(most: f64) -> Scale {
        let power = 10_f64.powf((most / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|by| by * power);
        let step = step.into_iter().find(|step| step * 5.0 >= most * 0.999);
        let step = step.unwrap_or(10.0 * power);
        Scale::Linear {
            to: (most / step * 0.999).ceil() * step,
            step,
        }
    }

    /// Both sides of 0.
    pub(crate) fn both(values: impl Iterator<Item = f64>) -> Scale {
        let (from, to) = ends(values.chain([-1.0, 1.0]), (-1.0, 1.0));
        Scale::Both { from, to }
    }

    pub(super) fn place(self, value: f64) -> f64 {
        let (of, from, to): (fn(f64) -> f64, f64, f64) = match self {
            Scale::Log { from, to } => (f64::log10, from, to),
            Scale::Both { from, to } => (|v| v.signum() * (1.0 + v.abs()).log10(), from, to),
            Scale::Linear { to, .. } => (|v| v, 0.0, to),
        };
        ((of(value) - of(from)) / (of(to) - of(from))).clamp(0.0, 1.0)
    }

    /// Labelled values.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        let values: Vec<f64> = match self {
            Scale::Log { from, to } => {
                let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
                // Few decades have more labels.
                let within: &[f64] = if last - first <= 2 {
                    &[1.0, 2.0, 5.0]
                } else {
                    &[1.0]
                };
                let step = 1 + ((last - first) / 7) as usize;
                let of = |decade: i32| within.iter().map(move |v| v * 10_f64.powi(decade));
                (first..=last).step_by(step).flat_map(of).collect()
            }
            Scale::Linear { to, step } => (0..=(to / step).round() as u32)
                .map(|nth| f64::from(nth) * step)
                .collect(),
            Scale::Both { .. } => vec![-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0],
        };
        let (from, to) = match self {
            Scale::Log { from, to } | Scale::Both { from, to } => {
                (from - from.abs() * 1e-6, to * 1.000_001)
            }
            Scale::Linear { to, .. } => (0.0, to * 1.000_001),
        };
        let values = values
            .into_iter()
            .filter(|value| (from..=to).contains(value));
        values
            .map(|value| (self.place(value), short(value)))
            .collect()
    }
}

fn ends(values: impl Iterator<Item = f64>, none: (f64, f64)) -> (f64, f64) {
    let fold = |ends: Option<(f64, f64)>, value: f64| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    };
    values.fold(None, fold).unwrap_or(none)
}

/// A tick with the letter of its thousands: `10k`.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e9 => tick(value / 1e9) + "G",
        v if v >= 1e6 => tick(value / 1e6) + "M",
        v if v >= 1e4 => tick(value / 1e3) + "k",
        _ => tick(value),
    }
}
