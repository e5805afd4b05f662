//! What the store denied, remembered until it would allow it: denials without a round trip.
//!
//! When is a remembered denial still right? The store decided at some instant after the call was
//! sent and before its answer came, and said "not before `wait` from now", of the same cost; a
//! larger one has to wait at least as long. So until `sent + wait` the store would deny, too,
//! whatever others do meanwhile: what they consume only prolongs it. The time is measured by this
//! machine's monotonic clock; it counts from the *sending*, the earliest instant that the store can
//! have meant, and a thousandth of the wait is left off, which is more than two clocks drift apart.
//! Hence nobody is denied here whom the store would allow. The wait that callers are told counts
//! from the *answer*, the latest instant: told too early they would come in vain.
//!
//! What makes room before its time makes a remembered denial too strict: a charge settled at less
//! than its estimate, a reset, a larger limit. This process forgets what it remembers of the key
//! then; other processes cannot tell it, so there it holds until the wait that was told is over.

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
}

/// A denial of a cost or more.
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

    /// The denial of `cost` at `now`, if the store would deny it, too. O(1), no allocation for up
    /// to four quotas.
    pub(crate) fn denial(
        &self,
        key: &str,
        cost: Cost,
        now: Instant,
        quotas: &Quotas,
    ) -> Option<Answer> {
        if self.room == 0 {
            return None;
        }
        let shard = self.shard(key);
        let remembered = shard.denials.get(key)?;
        if now >= remembered.until
            || cost < remembered.cost
            || remembered.left.len() != quotas.len()
        {
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
        })
    }

    /// Remembers the denial in `answer` to a call that was sent at `sent` and answered at
    /// `answered`.
    pub(crate) fn remember(
        &self,
        key: &str,
        cost: Cost,
        answer: &Answer,
        sent: Instant,
        answered: Instant,
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
        self.shard(key)
            .remember(key, remembered, answered, self.room);
    }

    /// Forgets what was denied to `key`.
    pub(crate) fn forget(&self, key: &str) {
        if self.room > 0 {
            self.shard(key).denials.remove(key);
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        for index in 0..SHARDS {
            *self.lock(index) = Shard::default();
        }
    }

    /// How many denials are held.
    #[cfg(test)]
    fn len(&self) -> usize {
        (0..SHARDS).map(|i| self.lock(i).denials.len()).sum()
    }
}

impl Shard {
    fn remember(&mut self, key: &str, new: Remembered, now: Instant, room: usize) {
        if let Some(old) = self.denials.get_mut(key) {
            // Of two that hold, the smaller cost: it denies more.
            if now >= old.until || new.cost <= old.cost {
                *old = new;
            }
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
        }
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
        cache.remember("k", Cost::ONE, &denied(10 * SECOND, 0), sent, answered);
        let ask = |at| cache.denial("k", Cost::ONE, at, &quotas());
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
    fn it_denies_the_same_cost_or_more_and_no_less_and_no_other_key() {
        let cache = DenyCache::new(100);
        let now = Instant::now();
        cache.remember("k", Cost::of::<5>(), &denied(10 * SECOND, 4), now, now);
        let ask = |key, cost| cache.denial(key, Cost::new(cost).unwrap(), now, &quotas());
        assert!(ask("k", 5).is_some() && ask("k", 6).is_some());
        assert!(ask("k", 4).is_none() && ask("l", 5).is_none());
        // A smaller cost denies more, and takes the place.
        cache.remember("k", Cost::of::<2>(), &denied(3 * SECOND, 1), now, now);
        assert_eq!(wait(ask("k", 9)), Some(seconds(3)));
        assert!(ask("k", 1).is_none());
        // A larger one does not, until the smaller is over.
        cache.remember("k", Cost::of::<7>(), &denied(30 * SECOND, 1), now, now);
        assert_eq!(wait(ask("k", 7)), Some(seconds(3)));
        let later = now + seconds(4);
        cache.remember("k", Cost::of::<7>(), &denied(30 * SECOND, 1), later, later);
        assert!(
            cache
                .denial("k", Cost::of::<2>(), later, &quotas())
                .is_none()
        );
        assert!(
            cache
                .denial("k", Cost::of::<7>(), later, &quotas())
                .is_some()
        );
    }

    #[test]
    fn what_makes_room_is_forgotten() {
        let cache = DenyCache::new(100);
        let now = Instant::now();
        let ask = |key| cache.denial(key, Cost::ONE, now, &quotas()).is_some();
        for key in ["k", "l"] {
            cache.remember(key, Cost::ONE, &denied(SECOND, 0), now, now);
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
            };
            cache.remember("m", Cost::ONE, &answer, now, now);
            assert!(!ask("m"));
        }
    }

    #[test]
    fn it_holds_so_many_and_no_more() {
        let cache = DenyCache::new(64);
        let now = Instant::now();
        for i in 0..10_000 {
            let key = format!("key {i}");
            cache.remember(&key, Cost::ONE, &denied(SECOND, 0), now, now);
            assert!(
                cache.denial(&key, Cost::ONE, now, &quotas()).is_some(),
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
        off.remember("k", Cost::ONE, &denied(SECOND, 0), now, now);
        assert!(off.denial("k", Cost::ONE, now, &quotas()).is_none());
    }
}
