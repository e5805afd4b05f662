//! Times of the input in words, and their places along the axis of all times.

use windowpane_core::{Nanos, format_nanos};

use super::super::super::table::span;
use super::super::Report;

/// Later than this, nanoseconds are taken as counted from 1970: it is 1973.
const DATES_FROM: Nanos = 100_000_000_000_000_000;

/// A time of the input: a date in UTC to what a `width` tells, or what passed since its zero.
pub(in super::super::super) fn instant(time: Nanos, width: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let nanos = i128::from(time);
    match jiff::Timestamp::from_nanosecond(nanos) {
        Ok(instant) if time >= DATES_FROM => {
            let format = match width {
                w if w >= 86_400 * SECOND => "%Y-%m-%d",
                w if w >= 60 * SECOND => "%m-%d %H:%M",
                w if w >= SECOND => "%H:%M:%S",
                0 => "%Y-%m-%d %H:%M:%S UTC",
                _ => "%H:%M:%S%.3f",
            };
            instant.strftime(format).to_string()
        }
        _ => span(time),
    }
}

/// Places along the axis of all times.
pub(super) struct Scale {
    from: Nanos,
    length: f64,
    pub(super) width: u64,
}

impl Scale {
    pub(super) fn of(report: &Report) -> Scale {
        let width = report.timeline.width();
        let starts = || report.timeline.steps().map(|(at, _)| at);
        let from = starts().next().unwrap_or(0);
        let last = starts().last().unwrap_or(0);
        Scale {
            from,
            length: (last - from) as f64 + width as f64,
            width,
        }
    }

    fn at(&self, time: f64) -> f64 {
        ((time - self.from as f64) / self.length).clamp(0.0, 1.0)
    }

    /// From where to where a step of that width is.
    pub(super) fn step(&self, at: Nanos, width: u64) -> (f64, f64) {
        let at = at as f64;
        (self.at(at), self.at(at + width as f64))
    }

    /// A few labelled places.
    pub(super) fn labels(&self) -> Vec<(f64, String)> {
        let shares = [0.125, 0.5, 0.875];
        let label = |share: f64| {
            let time = self.from.saturating_add((self.length * share) as u64);
            // On a step's edge, so that the label says a round time.
            let time = time - time % self.width;
            (self.at(time as f64), instant(time, self.width))
        };
        let mut labels: Vec<(f64, String)> = shares.map(label).to_vec();
        labels.dedup_by(|a, b| a.1 == b.1);
        labels
    }
}

/// What each bar of the charts is.
pub(super) fn each(scale: &Scale) -> String {
    let utc = if scale.from >= DATES_FROM {
        "UTC; "
    } else {
        ""
    };
    format!("{utc}each bar is {}", width(scale.width))
}

/// A round width in words.
pub(super) fn width(width: u64) -> String {
    match (width / 1_000_000_000, width % 1_000_000_000) {
        (seconds, 0) if seconds.is_multiple_of(86_400) => format!("{} d", seconds / 86_400),
        (seconds, 0) if seconds.is_multiple_of(3_600) => format!("{} h", seconds / 3_600),
        (seconds, 0) if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        (seconds, 0) => format!("{seconds} s"),
        _ => format_nanos(width),
    }
}
