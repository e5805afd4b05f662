//! The log of each key as people write it, in a map behind one lock and behind many.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use windowpane_core::{Nanos, Quota};

use super::{DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::plain_log::take;
use crate::{Cannot, ContestClock, Origin};

/// All keys behind one lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneLock;

/// Keys behind 64 locks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShardedLocks;

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
