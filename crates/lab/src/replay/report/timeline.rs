//! Counts by time, in a bounded number of steps: when the times span more, neighbours are merged.

use std::collections::BTreeMap;

use windowpane_core::Nanos;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The widths of a step. Each is a multiple of the one before, so that whole steps are merged, and
/// people have words for them. The last one holds all times there are in one step or two.
const WIDTHS: [u64; 40] = [
    1,
    2,
    10,
    20,
    100,
    200,
    1_000,
    2_000,
    10_000,
    20_000,
    100_000,
    200_000,
    1_000_000,
    2_000_000,
    10_000_000,
    20_000_000,
    100_000_000,
    200_000_000,
    SECOND,
    2 * SECOND,
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    10 * DAY,
    30 * DAY,
    60 * DAY,
    300 * DAY,
    600 * DAY,
    3_000 * DAY,
    30_000 * DAY,
    150_000 * DAY,
];

/// The place of the narrowest width of which so many steps cover a span.
pub(super) fn rung_of(span: u64, steps: usize) -> usize {
    let covers = |width: &u64| width.saturating_mul(steps as u64) >= span;
    WIDTHS.iter().position(covers).unwrap_or(WIDTHS.len() - 1)
}

/// What two steps have together.
pub(in super::super) trait Merge: Default {
    /// Adds another step's.
    fn merge(&mut self, other: &Self);
}

impl Merge for u64 {
    fn merge(&mut self, other: &u64) {
        *self += other;
    }
}

/// Steps of equal width, beginning at multiples of it. Those in which nothing happened are not
/// kept.
#[derive(Clone, Debug)]
pub(in super::super) struct Timeline<T> {
    /// At most so many from the first to the last.
    most: u64,
    /// The index of the width.
    rung: usize,
    steps: BTreeMap<u64, T>,
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Timeline {
            most: 2,
            rung: 0,
            steps: BTreeMap::new(),
        }
    }
}

impl<T: Merge> Timeline<T> {
    /// Nothing counted; at least two steps are kept.
    pub(super) fn new(most: usize) -> Timeline<T> {
        Timeline {
            most: (most as u64).max(2),
            ..Timeline::default()
        }
    }

    /// Nothing counted, in steps of at least an hour.
    pub(in super::super) fn by_hours(most: usize) -> Timeline<T> {
        let mut timeline = Timeline::new(most);
        timeline.rung = WIDTHS.iter().position(|width| *width == HOUR).unwrap_or(0);
        timeline
    }

    /// The step of a time, made wide enough before. Amortized O(log steps).
    pub(in super::super) fn at(&mut self, time: Nanos) -> &mut T {
        while self.span_with(time) > self.most && self.rung + 1 < WIDTHS.len() {
            self.widen(self.rung + 1);
        }
        self.steps.entry(time / self.width()).or_default()
    }

    /// How many steps there would be from the first to the last with one at this time.
    fn span_with(&self, time: Nanos) -> u64 {
        let step = time / self.width();
        let first = self.steps.keys().next().map_or(step, |first| *first);
        let last = self.steps.keys().next_back().map_or(step, |last| *last);
        (last.max(step) - first.min(step)).saturating_add(1)
    }

    /// Merges neighbours until steps have the width of that place; nothing if they are as wide.
    pub(super) fn widen(&mut self, rung: usize) {
        if rung <= self.rung {
            return;
        }
        let factor = WIDTHS[rung] / self.width();
        self.rung = rung;
        for (step, counted) in std::mem::take(&mut self.steps) {
            self.steps.entry(step / factor).or_default().merge(&counted);
        }
    }

    /// The place of the width among all widths.
    pub(super) fn rung(&self) -> usize {
        self.rung
    }

    /// Of each step, in nanoseconds.
    pub(in super::super) fn width(&self) -> u64 {
        WIDTHS[self.rung]
    }

    /// When each step begins, and what happened in it; in the order of time.
    pub(in super::super) fn steps(&self) -> impl Iterator<Item = (Nanos, &T)> {
        let width = self.width();
        self.steps
            .iter()
            .map(move |(step, counted)| (step * width, counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_width_is_a_multiple_of_the_one_before() {
        for pair in WIDTHS.windows(2) {
            assert!(
                pair[1] > pair[0] && pair[1].is_multiple_of(pair[0]),
                "{pair:?}"
            );
        }
        assert!(u64::MAX / WIDTHS[WIDTHS.len() - 1] < 2);
    }

    #[test]
    fn a_long_input_has_few_steps_and_every_request_is_in_one() {
        let mut timeline = Timeline::<u64>::new(50);
        let mut sums = BTreeMap::new();
        let mut time = 1_700_000_000 * SECOND;
        for nth in 0..100_000_u64 {
            // Ever longer gaps, and now and then a step back.
            time += nth * 10_007;
            let time = time - (nth % 7) * 5_000;
            *timeline.at(time) += 1;
            *sums.entry(time).or_insert(0_u64) += 1;
        }
        let steps: Vec<(u64, u64)> = timeline.steps().map(|(at, count)| (at, *count)).collect();
        assert!((10..=50).contains(&steps.len()), "{}", steps.len());
        let width = timeline.width();
        for (at, count) in steps {
            let expected: u64 = sums.range(at..at + width).map(|(_, count)| count).sum();
            assert_eq!(count, expected, "at {at}");
        }
    }

    #[test]
    fn the_whole_range_of_times_fits() {
        let mut timeline = Timeline::<u64>::new(2);
        for time in [u64::MAX, 0, u64::MAX / 2] {
            *timeline.at(time) += 1;
        }
        assert_eq!(timeline.steps().map(|(_, count)| count).sum::<u64>(), 3);
        assert!(timeline.steps().count() <= 2);
    }
}
