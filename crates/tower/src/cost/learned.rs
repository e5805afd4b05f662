//! An estimate that learns from what requests really cost.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::request::Parts;
use windowpane_core::Cost;

use super::{Learn, RequestCost};
use crate::key::{Extract, Extracted};

/// An estimate for each key, such as a user and a route, that learns from the costs settled so far.
///
/// It is the mean of the costs plus twice their mean deviation, each an average in which a new cost
/// weighs an eighth and a quarter. So it lies above most costs, and follows a change:
///
/// - If a key's requests cost `c` each from some time on, the distance of the mean from `c` shrinks by
///   an eighth with each, to less than 1 permit, and that of the deviation from 0 by a quarter.
/// - An estimate is never above three times the largest cost seen, the first estimate included.
/// - What a request costs beyond its estimate is charged when it is settled, or
///   [while it streams](crate::RateLimitBuilder::charge_while_streaming).
///
/// Memory is fixed: 8 bytes for each of `slots`. Keys that share a slot share an estimate; a key that
/// is new begins with that of its slot. A cost above 268,435,455 is learned as that.
pub struct LearnedCost<E> {
    key: E,
    first: Cost,
    slots: Arc<[AtomicU64]>,
    hasher: RandomState,
}

impl<E: Extract<Key: Hash>> LearnedCost<E> {
    /// Returns estimates for the keys that `key` finds, which begin with `first`. At least one slot is
    /// made.
    pub fn new(key: E, first: Cost, slots: usize) -> LearnedCost<E> {
        let start = Learned::starting_at(first).packed();
        LearnedCost {
            key,
            first,
            slots: (0..slots.max(1)).map(|_| AtomicU64::new(start)).collect(),
            hasher: RandomState::new(),
        }
    }

    fn slot(&self, request: &Parts) -> Option<usize> {
        match self.key.extract(request) {
            Extracted::Key(key) => {
                Some((self.hasher.hash_one(key) % self.slots.len() as u64) as usize)
            }
            _ => None,
        }
    }
}

impl<E: Extract<Key: Hash>> RequestCost for LearnedCost<E> {
    fn cost(&self, request: &Parts) -> Cost {
        let Some(slot) = self.slot(request) else {
            return self.first;
        };
        // Relaxed, here and below: one word, and nothing else is published by it.
        Learned::unpacked(self.slots[slot].load(Ordering::Relaxed)).estimate()
    }

    fn learn(&self, request: &Parts) -> Option<Learn> {
        let slot = self.slot(request)?;
        let slots = Arc::clone(&self.slots);
        Some(Box::new(move |actual| {
            let learn = |word| Some(Learned::unpacked(word).after(actual).packed());
            let _ = slots[slot].fetch_update(Ordering::Relaxed, Ordering::Relaxed, learn);
        }))
    }
}

impl<E> fmt::Debug for LearnedCost<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearnedCost")
            .field("first", &self.first)
            .field("slots", &self.slots.len())
            .finish_non_exhaustive()
    }
}

/// The largest cost that is learned: eight times it fits half a word.
const MOST: u64 = (1 << 28) - 1;

/// The averages, in eighths and quarters of a permit.
#[derive(Clone, Copy, Debug)]
struct Learned {
    mean_by_8: u64,
    deviation_by_4: u64,
}

impl Learned {
    fn starting_at(first: Cost) -> Learned {
        Learned {
            mean_by_8: 8 * first.get().min(MOST),
            deviation_by_4: 0,
        }
    }

    fn unpacked(word: u64) -> Learned {
        Learned {
            mean_by_8: word >> 32,
            deviation_by_4: word & u64::from(u32::MAX),
        }
    }

    fn packed(self) -> u64 {
        self.mean_by_8 << 32 | self.deviation_by_4
    }

    fn estimate(self) -> Cost {
        let permits = self.mean_by_8.div_ceil(8) + self.deviation_by_4 / 2;
        Cost::new(permits).unwrap_or(Cost::ONE)
    }

    fn after(self, actual: u64) -> Learned {
        let actual = actual.min(MOST);
        let mean = self.mean_by_8 / 8;
        Learned {
            mean_by_8: self.mean_by_8 - mean + actual,
            deviation_by_4: self.deviation_by_4 - self.deviation_by_4.div_ceil(4)
                + actual.abs_diff(mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(first: u64, costs: impl IntoIterator<Item = u64>) -> u64 {
        let learned = Learned::starting_at(Cost::new(first).unwrap());
        let learned = costs.into_iter().fold(learned, Learned::after);
        assert_eq!(
            Learned::unpacked(learned.packed()).estimate(),
            learned.estimate()
        );
        learned.estimate().get()
    }

    #[test]
    fn estimate_converges_to_a_constant_cost() {
        for (first, cost) in [(1, 1_110), (5_000, 3), (1, 1), (7, 0), (1, u64::MAX)] {
            let expected = cost.clamp(1, MOST);
            let estimate = after(first, [cost; 200]);
            assert!(
                estimate.abs_diff(expected) <= 2,
                "{first} {cost}: {estimate}"
            );
        }
    }

    #[test]
    fn estimate_lies_above_most_costs() {
        let costs = (0..400).map(|turn| 100 + 37 * turn % 200);
        let estimate = after(1, costs.clone());
        let below = costs.skip(200).filter(|cost| *cost <= estimate).count();
        assert!(below >= 190, "{below} of 200 below {estimate}");
    }

    proptest! {
        #[test]
        fn estimate_is_at_most_three_times_the_largest_cost(
            first in 1..=MOST,
            costs in proptest::collection::vec(0..=2 * MOST, 0..40),
        ) {
            let most = costs.iter().copied().chain([first]).max().unwrap().min(MOST);
            prop_assert!(after(first, costs) <= 3 * most);
        }
    }
}
