//! Local cache of denials whose time to retry has not come.
//!
//! The store decided after the call was sent and before its answer came. It returned a wait for that
//! cost. Until `sent + wait` it would deny the same cost again: what others consume meanwhile only
//! prolongs the denial. The cache measures by this machine's monotonic clock.
//!
//! - It denies from the *sending*, the earliest instant of the decision, less a thousandth of the wait
//!   for clocks that drift apart. So it denies no request that the store would allow.
//! - It returns waits from the *answer*, the latest instant of the decision. So no caller comes back
//!   too early.
//!
//! The store would deny a larger cost, too, but only the store knows the wait and the quota.
//!
//! Permits can become free early: by a charge settled below its estimate, a reset, a larger limit.
//! Then this process forgets the denials of the key, and does not remember the answers of calls under
//! way. Each shard counts in an [epoch](DenyCache::epoch) how often it forgot, and a call passes the
//! epoch from before it began. Other processes keep their denials until the wait is over.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use windowpane_core::{Answer, Cost, Decision, Denial, Detailed, Nanos, PerQuota, Quotas};

/// A power of two. Keys of different shards do not wait for each other.
const SHARDS: usize = 16;

/// Denials by key, up to a capacity.
pub(crate) struct DenyCache {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    /// The capacity of a shard in denials; 0 turns the cache off.
    capacity: usize,
}

#[derive(Default)]
struct Shard {
    denials: HashMap<Box<str>, Remembered>,
    /// Keys in the order in which they were first remembered; the oldest is evicted first.
    order: VecDeque<Box<str>>,
    /// The number of times that denials were forgotten because permits became free.
    epoch: u64,
}

/// A denial of a cost.
struct Remembered {
    cost: Cost,
    /// The cache denies before this time.
    until: Instant,
    /// The time to retry that callers receive.
    retry_at: Instant,
    more_at: Option<Instant>,
    quota: usize,
    left: PerQuota,
    /// The quotas that denied: a key may have others since.
    quotas: Quotas,
}

impl DenyCache {
    /// A cache of at most about `capacity` keys.
    pub(crate) fn new(capacity: usize) -> DenyCache {
        DenyCache {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            capacity: capacity.div_ceil(SHARDS),
        }
    }

