//! The table: its parts, its calls, its counters.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use windowpane_core::one_word::{self, OneWordRule};
use windowpane_core::sync::{Atomic, AtomicU128, CachePadded, Ordering};
use windowpane_core::{
    Answer, Clock, Cost, Decision, KeyedRateLimiter, MonotonicClock, Nanos, Quotas, StoreError,
};

use super::counts::Counts;
use super::entry::{Entry, Fingerprint};
use super::known::{Answered, answered, never};
use super::places::{Places, Way};
use super::{DefaultHasher, Stats, UNRECORDED, WhenFull};

/// Limiters of one word for very many keys, in a table of fixed size that takes no lock.
///
/// All keys have the same quota, by the same rule `R`: that of the packed counter, of the fixed
/// window or of GCRA. A key costs 16 bytes: a fingerprint and the word. A decision about a known
/// key looks at one cache line, nearly always, and a denial writes nothing, not even a count.
/// Nothing is allocated after the table is built.
///
/// The table keeps no keys, so it has no type of key: it takes whatever can be hashed, and what
/// hashes alike, as `str` and `String` do, is one key.
///
/// See the [module](crate::flat) for fingerprints, for what happens when the table is full, and for clocks
/// that step back.
///
/// ```
/// use windowpane_keyed::FlatTable;
/// use windowpane_packed_counter::TwoWindowRule;
///
/// let table = FlatTable::<TwoWindowRule>::new("2/60s", 100_000)?;
/// table.try_acquire_many("alice", 2)?;
/// assert!(table.try_acquire("alice").is_err());
/// table.try_acquire("bob")?;
/// assert_eq!(table.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FlatTable<R, S = DefaultHasher, C = MonotonicClock> {
    pub(super) rule: R,
    pub(super) places: Places,
    pub(super) hasher: S,
    when_full: WhenFull,
    clock: C,
    /// The eviction watermark: of all words that were forgotten because they were idle, the latest
    /// time from which on they were. Unknown keys are decided no earlier.
    pub(super) floor: CachePadded<Atomic<u64>>,
    pub(super) counts: Counts,
}

impl<R: OneWordRule, C: Clock, S: BuildHasher> FlatTable<R, S, C> {
    /// An empty table with a rule made by hand, for rules that take more than a quota.
    /// [`builder`](FlatTable::builder) makes all others.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn with_rule(rule: R, entries: usize, clock: C, hasher: S) -> Self {
        FlatTable {
            rule,
            places: Places::new(entries),
            hasher,
            when_full: WhenFull::default(),
            clock,
            floor: CachePadded::new(Atomic::new(0)),
            counts: Counts::default(),
        }
    }

    /// The same table with another answer to unknown keys that find no free entry.
    #[must_use]
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// The clock.
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// Removes all keys that are idle now: see [`sweep_at`](Self::sweep_at).
    pub fn sweep(&self) -> usize {
        self.sweep_at(self.clock.now())
    }
}

impl<R: OneWordRule, C, S: BuildHasher> FlatTable<R, S, C> {
    /// [`decide`](KeyedRateLimiter::decide) at a time given by the caller.
    ///
    /// O(1); lock-free; no allocation.
    ///
    /// # Errors
    /// [`StoreError::Request`], and [`StoreError::Full`] for an unknown key that finds no free entry;
    /// nothing was charged then.
    #[inline]
    pub fn decide_at<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        now: Nanos,
        cost: Cost,
    ) -> Result<Decision, StoreError> {
        let key = self.fingerprint(key);
        match self.at_once(key, now, cost) {
            Some((verdict, _)) => Ok(verdict.decision()),
            None => self
                .find_or_insert(key, now, cost)
                .map(|(decision, _)| decision),
        }
    }

    /// [`decide_detailed`](KeyedRateLimiter::decide_detailed) at a time given by the caller.
    ///
    /// # Errors
    /// As [`decide_at`](Self::decide_at).
    pub fn decide_detailed_at<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        now: Nanos,
        cost: Cost,
    ) -> Result<Answer, StoreError> {
        let key = self.fingerprint(key);
        let answered = match self.at_once(key, now, cost) {
            Some(judged) => answered(judged),
            None => self.find_or_insert(key, now, cost)?,
        };
        Ok(self.in_detail(answered, now))
    }

    /// [`peek_detailed`](KeyedRateLimiter::peek_detailed) at a time given by the caller.
    ///
    /// # Errors
    /// As [`decide_at`](Self::decide_at).
    pub fn peek_at<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        now: Nanos,
        cost: Cost,
    ) -> Result<Answer, StoreError> {
        let Some(charge) = one_word::check(&self.rule.quota(), cost)? else {
            return Ok(self.in_detail(never(), now));
        };
        let round = self.go_round(&self.way_of(key), now, false);
        let free = round.claim.or(round.room.map(|room| room.found));
        let answered = match (round.held, free) {
            (Some(held), _) => {
                let word = held.entry.word();
                let verdict = self
                    .rule
                    .decide(word, now, charge)
                    .map_err(StoreError::from)?;
                (verdict.decision(), verdict.word_after(word))
            }
            (None, Some(_)) => self.fresh(now, charge)?,
            (None, None) => self.without_room(now, charge)?,
        };
        Ok(self.in_detail(answered, now))
    }

    /// Forgets all that was accepted for `key`. Of time it forgets what the key recorded: what idle
    /// keys left behind, when they were forgotten, stays. O(1).
    pub fn reset<Q: Hash + ?Sized>(&self, key: &Q) {
        let way = self.way_of(key);
        // Any time: it needs no free entry.
        while let Some(held) = self.go_round(&way, 0, false).held {
            if held
                .entry
                .replace(self.places.on(&way, held.nth), Entry::EMPTY)
            {
                self.counts.of(way.key).removed();
                return;
            }
        }
    }

    #[inline]
    fn fingerprint<Q: Hash + ?Sized>(&self, key: &Q) -> Fingerprint {
        Fingerprint::of_hash(self.hasher.hash_one(key))
    }

    fn way_of<Q: Hash + ?Sized>(&self, key: &Q) -> Way {
        self.places.way_of(self.fingerprint(key))
    }
}

