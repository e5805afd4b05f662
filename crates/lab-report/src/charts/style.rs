//! How contestants are told apart.

use plotters::style::RGBColor;

/// Ours: dark blue.
const OURS: RGBColor = RGBColor(0, 68, 136);
/// Rivals: dark orange; lighter than the blue in grey, too.
const RIVAL: RGBColor = RGBColor(187, 85, 0);
/// The floor: grey.
const FLOOR: RGBColor = RGBColor(110, 110, 110);

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    TriangleDown,
    Star,
    Plus,
    Cross,
}

const SHAPES: [Shape; 7] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::TriangleDown,
    Shape::Star,
    Shape::Plus,
];

/// Lengths of dashes and gaps in turn; none for a whole line.
const DASHES: [&[f64]; 4] = [&[], &[9.0, 5.0], &[3.0, 4.0], &[12.0, 4.0, 3.0, 4.0]];

/// How one contestant looks in every chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) color: RGBColor,
    pub(super) shape: Shape,
    pub(super) filled: bool,
    pub(super) dashes: &'static [f64],
}

/// The next style of an origin; `seen` counts ours and rivals before.
pub(super) fn style(origin: &str, seen: &mut [usize; 2]) -> Style {
    if origin == "floor" {
        return Style {
            color: FLOOR,
            shape: Shape::Cross,
            filled: false,
            dashes: DASHES[2],
        };
    }
    let ours = origin == "ours";
    let nth = seen[usize::from(ours)];
    seen[usize::from(ours)] += 1;
    Style {
        color: if ours { OURS } else { RIVAL },
        shape: SHAPES[nth % SHAPES.len()],
        filled: ours,
        dashes: DASHES[nth % DASHES.len()],
    }
}

/// Filled bars of this colour.
const fn bars(color: RGBColor) -> Style {
    Style {
        color,
        shape: Shape::Square,
        filled: true,
        dashes: DASHES[0],
    }
}

/// Bars of all there is.
pub(super) const ALL_BARS: Style = bars(FLOOR);
/// Bars of what is denied.
pub(super) const DENIED_BARS: Style = bars(RIVAL);
/// Bars of what differs from the oracle.
pub(super) const DIFFER_BARS: Style = bars(OURS);
