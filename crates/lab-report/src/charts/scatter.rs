//! The picture that separates the limiters: cost under contention against what is served beside an
//! exact log, memory as size, a name at each point.

use super::svg::{Scale, Svg, TEXT, WIDTH, Whose, width};

const LEFT: f64 = 62.0;
const TOP: f64 = 40.0;
const HEIGHT: f64 = 330.0;

/// One limiter.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) name: String,
    pub(crate) whose: Whose,
    /// Nanoseconds of the threads' time a decision.
    pub(crate) cost: f64,
    /// The least and the most that it served beside the exact log, in percent.
    pub(crate) served: (f64, f64),
    /// Bytes of one key; the size of the mark.
    pub(crate) bytes: u64,
}

/// A box on the sheet: left, top, right, bottom.
type Area = (f64, f64, f64, f64);

fn touch(a: &Area, b: &Area) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// Returns the SVG.
pub(crate) fn draw(x_title: &str, points: &[Point]) -> String {
    let mut svg = Svg::new(TOP + HEIGHT + 62.0);
    let ends = |point: &Point| [point.served.0, point.served.1];
    let x = Scale::decades(
        points
            .iter()
            .flat_map(|point| [point.cost * 0.8, point.cost * 1.3]),
    );
    let y = Scale::both(points.iter().flat_map(ends).map(|served| served * 1.3));
    let right = WIDTH - 30.0;
    let at_x = |value: f64| LEFT + x.place(value) * (right - LEFT);
    let at_y = |value: f64| TOP + (1.0 - y.place(value)) * HEIGHT;
    svg.text(
        12.0,
        22.0,
        "start",
        "served beside an exact log, %: the range over traffics",
    );
    for (at, label) in y.ticks() {
        let at = TOP + (1.0 - at) * HEIGHT;
        svg.line((LEFT, at), (right, at), label != "0");
        let sign = if label.starts_with('-') || label == "0" {
            ""
        } else {
            "+"
        };
        svg.text(
            LEFT - 8.0,
            at + 6.0,
            "end",
            &format!("{sign}{label}").replace('-', "−"),
        );
    }
    for (at, label) in x.ticks() {
        let at = LEFT + at * (right - LEFT);
        svg.line((at, TOP), (at, TOP + HEIGHT), true);
        svg.text(at, TOP + HEIGHT + 22.0, "middle", &label);
    }
    svg.text(right, TOP + HEIGHT + 48.0, "end", x_title);
    // The mark stands at the end that is farther from the exact log.
    let place = |point: &Point| {
        let (least, most) = point.served;
        let far = if most.abs() >= least.abs() {
            most
        } else {
            least
        };
        (at_x(point.cost), at_y(far))
    };
    let size = |point: &Point| 3.0 + 1.6 * (point.bytes.max(16) as f64 / 16.0).log10();
    let mut taken: Vec<Area> = Vec::new();
    for point in points {
        let ((px, py), s) = (place(point), size(point) + 2.0);
        taken.push((px - s, py - s, px + s, py + s));
    }
    // Lines are avoided where there is room.
    let lines: Vec<Area> = points
        .iter()
        .map(|point| {
            let x = at_x(point.cost);
            (x - 2.0, at_y(point.served.1), x + 2.0, at_y(point.served.0))
        })
        .collect();
    for point in points {
        let (px, _) = place(point);
        svg.range(
            (px, at_y(point.served.0)),
            (px, at_y(point.served.1)),
            point.whose,
        );
    }
    for point in points {
        let ((px, py), s) = (place(point), size(point));
        svg.mark(px, py, s, 0, point.whose);
        let wide = width(&point.name);
        let offsets = (0..14).flat_map(|step| {
            let down = f64::from(step / 2) * (TEXT + 3.0) * if step % 2 == 0 { 1.0 } else { -1.0 };
            [(s + 6.0, down), (-s - 6.0 - wide, down)]
        });
        let area = |(dx, dy): (f64, f64)| {
            let (left, top) = (px + dx, py + dy - TEXT * 0.6);
            (left, top, left + wide, top + TEXT * 1.1)
        };
        let is_free = |offset: &(f64, f64)| {
            let area = area(*offset);
            let inside =
                area.0 > LEFT && area.2 < right && area.1 > TOP - 12.0 && area.3 < TOP + HEIGHT;
            inside && !taken.iter().any(|other| touch(other, &area))
        };
        let crossed = |offset: &(f64, f64)| {
            let area = area(*offset);
            lines.iter().filter(|line| touch(line, &area)).count()
        };
        // Near the point first, over as few lines as there.
        let near = offsets.clone().take(8).filter(is_free);
        let offset = near
            .min_by_key(crossed)
            .or_else(|| offsets.clone().find(is_free));
        let offset = offset.unwrap_or((s + 6.0, 0.0));
        let area = area(offset);
        if offset.1.abs() > 1.0 {
            let end = if offset.0 > 0.0 {
                area.0 - 2.0
            } else {
                area.2 + 2.0
            };
            svg.line((px, py), (end, py + offset.1), false);
        }
        svg.text(area.0, py + offset.1 + 6.0, "start", &point.name);
        taken.push(area);
    }
    svg.document()
}
