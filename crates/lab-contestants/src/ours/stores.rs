//! The stores of this workspace: the flat table with each rule of one word, and the sharded map.

use std::hint::black_box;
use std::marker::PhantomData;

use windowpane_core::one_word::OneWordRule;
use windowpane_core::{Cost, KeyedRateLimiter};
use windowpane_keyed::{FlatTable, ForKeys, KeyedLimiter, Stats};

use crate::keyed::{Counts, DecideKeyed, Demand, KeyedInfo, KeyedOnClock, LabKey};
use crate::{Cannot, ContestClock, Origin};

const HASHER: &str = "ahash, its default";

/// A store of ours, asked by what its keys are found by.
struct Asked<S, K>(S, PhantomData<fn(K)>);

fn counts(stats: Stats) -> Counts {
    Counts {
        keys: Some(stats.keys as u64),
        evictions: Some(stats.evictions),
        refusals: Some(stats.full),
        examined: Some(stats.examined),
        most_examined: Some(stats.most_examined),
    }
}

/// A store that counts.
trait Counted {
    fn counts(&self) -> Counts;
}

impl<R: OneWordRule, S, C> Counted for FlatTable<R, S, C> {
    fn counts(&self) -> Counts {
        counts(self.stats())
    }
}

impl<K, L, S, C> Counted for KeyedLimiter<K, L, S, C> {
    fn counts(&self) -> Counts {
        counts(self.stats())
    }
}

impl<K: LabKey, S: KeyedRateLimiter<K::Found> + Counted> DecideKeyed<K> for Asked<S, K> {
    #[inline]
    fn decide(&self, key: &K) -> bool {
        black_box(self.0.decide(key.found(), Cost::ONE)).is_ok_and(|decision| decision.is_allowed())
    }

    fn counts(&self) -> Counts {
        self.0.counts()
    }
}

fn cannot(error: impl std::fmt::Display) -> Cannot {
    Cannot(error.to_string())
}

/// The flat table with a rule of one word.
pub(crate) struct Flat<R> {
    info: KeyedInfo,
    rule: PhantomData<fn() -> R>,
}

impl<R> Flat<R> {
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Flat<R> {
        Flat {
            info: info(name, about, |_| 32),
            rule: PhantomData,
        }
    }
}

/// The sharded map with a limiter a key.
pub(crate) struct Sharded<L> {
    info: KeyedInfo,
    limiter: PhantomData<fn() -> L>,
}

impl<L> Sharded<L> {
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        bytes_at_most: fn(u64) -> u64,
    ) -> Sharded<L> {
        Sharded {
            info: info(name, about, bytes_at_most),
            limiter: PhantomData,
        }
    }
}

const fn info(name: &'static str, about: &'static str, bytes_at_most: fn(u64) -> u64) -> KeyedInfo {
    KeyedInfo {
        name,
        origin: Origin::Ours,
        about,
        hasher: HASHER,
        cannot: "",
        bytes_at_most,
    }
}

impl<R: OneWordRule + 'static> KeyedOnClock for Flat<R> {
    fn info(&self) -> KeyedInfo {
        self.info
    }

    fn on_clock<K: LabKey, C: ContestClock>(
        &self,
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        // Twice as many entries as there may be live keys, as its documentation says.
        let entries = 2 * demand.keys.min(demand.cap);
        let hasher = windowpane_keyed::DefaultHasher::default();
        let table = FlatTable::<R>::builder(demand.quota, entries)
            .clock(clock)
            .hasher(hasher);
        Ok(Asked(table.build().map_err(cannot)?, PhantomData))
    }
}

impl<L: ForKeys + 'static> KeyedOnClock for Sharded<L> {
    fn info(&self) -> KeyedInfo {
        self.info
    }

    fn on_clock<K: LabKey, C: ContestClock>(
        &self,
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        let store = KeyedLimiter::<K, L>::builder(demand.quota)
            .max_keys(demand.cap)
            .clock(clock)
            .build();
        Ok(Asked(store.map_err(cannot)?, PhantomData))
    }
}
