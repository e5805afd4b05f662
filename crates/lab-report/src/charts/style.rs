//! How contestants are told apart.

use plotters::style::RGBColor;
use windowpane_lab_measure::rows::ContestantRow;

use super::super::run::Run;

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

/// The style of each contestant of a run, in its order.
pub(super) fn styles(run: &Run) -> Vec<(&ContestantRow, Style)> {
    let mut seen = [0; 2];
    run.contestants
        .iter()
        .map(|who| (who, style(&who.origin, &mut seen)))
        .collect()
}

/// The style of each store of many keys of a run, in its order.
pub(super) fn keyed_styles(run: &Run) -> Vec<(&str, Style)> {
    let mut seen = [0; 2];
    run.keyed_contestants
        .iter()
        .map(|who| (who.contestant.as_str(), style(&who.origin, &mut seen)))
        .collect()
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

/// The style of a number of threads: hollow where there are more than cores.
pub(super) fn of_threads(nth: usize, oversubscribed: bool) -> Style {
    Style {
        color: RGBColor(0, 0, 0),
        shape: SHAPES[nth % SHAPES.len()],
        filled: !oversubscribed,
        dashes: DASHES[0],
    }
}
