//! rate-net: a mutex a key, in sharded maps with a cap.

use std::hint::black_box;
use std::time::Duration;

use rate_net::{Algorithm, Builder, Eviction, RateLimiter};

use super::{Counts, DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::rate_net::OnClock;
use crate::{Cannot, ContestClock, Origin};

/// Its sliding-window log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log;

/// Its sliding-window counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter;

impl KeyedAdapter for Log {
    const INFO: KeyedInfo = KeyedInfo {
        name: "rate-net-log",
        origin: Origin::Rival,
        about: "rate-net 2.1, keyed: sliding-window log",
        hasher: "its own",
        cannot: "another hasher; once more than about three times its cap of keys were used up, keys that owe nothing may be denied",
        bytes_at_most: |limit| 16 * limit.next_power_of_two() + 512,
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        build(Algorithm::SlidingWindowLog, demand, clock)
    }
}

impl KeyedAdapter for Counter {
    const INFO: KeyedInfo = KeyedInfo {
        name: "rate-net-counter",
        about: "rate-net 2.1, keyed: two-window counter",
        bytes_at_most: |_| 512,
        ..Log::INFO
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        build(Algorithm::SlidingWindowCounter, demand, clock)
    }
}

struct Keyed<C: clock_lib::Clock + Clone>(RateLimiter<C>);

fn build<C: ContestClock>(
    algorithm: Algorithm,
    demand: Demand,
    clock: C,
) -> Result<Keyed<OnClock<C>>, Cannot> {
    let limit = demand.quota.limit();
    let limit =
        u32::try_from(limit).map_err(|_| Cannot(format!("a limit of {limit}: up to 2^32 - 1")))?;
    Builder::new()
        .algorithm(algorithm)
        .quota(limit, Duration::from_nanos(demand.quota.window()))
        .eviction(Eviction::capacity(demand.cap))
        .clock(OnClock::new(clock))
        .try_build()
        .map(Keyed)
        .map_err(|error| Cannot(error.to_string()))
}

impl<K: LabKey, C: clock_lib::Clock + Clone + Send + Sync> DecideKeyed<K> for Keyed<C> {
    #[inline]
    fn decide(&self, key: &K) -> bool {
        black_box(key.ask_rate_net(&self.0)).is_allow()
    }

    fn counts(&self) -> Counts {
        Counts {
            keys: Some(self.0.tracked_keys() as u64),
            ..Counts::default()
        }
    }
}
