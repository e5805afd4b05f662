//! What happened when: bars by steps of time.

use anyhow::Result;
use windowpane_lab_ground::figures::thousands;

use super::svg::{Svg, TEXT, WIDTH, Whose, width};

/// Height of the plot.
const HEIGHT: f64 = 150.0;
const TOP: f64 = 62.0;

/// What a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    /// All requests, and in front of them those that were denied.
    Denied,
    /// The decisions that differ from the oracle's.
    Differ,
}

/// One step of time: where it begins and ends along the axis, from 0 to 1, and its counts.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// All requests.
    pub all: u64,
    /// Those that are meant.
    pub of_them: u64,
}

/// Draws the chart; `times` are the labels of the horizontal axis, `each` says what a bar is.
///
/// # Errors
/// None so far; callers are ready for one.
pub fn draw(
    title: &str,
    bars: Bars,
    steps: &[Step],
    times: Vec<(f64, String)>,
    each: String,
) -> Result<String> {
    let is_denied = bars == Bars::Denied;
    let shown = |step: &Step| if is_denied { step.all } else { step.of_them };
    let most = steps.iter().map(shown).max().unwrap_or(0).max(1);
    let step = whole_step(most);
    let end = most.div_ceil(step) * step;
    let left = 22.0 + width(&thousands(end));
    let right = WIDTH - 30.0;
    let bottom = TOP + HEIGHT;
    let mut svg = Svg::new(bottom + 58.0);
    svg.text(12.0, 22.0, "start", title);
    let y_title = match bars {
        Bars::Denied => "requests (grey), and denied of them",
        Bars::Differ => "decisions that differ from the oracle's",
    };
    svg.text(12.0, 48.0, "start", y_title);
    let x = |place: f64| left + place.clamp(0.0, 1.0) * (right - left);
    let y = |count: u64| bottom - count as f64 / end as f64 * HEIGHT;
    for count in (0..=end).step_by(step as usize) {
        svg.line((left, y(count)), (right, y(count)), true);
        svg.text(left - 8.0, y(count) + TEXT / 3.0, "end", &thousands(count));
    }
    for step in steps {
        let mut bar = |count: u64, whose: Whose| {
            if count > 0 {
                svg.bar((x(step.from), y(count)), (x(step.to), bottom), whose);
            }
        };
        if is_denied {
            bar(step.all, Whose::Floor);
        }
        bar(
            step.of_them,
            if is_denied { Whose::Rival } else { Whose::Ours },
        );
    }
    svg.line((left, bottom), (right, bottom), false);
    for (place, label) in &times {
        svg.text(x(*place), bottom + 22.0, "middle", label);
    }
    svg.text(right, bottom + 48.0, "end", &each);
    Ok(svg.document())
}

/// About a fifth of a count: 1, 2 or 5 times a power of ten.
fn whole_step(most: u64) -> u64 {
    let power = 10_u64.pow((most as f64 / 5.0).max(1.0).log10().floor() as u32);
    let factors = [1, 2, 5, 10].into_iter().map(|factor| factor * power);
    factors
        .into_iter()
        .find(|step| step * 5 >= most)
        .unwrap_or(10 * power)
}
