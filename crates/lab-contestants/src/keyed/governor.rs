//! governor: GCRA, a word a key, in a DashMap.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

use governor::RateLimiter;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos as GovernorNanos;
use governor::state::keyed::DashMapStateStore;

use super::{Counts, DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::governor::{OnClock, quota};
use crate::{Cannot, ContestClock, Origin};

/// With the hasher that it takes unless told otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct DefaultHasher;

/// With the hasher of our stores.
#[derive(Clone, Copy, Debug)]
pub(super) struct OurHasher;

const CANNOT: &str = "a cap on keys; it forgets idle keys when told to, all at once";

impl KeyedAdapter for DefaultHasher {
    const INFO: KeyedInfo = KeyedInfo {
        name: "governor",
        origin: Origin::Rival,
        about: "governor 0.10, keyed: GCRA in a DashMap",
        hasher: "std's RandomState (SipHash), its default",
        cannot: CANNOT,
        bytes_at_most: |_| 128,
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        build::<K, _, C>(demand, clock, RandomState::new())
    }
}

impl KeyedAdapter for OurHasher {
    const INFO: KeyedInfo = KeyedInfo {
        name: "governor-ahash",
        about: "governor 0.10, keyed, with the hasher of our stores",
        hasher: "ahash, set",
        ..DefaultHasher::INFO
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        build::<K, _, C>(demand, clock, windowpane_keyed::DefaultHasher::default())
    }
}

type Inner<K, S, C> =
    RateLimiter<K, DashMapStateStore<K, S>, OnClock<C>, NoOpMiddleware<GovernorNanos>>;

struct Keyed<K: LabKey, S: BuildHasher + Default + Clone, C: ContestClock>(Inner<K, S, C>);

fn build<K: LabKey, S: BuildHasher + Default + Clone, C: ContestClock>(
    demand: Demand,
    clock: C,
    hasher: S,
) -> Result<Keyed<K, S, C>, Cannot> {
    let limiter =
        RateLimiter::dashmap_with_clock_and_hasher(quota(demand.quota)?, OnClock(clock), hasher);
    Ok(Keyed(limiter))
}

impl<K, S, C> DecideKeyed<K> for Keyed<K, S, C>
where
    K: LabKey,
    S: BuildHasher + Default + Clone + Send + Sync,
    C: ContestClock,
{
    #[inline]
    fn decide(&self, key: &K) -> bool {
        black_box(self.0.check_key(key)).is_ok()
    }

    fn counts(&self) -> Counts {
        Counts {
            keys: Some(self.0.len() as u64),
            ..Counts::default()
        }
    }

    /// Both, as its documentation says.
    fn tidy(&self) -> bool {
        self.0.retain_recent();
        self.0.shrink_to_fit();
        true
    }
}
