//! The stores of this workspace: the flat table with each rule of one word, and the sharded map.

use std::hint::black_box;
use std::marker::PhantomData;

use windowpane_baselines::{FixedWindowRule, GcraRule};
use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_core::one_word::OneWordRule;
use windowpane_core::{Cost, KeyedRateLimiter};
use windowpane_keyed::{FlatTable, ForKeys, KeyedLimiter, SharedRule};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::TwoWindowRule;

use super::{Counts, DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::{Cannot, ContestClock, Origin};

const HASHER: &str = "ahash, its default";

/// A store of ours, asked by what its keys are found by.
struct Asked<S, K>(S, PhantomData<fn(K)>);

/// A store that counts.
trait Counted {
    fn counts(&self) -> Counts;
}

impl<R: OneWordRule, C> Counted for FlatTable<R, C> {
    fn counts(&self) -> Counts {
        Counts {
            keys: Some(self.len() as u64),
            evictions: Some(self.evictions()),
            refusals: Some(self.refusals()),
            examined: Some(self.examined()),
            most_examined: Some(self.most_examined()),
        }
    }
}

impl<K, L, S, C> Counted for KeyedLimiter<K, L, S, C> {
    fn counts(&self) -> Counts {
        Counts {
            keys: Some(self.keys() as u64),
            evictions: Some(self.evictions()),
            refusals: Some(self.refusals()),
            examined: Some(self.examined()),
            most_examined: Some(self.most_examined()),
        }
    }
}

impl<K: LabKey, S: KeyedRateLimiter<K::Found> + Counted> DecideKeyed<K> for Asked<S, K> {
    #[inline]
    fn decide(&self, key: &K) -> bool {
        black_box(self.0.acquire(key.found(), Cost::ONE))
            .is_ok_and(|decision| decision.is_allowed())
    }

    fn counts(&self) -> Counts {
        self.0.counts()
    }
}

fn cannot(error: impl std::fmt::Display) -> Cannot {
    Cannot(error.to_string())
}

fn flat<R: OneWordRule + 'static, K: LabKey, C: ContestClock>(
    demand: Demand,
    clock: C,
) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
    // Twice as many entries as there may be live keys, as its documentation says.
    let entries = 2 * demand.keys.min(demand.cap);
    let table = FlatTable::<R, _, _>::with(
        demand.quota,
        entries,
        clock,
        windowpane_keyed::DefaultHasher::default(),
    );
    Ok(Asked(table.map_err(cannot)?, PhantomData))
}

fn store<L: ForKeys + 'static, K: LabKey, C: ContestClock>(
    demand: Demand,
    clock: C,
) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
    let store = KeyedLimiter::<K, L>::builder(demand.quota)
        .max_keys(demand.cap)
        .clock(clock)
        .build();
    Ok(Asked(store.map_err(cannot)?, PhantomData))
}

macro_rules! adapters {
    ($($adapter:ident = $build:ident::<$what:ty>, $name:literal, $about:literal, $bytes:expr;)*) => {$(
        #[doc = $about]
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $adapter;

        impl KeyedAdapter for $adapter {
            const INFO: KeyedInfo = KeyedInfo {
                name: $name,
                origin: Origin::Ours,
                about: $about,
                hasher: HASHER,
                cannot: "",
                bytes_at_most: $bytes,
            };

            fn on_clock<K: LabKey, C: ContestClock>(
                demand: Demand,
                clock: C,
            ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
                $build::<$what, K, C>(demand, clock)
            }
        }
    )*};
}

adapters! {
    FlatGcra = flat::<GcraRule>, "flat/gcra",
        "the flat table, GCRA", |_| 32;
    FlatPackedCounter = flat::<TwoWindowRule>, "flat/packed-counter",
        "the flat table, two counts in one word", |_| 32;
    FlatFixedWindow = flat::<FixedWindowRule>, "flat/fixed-window",
        "the flat table, fixed window", |_| 32;
    StoreGcra = store::<SharedRule<GcraRule>>, "store/gcra",
        "the sharded map, GCRA, its constants shared", |_| 128;
    StorePackedCounter = store::<SharedRule<TwoWindowRule>>, "store/packed-counter",
        "the sharded map, two counts in one word, its constants shared", |_| 128;
    StoreCasRing = store::<CasRing>, "store/cas-ring",
        "the sharded map, a ring of accepted times a key: exact", |limit| 8 * limit + 512;
    StoreBucketRing = store::<BucketRing>, "store/bucket-ring",
        "the sharded map, counts per sub-window a key", |_| 1_024;
    StoreMutexLog = store::<MutexLog>, "store/mutex-log",
        "the sharded map, the log behind a mutex a key: exact", |limit| 16 * limit.next_power_of_two() + 512;
}
