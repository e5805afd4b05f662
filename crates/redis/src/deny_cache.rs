//! What the store denied, remembered until it would allow it: denials without a round trip.
//!
//! When is a remembered denial still right? The store decided at some instant after the call was
//! sent and before its answer came, and said "not before `wait` from now", of that cost. So until
//! `sent + wait` the store would deny, too, whatever others do meanwhile: what they consume only
//! prolongs it. The time is measured by this machine's monotonic clock; it counts from the
//! *sending*, the earliest instant that the store can have meant, and a thousandth of the wait is
//! left off, for two clocks that drift apart. Hence nobody is denied here whom the store would
//! allow. The wait that callers are told counts from the *answer*, the latest instant: told too
//! early they would come in vain.
//!
//! A larger cost would be denied, too, but for how long and by which quota only the store knows, so it
//! is asked.
//!
//! What makes room before its time makes a remembered denial too strict: a charge settled at less
//! than its estimate, a reset, a larger limit. This process forgets what it remembers of the key
//! then, and what the store answers to calls already under way is not remembered: each shard counts
//! how often it forgot, and a call tells what that [epoch](DenyCache::epoch) was before it began.
//! Other processes cannot tell it, so there it holds until the wait that was told is over.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use windowpane_core::{Answer, Cost, Decision, Denied, Detailed, Nanos, PerQuota, Quotas};

/// A power of two: keys that fall into different shards do not wait for each other.
const SHARDS: usize = 16;

/// Denials by key, at most so many.
pub(crate) struct DenyCache {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    /// How many denials a shard holds; 0 if none are remembered.
    room: usize,
}

#[derive(Default)]
struct Shard {
    denials: HashMap<Box<str>, Remembered>,
    /// Keys in the order in which they were first remembered, for whom to forget when it is full.
    order: VecDeque<Box<str>>,
    /// How often something was forgotten because room was made.
    epoch: u64,
}

/// A denial of a cost.
struct Remembered {
    cost: Cost,
    /// Denied here before this.
    until: Instant,
    /// Told to come back at this time.
    told: Instant,
    more_at: Option<Instant>,
    quota: usize,
    left: PerQuota,
}

impl DenyCache {
    /// A cache of at most about `capacity` keys.
    pub(crate) fn new(capacity: usize) -> DenyCache {
        DenyCache {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            room: capacity.div_ceil(SHARDS),
        }
    }

    fn shard(&self, key: &str) -> MutexGuard<'_, Shard> {
        let index = self.hasher.hash_one(key) as usize % SHARDS;
        self.lock(index)
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, Shard> {
        // A shard is whole after each of its changes.
        self.shards[index].lock().unwrap_or_else(|e| e.into_inner())
    }

    /// What a call tells [`denial`](Self::denial) and [`remember`](Self::remember): read before the
    /// quotas are, so that quotas of another epoch are never taken for these.
    pub(crate) fn epoch(&self, key: &str) -> u64 {
        match self.room {
            0 => 0,
            _ => self.shard(key).epoch,
        }
    }

    /// The denial of `cost` at `now`, if the store would deny it, too, and nothing was forgotten since
    /// `epoch`. O(1), no allocation for up to four quotas.
    pub(crate) fn denial(
        &self,
        key: &str,
        cost: Cost,
        now: Instant,
        quotas: &Quotas,
        epoch: u64,
    ) -> Option<Answer> {
        if self.room == 0 {
            return None;
        }
        let shard = self.shard(key);
        let remembered = shard.denials.get(key)?;
        if now >= remembered.until || cost != remembered.cost || shard.epoch != epoch {
            return None;
        }
        let wait = |at: Instant| nanos(at.saturating_duration_since(now)).max(1);
        let denied = Denied::new(remembered.quota, Some(wait(remembered.told)));
        let left = remembered.left.clone();
        let more_after = remembered.more_at.map(wait);
        drop(shard);
        Some(Answer {
            detailed: Detailed::new(Decision::Denied(denied), quotas, left),
            more_after,
            quotas: quotas.clone(),
        })
    }