impl<R: OneWordRule, C, S> FlatTable<R, S, C> {
    /// Removes all keys that are idle at `now` and returns their number. It changes no decision.
    ///
    /// It takes no lock, and other threads go on meanwhile. O(entries).
    pub fn sweep_at(&self, now: Nanos) -> usize {
        let mut removed = 0;
        for slot in self.places.all() {
            let entry = Entry::load(slot);
            let gone = entry.is_claimed() || self.idle_from(entry, now).is_some();
            if gone {
                match self.forget(slot, entry, Entry::EMPTY) {
                    Some(true) => {
                        self.counts.any().removed();
                        removed += 1;
                    }
                    // An insertion that never ended, or one that has to claim again.
                    Some(false) => self.counts.any().dropped(),
                    None => {}
                }
            }
        }
        removed
    }

    /// The number of keys held, including idle ones that are not removed yet. O(1). Exact while no
    /// thread inserts.
    pub fn len(&self) -> usize {
        self.counts.taken() as usize
    }

    /// Whether no key is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.places.count()
    }

    /// What the table has counted since it was made. Denials are not counted: a denial writes
    /// nothing.
    ///
    /// `most_examined` is two or three times [`entries_of_a_key`](Self::entries_of_a_key) at most,
    /// unless other threads inserted the same key or took the same entries at the same time.
    // The models compile this file outside the crate, where the struct cannot be written out.
    #[allow(clippy::field_reassign_with_default)]
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        stats.keys = self.len();
        stats.max_keys = self.entries();
        stats.evictions = self.counts.evictions();
        stats.full = self.counts.refusals();
        stats.examined = self.counts.all_examined();
        stats.most_examined = self.counts.most_examined();
        stats
    }

    /// The number of entries in which a key may be.
    pub fn entries_of_a_key(&self) -> usize {
        self.places.on_a_way()
    }

    /// The time from which on the key that holds `entry` is idle, if it is at `now`.
    pub(super) fn idle_from(&self, entry: Entry, now: Nanos) -> Option<Nanos> {
        let word = entry.held_word()?;
        self.rule.idle_from(word).filter(|from| *from <= now)
    }

    /// Replaces an entry that is empty, claimed, or held by an idle key by `next`. Returns whether a
    /// key held it; `None` if it has changed.
    pub(super) fn forget(&self, slot: &AtomicU128, entry: Entry, next: Entry) -> Option<bool> {
        let held = entry.held_word();
        if let Some(from) = held.and_then(|word| self.rule.idle_from(word)) {
            // Before the key is forgotten: a thread that finds it gone finds the watermark raised.
            if self.floor.load(Ordering::Relaxed) < from {
                self.floor.fetch_max(from, Ordering::Relaxed);
            }
        }
        entry.replace(slot, next).then_some(held.is_some())
    }

    /// The answer to an unknown key that found no room.
    pub(super) fn refuse(
        &self,
        way: &Way,
        now: Nanos,
        charge: u64,
    ) -> Result<Answered, StoreError> {
        self.counts.of(way.key).refused();
        self.without_room(now, charge)
    }

    fn without_room(&self, now: Nanos, charge: u64) -> Result<Answered, StoreError> {
        let (decision, word) = self.fresh(now, charge)?;
        match (self.when_full, decision) {
            (_, Decision::Denied(_)) => Ok((decision, word)),
            (WhenFull::Allow, Decision::Allowed { .. }) => {
                Ok((Decision::Allowed { at: UNRECORDED }, word))
            }
            (_, Decision::Allowed { .. }) => Err(StoreError::Full { keys: self.len() }),
        }
    }

    fn in_detail(&self, (decision, word): Answered, now: Nanos) -> Answer {
        Answer::new(
            one_word::detailed(&self.rule, word, now, decision),
            self.rule.quota().into(),
        )
        .with_more_after(one_word::more_after(&self.rule, word, now))
    }
}

impl<Q, R, C, S> KeyedRateLimiter<Q> for FlatTable<R, S, C>
where
    Q: Hash + ?Sized,
    R: OneWordRule,
    C: Clock + Send + Sync,
    S: BuildHasher + Send + Sync,
{
    fn quotas(&self, _key: &Q) -> Quotas {
        self.rule.quota().into()
    }

    #[inline]
    fn decide(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError> {
        self.decide_at(key, self.clock.now(), cost)
    }

    fn decide_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError> {
        self.decide_detailed_at(key, self.clock.now(), cost)
    }

    fn peek_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError> {
        self.peek_at(key, self.clock.now(), cost)
    }

    fn reset(&self, key: &Q) {
        FlatTable::reset(self, key);
    }
}

impl<R: OneWordRule, C, S> fmt::Debug for FlatTable<R, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatTable")
            .field("quota", &self.rule.quota())
            .field("entries", &self.entries())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