    fn shard(&self, key: &str) -> MutexGuard<'_, Shard> {
        let index = self.hasher.hash_one(key) as usize % SHARDS;
        self.lock(index)
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, Shard> {
        // A shard is consistent after each change, so a poisoned lock is usable.
        self.shards[index].lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the epoch for [`denial`](Self::denial) and [`remember`](Self::remember). A call reads it
    /// before the quotas, so that it never mixes quotas and denials of different epochs.
    pub(crate) fn epoch(&self, key: &str) -> u64 {
        match self.capacity {
            0 => 0,
            _ => self.shard(key).epoch,
        }
    }

    /// Returns the denial of `cost` at `now`, if the store would deny it, too, and nothing was
    /// forgotten since `epoch`. O(1), no allocation for up to four quotas.
    pub(crate) fn denial(
        &self,
        key: &str,
        cost: Cost,
        now: Instant,
        quotas: &Quotas,
        epoch: u64,
    ) -> Option<Answer> {
        if self.capacity == 0 {
            return None;
        }
        let shard = self.shard(key);
        let remembered = shard.denials.get(key)?;
        let is_same = cost == remembered.cost && *quotas == remembered.quotas;
        if now >= remembered.until || !is_same || shard.epoch != epoch {
            return None;
        }
        let wait = |at: Instant| nanos(at.saturating_duration_since(now)).max(1);
        let denied = Denial::new(remembered.quota, Some(wait(remembered.retry_at)));
        let left = remembered.left.clone();
        let more_after = remembered.more_at.map(wait);
        drop(shard);
        Some(
            Answer::new(
                Detailed::new(Decision::Denied(denied), quotas, left),
                quotas.clone(),
            )
            .with_more_after(more_after),
        )
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
        // A limit of 0 has no wait.
        let Some(wait) = denied.retry_after().filter(|_| self.capacity > 0) else {
            return;
        };
        let sure = wait - wait / 1_000;
        let (Some(until), Some(retry_at)) = (sent.checked_add(sure), answered.checked_add(wait))
        else {
            return;
        };
        if until <= answered {
            return;
        }
        let remembered = Remembered {
            cost,
            until,
            retry_at,
            more_at: answer
                .more_after
                .and_then(|more| answered.checked_add(Duration::from_nanos(more))),
            quota: denied.quota(),
            quotas: answer.quotas.clone(),
            left: PerQuota::from_slice(answer.detailed.remaining_per_quota()),
        };
        let mut shard = self.shard(key);
        if shard.epoch == epoch {
            shard.remember(key, remembered, self.capacity);
        }
    }

    /// Forgets what was denied to `key`.
    pub(crate) fn forget(&self, key: &str) {
        if self.capacity > 0 {
            let mut shard = self.shard(key);
            shard.denials.remove(key);
            shard.epoch += 1;
        }
    }

    /// Forgets what was denied to `key` when the returned value is dropped: at the end of a call that
    /// frees permits, or when its caller drops the call, which may reach the store nevertheless.
    pub(crate) fn forget_at_end<'c>(&'c self, key: &'c str) -> impl Drop + 'c {
        struct AtEnd<'c>(&'c DenyCache, &'c str);

        impl Drop for AtEnd<'_> {
            fn drop(&mut self) {
                self.0.forget(self.1);
            }
        }

        AtEnd(self, key)
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

    /// The number of denials held.
    #[cfg(test)]
    fn len(&self) -> usize {
        (0..SHARDS).map(|i| self.lock(i).denials.len()).sum()
    }
}

impl Shard {
    fn remember(&mut self, key: &str, new: Remembered, capacity: usize) {
        if let Some(old) = self.denials.get_mut(key) {
            *old = new;
            return;
        }
        // Evict the oldest, expired or not: that costs one more call to the store. A key that was
        // forgotten meanwhile is still in the order, so the order is bounded.
        while self.order.len() >= capacity {
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
        let denied = Decision::Denied(Denial::new(0, Some(wait)));
        Answer::new(
            Detailed::new(denied, &quotas(), PerQuota::from_slice(&[left])),
            quotas(),
        )
        .with_more_after(Some(wait / 2))
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
    fn denials_last_from_the_sending_until_the_wait_is_over() {
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
        let denied = ask(answered).unwrap();
        // The wait counts from the answer, so that no caller comes back too early ...
        assert_eq!(denied.detailed.decision().retry_after(), Some(seconds(10)));
        assert_eq!(denied.more_after, Some(5 * SECOND));
        assert_eq!(denied.detailed.remaining_per_quota(), [0]);
        // ... and the denial from the sending, less a thousandth, so that it ends in time.
        assert_eq!(
            wait(ask(sent + Duration::from_millis(9_989))),
            Some(Duration::from_millis(1_011))
        );
        assert_eq!(ask(sent + Duration::from_millis(9_990)), None);
    }

    #[test]
    fn denials_are_of_one_key_and_cost() {
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
        // The newest denial replaces it.
        remember(7, 30 * SECOND, 4);
        assert_eq!(wait(ask("k", 7)), Some(seconds(30)));
        assert!(ask("k", 5).is_none());
    }

    #[test]
    fn answers_under_way_are_not_remembered_after_forgetting() {
        let cache = DenyCache::new(100);
        let now = Instant::now();
        let forgets: [&dyn Fn(); 2] = [&|| cache.forget("k"), &|| cache.clear()];
        for forget in forgets {
            let epoch = cache.epoch("k");
            forget();
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
    fn forgotten_keys_are_not_denied() {
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
        // An allowance and a denial without a wait are not remembered.
        let never = Decision::Denied(Denial::new(0, None));
        for decision in [never, Decision::Allowed { at: 1 }] {
            let detailed = Detailed::new(decision, &quotas(), PerQuota::from_slice(&[0]));
            let answer = Answer::new(detailed, quotas());
            remember(&cache, "m", Cost::ONE, &answer, now, now);
            assert!(!ask("m"));
        }
    }

    #[test]
    fn the_cache_is_bounded() {
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