    /// Remembers the denial in `answer` to a call that was sent at `sent` and answered at
    /// `answered`, unless something was forgotten since `epoch`.
    pub(crate) fn remember(
        &self,
        key: &str,
        cost: Cost,
        answer: &Answer,
        sent: Instant,
        answered: Instant,
        epoch: u64,
    ) {
        let Some(denied) = answer.detailed.decision().denied() else {
            return;
        };
        // Where no wait helps, a changed limit would; and no instant is so far that it could be told.
        let Some(wait) = denied.retry_after().filter(|_| self.room > 0) else {
            return;
        };
        let sure = wait - wait / 1_000;
        let (Some(until), Some(told)) = (sent.checked_add(sure), answered.checked_add(wait)) else {
            return;
        };
        if until <= answered {
            return;
        }
        let remembered = Remembered {
            cost,
            until,
            told,
            more_at: answer
                .more_after
                .and_then(|more| answered.checked_add(Duration::from_nanos(more))),
            quota: denied.quota(),
            left: PerQuota::from_slice(answer.detailed.remaining_per_quota()),
        };
        let mut shard = self.shard(key);
        if shard.epoch == epoch {
            shard.remember(key, remembered, self.room);
        }
    }

    /// Forgets what was denied to `key`.
    pub(crate) fn forget(&self, key: &str) {
        if self.room > 0 {
            let mut shard = self.shard(key);
            shard.denials.remove(key);
            shard.epoch += 1;
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        for index in 0..SHARDS {
            let mut shard = self.lock(index);
            let epoch = shard.epoch + 1;
            *shard = Shard {
                epoch,
                ..Shard::default()
            };
        }
    }

    /// How many denials are held.
    #[cfg(test)]
    fn len(&self) -> usize {
        (0..SHARDS).map(|i| self.lock(i).denials.len()).sum()
    }
}

impl Shard {
    fn remember(&mut self, key: &str, new: Remembered, room: usize) {
        if let Some(old) = self.denials.get_mut(key) {
            *old = new;
            return;
        }
        // The oldest makes room, over or not: a call more to the store is all that costs. A key that
        // was forgotten meanwhile stands in the order still, so the order is what is bounded.
        while self.order.len() >= room {
            if let Some(oldest) = self.order.pop_front() {
                self.denials.remove(&oldest);
            }
        }
        self.order.push_back(key.into());
        self.denials.insert(key.into(), new);
    }
}

fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotas() -> Quotas {
        Quotas::parse(["10/60s"]).unwrap()
    }

    fn denied(wait: Nanos, left: u64) -> Answer {
        let denied = Decision::Denied(Denied::new(0, Some(wait)));
        Answer {
            detailed: Detailed::new(denied, &quotas(), PerQuota::from_slice(&[left])),
            more_after: Some(wait / 2),
            quotas: quotas(),
        }
    }

    fn denial(cache: &DenyCache, key: &str, cost: Cost, now: Instant) -> Option<Answer> {
        cache.denial(key, cost, now, &quotas(), cache.epoch(key))
    }

    fn remember(
        cache: &DenyCache,
        key: &str,
        cost: Cost,
        answer: &Answer,
        sent: Instant,
        answered: Instant,
    ) {
        cache.remember(key, cost, answer, sent, answered, cache.epoch(key));
    }

    const SECOND: Nanos = 1_000_000_000;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn wait(answer: Option<Answer>) -> Option<Duration> {
        answer.map(|answer| answer.detailed.decision().retry_after().unwrap())
    }

    #[test]
    fn it_denies_until_the_wait_is_over_counted_from_the_sending() {
        let cache = DenyCache::new(100);
        let sent = Instant::now();
        let answered = sent + seconds(1);
        remember(
            &cache,
            "k",
            Cost::ONE,
            &denied(10 * SECOND, 0),
            sent,
            answered,
        );
        let ask = |at| denial(&cache, "k", Cost::ONE, at);
        let told = ask(answered).unwrap();
        // Told from the answer, so that nobody comes too early ...
        assert_eq!(told.detailed.decision().retry_after(), Some(seconds(10)));
        assert_eq!(told.more_after, Some(5 * SECOND));
        assert_eq!(told.detailed.remaining_per_quota(), [0]);
        // ... denied from the sending, less a thousandth, so that nobody is denied for too long.
        assert_eq!(
            wait(ask(sent + Duration::from_millis(9_989))),
            Some(Duration::from_millis(1_011))
        );
        assert_eq!(ask(sent + Duration::from_millis(9_990)), None);
    }

