//! The order of what holds a need: by what matters to the need, never by a difference that is not
//! shown or does not matter.

use std::cell::RefCell;
use std::collections::BTreeMap;

use windowpane_lab_ground::comparison::{Comparison, Outcome};

use super::candidate::{Candidate, cell};
use super::need::{Accuracy, Need};
use crate::run::Run;

/// Bytes below which memory decides nothing.
pub const LEAST_BYTES: u64 = 1_000_000;
/// Of limiters that are alike in all else, the faster comes first from this ratio on.
pub const LEAST_RATIO: f64 = 1.25;
/// For this ratio a limiter comes first that has a lock.
pub const RATIO_FOR_A_LOCK: f64 = 2.0;

/// Returns the candidates in order: the best first, then what is best without it, and so on.
/// `candidates` come in the order of preference.
pub(super) fn rank(run: &Run, need: &Need, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut ranked = Vec::with_capacity(candidates.len());
    let ranking = Ranking {
        run,
        need,
        family: candidates.len().max(1),
        compared: RefCell::default(),
    };
    while let Some(best) = ranking.best(&candidates) {
        ranked.push(candidates.remove(best));
    }
    ranked
}

/// A ranking under way. The same two are compared again and again, and once measured.
struct Ranking<'a> {
    run: &'a Run,
    need: &'a Need,
    family: usize,
    compared: RefCell<BTreeMap<(String, String), Comparison>>,
}

/// Whether the need tolerates less than the most accurate that fits.
fn tolerates(need: &Need) -> bool {
    matches!(need.accuracy, Accuracy::NeverAbove | Accuracy::AtMost(_))
}

impl Ranking<'_> {
    fn best(&self, candidates: &[Candidate]) -> Option<usize> {
        let mut classes: Vec<u8> = candidates.iter().map(|one| one.class).collect();
        classes.sort_unstable();
        classes.dedup();
        if !tolerates(self.need) {
            classes.truncate(1);
        }
        let mut best: Option<usize> = None;
        for class in classes {
            let of_class = self.best_of(class, candidates);
            // A less exact class is taken only for the memory it saves: nanoseconds are not worth a
            // wrong decision.
            let gain =
                |before: usize, after: usize| saves_memory(&candidates[after], &candidates[before]);
            best = match (best, of_class) {
                (Some(before), Some(after)) if !gain(before, after) => Some(before),
                (before, after) => after.or(before),
            };
        }
        best
    }

    fn best_of(&self, class: u8, candidates: &[Candidate]) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (nth, one) in candidates.iter().enumerate() {
            let beats = |other: usize| {
                let other = &candidates[other];
                let ratio = match other.lock_free && !one.lock_free {
                    true => RATIO_FOR_A_LOCK,
                    false => LEAST_RATIO,
                };
                self.is_better(one, other, ratio)
            };
            if one.class == class && best.is_none_or(beats) {
                best = Some(nth);
            }
        }
        best
    }

    /// Whether `a` saves memory that matters over `b`, or time without costing such memory.
    fn is_better(&self, a: &Candidate, b: &Candidate, ratio: f64) -> bool {
        if saves_memory(a, b) {
            return true;
        }
        // Speed is measured at a cost of 1: of what slows down with the cost it says nothing.
        if saves_memory(b, a) || a.is_slowed_by_cost || self.need.machines > 1 {
            return false;
        }
        // What is far from that fast by its medians is not compared: a comparison takes time.
        let far = |(a, b): (f64, f64)| a < 0.9 * ratio * b;
        if a.figures
            .per_second
            .zip(b.figures.per_second)
            .is_some_and(far)
        {
            return false;
        }
        let mut known = self.compared.borrow_mut();
        let compared = known
            .entry((a.name().into(), b.name().into()))
            .or_insert_with(|| compared(self.run, self.need, self.family, a, b));
        compared.outcome == Outcome::Faster && compared.low >= ratio
    }
}

/// Whether `a` takes at most half of what `b` takes, and [`LEAST_BYTES`] less.
pub(super) fn saves_memory(a: &Candidate, b: &Candidate) -> bool {
    match (a.figures.bytes, b.figures.bytes) {
        (Some(a), Some(b)) => a.saturating_add(LEAST_BYTES.max(a)) <= b,
        _ => false,
    }
}

/// Compares the rates of two candidates in the cell of the need.
pub(super) fn compared(
    run: &Run,
    need: &Need,
    family: usize,
    a: &Candidate,
    b: &Candidate,
) -> Comparison {
    let cell = cell(run, need, need.threads);
    run.compared(a.name(), b.name(), cell, family)
}
