//! The sliding log as people write it in an afternoon, for one key, and for many in a map behind
//! one lock and behind many.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use windowpane_core::{Nanos, Quota};

use crate::code::code;
use crate::keyed::{DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK};

code!(snippets, "plain_log");

/// A `Mutex<VecDeque<time>>`, pruned at each call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainLog;

impl Adapter for PlainLog {
    const INFO: Info = Info {
        name: "plain-log",
        origin: Origin::Rival,
        rule: Rule::Exact,
        keeps_quota: true,
        costs_take_long: false,
        about: "a std Mutex<VecDeque<time>> as people write it",
        clock: SHARED_CLOCK,
        cannot: "costs, several quotas, retry-after",
        memory: "8 bytes an accepted request, room for the next power of two",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        Ok(Log {
            times: Mutex::new(VecDeque::new()),
            limit: quota.limit() as usize,
            window: quota.window(),
            clock,
        })
    }
}

struct Log<C> {
    times: Mutex<VecDeque<Nanos>>,
    limit: usize,
    window: Nanos,
    clock: C,
}

impl<C: ContestClock> Decide for Log<C> {
    #[inline]
    fn decide(&self) -> bool {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        black_box(take(&mut times, self.limit, self.window, now))
    }
}

/// Prunes, and takes a place if there is one.
#[inline]
pub(crate) fn take(times: &mut VecDeque<Nanos>, limit: usize, window: Nanos, now: Nanos) -> bool {
    while times.front().is_some_and(|&at| at + window <= now) {
        times.pop_front();
    }
    let allowed = times.len() < limit;
    if allowed {
        times.push_back(now);
    }
    allowed
}

/// All keys behind one lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneLock;

/// Keys behind 64 locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardedLocks;

impl KeyedAdapter for OneLock {
    const INFO: KeyedInfo = KeyedInfo {
        name: "log-one-lock",
        origin: Origin::Rival,
        about: "a std Mutex<HashMap<key, VecDeque<time>>> as people write it",
        hasher: "std's RandomState (SipHash), its default",
        cannot: "a cap on keys; it never forgets one",
        bytes_at_most: |limit| 8 * limit.next_power_of_two() + 256,
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        Ok(Logs::<K, C>::new(1, demand.quota, clock))
    }
}

impl KeyedAdapter for ShardedLocks {
    const INFO: KeyedInfo = KeyedInfo {
        name: "log-64-locks",
        about: "the same, its keys dealt to 64 locks",
        ..OneLock::INFO
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        Ok(Logs::<K, C>::new(64, demand.quota, clock))
    }
}

type Shard<K> = Mutex<HashMap<K, VecDeque<Nanos>>>;

struct Logs<K, C> {
    shards: Vec<Shard<K>>,
    hasher: RandomState,
    limit: usize,
    window: Nanos,
    clock: C,
}

impl<K: LabKey, C: ContestClock> Logs<K, C> {
    fn new(shards: usize, quota: Quota, clock: C) -> Logs<K, C> {
        Logs {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            limit: quota.limit() as usize,
            window: quota.window(),
            clock,
        }
    }

    /// Nobody who has one lock hashes for it.
    fn shard(&self, key: &K) -> &Shard<K> {
        match self.shards.as_slice() {
            [one] => one,
            many => &many[self.hasher.hash_one(key) as usize % many.len()],
        }
    }
}

impl<K: LabKey, C: ContestClock> DecideKeyed<K> for Logs<K, C> {
    #[inline]
    fn decide(&self, key: &K) -> bool {
        let mut shard = self
            .shard(key)
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        // The usual way to ask a map that owns its keys without an owned key for a known one.
        if !shard.contains_key(key.found()) {
            shard.insert(key.clone(), VecDeque::new());
        }
        let Some(times) = shard.get_mut(key.found()) else {
            return false;
        };
        black_box(take(times, self.limit, self.window, now))
    }
}