    #[test]
    fn it_denies_the_same_cost_and_no_other_and_no_other_key() {
        let cache = DenyCache::new(100);
        let now = Instant::now();
        let remember = |cost: u64, wait, left| {
            let cost = Cost::new(cost).unwrap();
            remember(&cache, "k", cost, &denied(wait, left), now, now);
        };
        let ask = |key, cost| denial(&cache, key, Cost::new(cost).unwrap(), now);
        remember(5, 10 * SECOND, 4);
        assert!(ask("k", 5).is_some());
        assert!(ask("k", 4).is_none(), "less may fit");
        assert!(ask("k", 6).is_none(), "more may have to wait for longer");
        assert!(ask("l", 5).is_none());
        // The newest takes the place.
        remember(7, 30 * SECOND, 4);
        assert_eq!(wait(ask("k", 7)), Some(seconds(30)));
        assert!(ask("k", 5).is_none());
    }

    #[test]
    fn what_was_under_way_when_room_was_made_is_not_remembered() {
        let cache = DenyCache::new(100);
        let now = Instant::now();
        let makes_room: [&dyn Fn(); 2] = [&|| cache.forget("k"), &|| cache.clear()];
        for make_room in makes_room {
            let epoch = cache.epoch("k");
            make_room();
            cache.remember("k", Cost::ONE, &denied(SECOND, 0), now, now, epoch);
            assert!(denial(&cache, "k", Cost::ONE, now).is_none());
            remember(&cache, "k", Cost::ONE, &denied(SECOND, 0), now, now);
            assert!(denial(&cache, "k", Cost::ONE, now).is_some());
            // Quotas that were read before do not fit what is remembered now.
            let old = cache.denial("k", Cost::ONE, now, &quotas(), epoch);
            assert!(old.is_none());
        }
    }

    #[test]
    fn what_makes_room_is_forgotten() {
        let cache = DenyCache::new(100);
        let now = Instant::now();
        let ask = |key| denial(&cache, key, Cost::ONE, now).is_some();
        for key in ["k", "l"] {
            remember(&cache, key, Cost::ONE, &denied(SECOND, 0), now, now);
        }
        cache.forget("k");
        assert!(!ask("k") && ask("l"));
        cache.clear();
        assert!(!ask("l"));
        // An allowance, and a denial that no wait ends, are not remembered.
        let never = Decision::Denied(Denied::new(0, None));
        for decision in [never, Decision::Allowed { at: 1 }] {
            let detailed = Detailed::new(decision, &quotas(), PerQuota::from_slice(&[0]));
            let answer = Answer {
                detailed,
                more_after: None,
                quotas: quotas(),
            };
            remember(&cache, "m", Cost::ONE, &answer, now, now);
            assert!(!ask("m"));
        }
    }

    #[test]
    fn it_holds_so_many_and_no_more() {
        let cache = DenyCache::new(64);
        let now = Instant::now();
        for i in 0..10_000 {
            let key = format!("key {i}");
            remember(&cache, &key, Cost::ONE, &denied(SECOND, 0), now, now);
            assert!(
                denial(&cache, &key, Cost::ONE, now).is_some(),
                "the newest is held"
            );
            if i % 3 == 0 {
                cache.forget(&key);
            }
            let orders: usize = (0..SHARDS).map(|i| cache.lock(i).order.len()).sum();
            assert!(cache.len() <= 64 && orders <= 64);
        }
        assert!(cache.len() > 20, "{}", cache.len());
        let off = DenyCache::new(0);
        remember(&off, "k", Cost::ONE, &denied(SECOND, 0), now, now);
        assert!(denial(&off, "k", Cost::ONE, now).is_none());
    }
}
