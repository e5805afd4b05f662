//! One word of a model checker.

use super::checker::{AtomicU64, Loads};
use crate::Ordering;

/// The model checker's atomic word, and what the checker forgets of it.
pub(super) struct Word {
    bits: AtomicU64,
    loads: Loads,
}

impl Word {
    pub(super) fn new(bits: u64) -> Word {
        Word {
            bits: AtomicU64::new(bits),
            loads: Loads::new(),
        }
    }

    pub(super) fn load(&self, order: Ordering) -> u64 {
        let found = self.bits.load(order);
        self.loads.after_load();
        found
    }

    pub(super) fn store(&self, value: u64, order: Ordering) {
        self.change(|bits| bits.store(value, order));
    }

    pub(super) fn fetch_add(&self, by: u64, order: Ordering) -> u64 {
        self.change(|bits| bits.fetch_add(by, order))
    }

    pub(super) fn fetch_max(&self, other: u64, order: Ordering) -> u64 {
        self.change(|bits| bits.fetch_max(other, order))
    }

    pub(super) fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.change(|bits| bits.compare_exchange(current, new, success, failure))
    }

    fn change<R>(&self, change: impl FnOnce(&AtomicU64) -> R) -> R {
        let answer = change(&self.bits);
        self.loads.after_exchange();
        answer
    }
}
