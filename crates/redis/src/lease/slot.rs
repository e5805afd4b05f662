//! The permits of one lease, which threads spend without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

use windowpane_core::Nanos;

/// The most permits of a lease.
pub(super) const MOST: u64 = (1 << PERMITS) - 1;

/// The bits of the word that hold the permits. The others hold the end in milliseconds: 34 years.
const PERMITS: u32 = 24;

const MILLI: Nanos = 1_000_000;

/// What is left of a lease and when it ends, in one word: a change of both is one event, so no
/// permit of one lease is spent as one of another.
#[derive(Debug, Default)]
pub(super) struct Slot(AtomicU64);

impl Slot {
    /// Publishes a lease that ends at `end`, rounded down to a millisecond.
    pub(super) fn open(&self, end: Nanos, permits: u64) {
        debug_assert!(permits <= MOST);
        // A time beyond the bits is an end too early.
        let end = (end / MILLI).min(u64::MAX >> PERMITS);
        self.0.store(end << PERMITS | permits, Ordering::Release);
    }

    /// Takes `cost` permits, read at `now`. The caller reads its clock again afterwards and does not
    /// use the permits if the lease [`ended`](Self::take) meanwhile: it returns the end.
    pub(super) fn take(&self, now: Nanos, cost: u64) -> Option<Nanos> {
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            let (end, permits) = ((word >> PERMITS) * MILLI, word & MOST);
            if now >= end || permits < cost {
                return None;
            }
            let taken = word - cost;
            let swapped =
                self.0
                    .compare_exchange_weak(word, taken, Ordering::AcqRel, Ordering::Acquire);
            match swapped {
                Ok(_) => return Some(end),
                Err(current) => word = current,
            }
        }
    }

    /// Ends the lease and returns the permits that nobody can spend any more.
    pub(super) fn close(&self) -> u64 {
        self.0.swap(0, Ordering::AcqRel) & MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_spent_until_the_end_and_once() {
        let slot = Slot::default();
        assert_eq!(slot.take(0, 1), None);
        slot.open(10 * MILLI + 999, 3);
        assert_eq!(slot.take(9 * MILLI, 2), Some(10 * MILLI));
        assert_eq!(slot.take(9 * MILLI, 2), None);
        assert_eq!(slot.take(10 * MILLI, 1), None, "it has ended");
        assert_eq!((slot.close(), slot.close()), (1, 0));
        assert_eq!(slot.take(9 * MILLI, 1), None);
        slot.open(u64::MAX, MOST);
        assert_eq!(slot.close(), MOST);
    }

    #[test]
    fn threads_spend_each_permit_once() {
        let slot = Slot::default();
        slot.open(10 * MILLI, 10_000);
        let spend = || (0..6_000).filter(|_| slot.take(0, 1).is_some()).count();
        let spent: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(spend)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(spent, 10_000);
        assert_eq!(slot.close(), 0);
    }
}
