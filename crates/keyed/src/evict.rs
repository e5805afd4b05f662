//! Which keys may be forgotten, and free slots for others.

use std::hash::{BuildHasher, Hash};
use std::sync::atomic::Ordering;

use windowpane_core::one_word::REQUIRED_RANGE;
use windowpane_core::{Clock, Cost, Nanos, RateLimiter, RequestError};

use crate::limiter::{Entry, KeyedLimiter};
use crate::slots::Slot;

/// The most keys that one request examines to make room for its own.
pub const EXAMINED_A_CALL: u64 = 8;

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq,
    L: RateLimiter,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// Evicts all idle keys and returns their number.
    ///
    /// Each key is examined while its shard is locked for it alone, so no thread waits for longer than
    /// a decision takes. O(keys).
    pub fn sweep(&self) -> usize {
        self.sweep_while(&self.clock, || true)
    }

    /// [`sweep`](Self::sweep) at a time of the caller's own clock.
    pub fn sweep_at(&self, now: Nanos) -> usize {
        self.sweep_while(&crate::time::Given(now), || true)
    }

    /// A sweep that ends early when `go_on` says so.
    pub(crate) fn sweep_while<T: Clock>(&self, time: &T, go_on: impl Fn() -> bool) -> usize {
        let evicted = (0..self.slots.ever_taken())
            .take_while(|_| go_on())
            .filter_map(|slot| self.evict(slot, self.slots.hash_of(slot), time.now()));
        evicted.count()
    }

    /// Forgets all keys, idle or not, and the eviction watermark, at one instant.
    ///
    /// For a caller whose own clock once ran far ahead: by such a reading every key was idle, and the
    /// store reads the times of unknown keys as that one. Other calls wait while all shards are
    /// locked, O(shards); the keys are dropped after that, O(keys), and their slots are taken until
    /// then.
    pub fn clear(&self) {
        let forget_watermark = || self.floor.store(0, Ordering::Relaxed);
        for (key, entry) in self.shards.clear(forget_watermark) {
            // Before the caller's destructors, which may panic.
            drop(self.slots.regain(entry.slot));
            drop((key, entry));
        }
    }

    /// A slot for another key: a free one, or that of the first idle key among a few examined.
    pub(crate) fn room(&self, now: Nanos) -> Option<Slot<'_>> {
        if let Some(slot) = self.slots.take() {
            return Some(slot);
        }
        for examined in 1..=EXAMINED_A_CALL {
            let (slot, hash) = self.slots.next();
            if let Some(slot) = self.evict(slot, hash, now) {
                self.has_examined(examined);
                return Some(slot);
            }
        }
        self.has_examined(EXAMINED_A_CALL);
        None
    }

    fn has_examined(&self, keys: u64) {
        self.counts.examined.add(keys);
        self.counts.most_examined.raise(keys);
    }

    /// Evicts the key of a slot if it is idle at `now`.
    ///
    /// A live key is only read, beside its own requests. An idle one is read once more while its shard
    /// is locked exclusively: no request of a removed key is unfinished, and none will find it.
    pub(crate) fn evict(&self, slot: u32, hash: u64, now: Nanos) -> Option<Slot<'_>> {
        let idle = |entry: &Entry<L>| self.is_idle(&entry.limiter, now);
        let in_slot = |_: &K, entry: &Entry<L>| entry.slot == slot;
        if !self
            .shards
            .read(hash, in_slot, |_, entry| idle(entry), || false)
        {
            return None;
        }
        self.forget(hash, now, |k, entry| in_slot(k, entry) && idle(entry))
    }

    /// Forgets the entry that `is_it`, which is idle at `now`, and regains its slot.
    pub(crate) fn forget(
        &self,
        hash: u64,
        now: Nanos,
        is_it: impl Fn(&K, &Entry<L>) -> bool,
    ) -> Option<Slot<'_>> {
        let entry = self.shards.remove(hash, |k, entry| {
            let is_it = is_it(k, entry);
            if is_it {
                // Before the lock is released, so that a thread that misses the key sees it.
                self.floor.fetch_max(now, Ordering::Relaxed);
            }
            is_it
        })?;
        self.counts.evictions.add(1);
        Some(self.slots.regain(entry.slot))
    }

    /// Whether nothing that a limiter accepted counts at `now`.
    pub(crate) fn is_idle(&self, limiter: &L, now: Nanos) -> bool {
        limiter.is_idle_at(now) || self.has_outlived_its_range(limiter, now)
    }

    /// Whether `now` is so far beyond a limiter's range of time that nothing it accepted counts. Such a
    /// limiter itself never reports that it is idle.
    fn has_outlived_its_range(&self, limiter: &L, now: Nanos) -> bool {
        // None does in the first ten years, which saves the looking.
        if u128::from(now.saturating_sub(self.opened)) < REQUIRED_RANGE {
            return false;
        }
        match limiter.peek_at(now, Cost::ONE) {
            // Two windows: one that weighs the window before counts in both.
            Err(RequestError::TimeOutOfRange { last, .. }) => {
                now - last > 2 * limiter.quotas().longest_window()
            }
            _ => false,
        }
    }
}
