//! rate-net: its sliding log and its two-window counter, each behind a mutex, for one key and for
//! many.

use std::hint::black_box;
use std::time::{Duration, Instant};

use clock_lib::{Monotonic, Wall};
use rate_net::{Algorithm, Builder, Decision, DirectLimiter, Eviction, RateLimiter};
use windowpane_core::{Cost, Quota};

use crate::code::code;
use crate::keyed::{Counts, DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, Told};

code!(log, "rate_net_log");
code!(counter, "rate_net_counter");

const CLOCK: &str = "shared, converted to the `Instant` that its clock trait asks for";

/// rate-net's direct limiter (2.1) with its sliding-window log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlidingLog;

/// rate-net's direct limiter (2.1) with its sliding-window counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlidingCounter;

impl Adapter for SlidingLog {
    const INFO: Info = Info {
        name: "rate-net-log",
        origin: Origin::Rival,
        rule: Rule::Exact,
        keeps_quota: true,
        costs_take_long: false,
        about: "rate-net 2.1, direct: sliding-window log behind a mutex",
        clock: CLOCK,
        cannot: "several quotas",
        memory: "16 bytes a distinct time of acceptance, room for the next power of two",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        build(Algorithm::SlidingWindowLog, quota, clock)
    }
}

impl Adapter for SlidingCounter {
    const INFO: Info = Info {
        name: "rate-net-counter",
        origin: Origin::Rival,
        rule: Rule::TwoCounter,
        keeps_quota: false,
        costs_take_long: false,
        about: "rate-net 2.1, direct: two-window counter behind a mutex",
        clock: CLOCK,
        cannot: "several quotas",
        memory: "two counts and an index, beside its quota and clock",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        build(Algorithm::SlidingWindowCounter, quota, clock)
    }
}

fn build<C: ContestClock>(
    algorithm: Algorithm,
    quota: Quota,
    clock: C,
) -> Result<Direct<OnClock<C>>, Cannot> {
    let limit = u32::try_from(quota.limit())
        .map_err(|_| Cannot(format!("a limit of {}: up to 2^32 - 1", quota.limit())))?;
    Builder::new()
        .algorithm(algorithm)
        .quota(limit, Duration::from_nanos(quota.window()))
        .clock(OnClock::new(clock))
        .try_build_direct()
        .map(Direct)
        .map_err(|error| Cannot(error.to_string()))
}

/// One instant for the whole process, so that simulated times of different limiters agree.
fn zero() -> Instant {
    static ZERO: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    *ZERO
}

/// Our clock as rate-net wants one: an instant so and so long after a zero.
#[derive(Clone)]
pub(crate) struct OnClock<C> {
    clock: C,
    zero: Monotonic,
}

impl<C> OnClock<C> {
    pub(crate) fn new(clock: C) -> OnClock<C> {
        OnClock {
            clock,
            zero: Monotonic::from(zero()),
        }
    }
}

impl<C: ContestClock> clock_lib::Clock for OnClock<C> {
    #[inline]
    fn now(&self) -> Monotonic {
        self.zero + Duration::from_nanos(self.clock.now())
    }

    fn wall(&self) -> Wall {
        Wall::now()
    }
}

struct Direct<C: clock_lib::Clock + Clone>(DirectLimiter<C>);

impl<C: clock_lib::Clock + Clone + Send + Sync> Decide for Direct<C> {
    #[inline]
    fn decide(&self) -> bool {
        black_box(self.0.check()).is_allow()
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        let permits = u32::try_from(cost.get())
            .map_err(|_| Cannot(format!("a cost of {cost}: up to 2^32 - 1")))?;
        Ok(match self.0.check_n(permits) {
            Decision::Deny { retry_after } if retry_after < Duration::MAX => {
                Told::denied(Some(retry_after.as_nanos() as u64))
            }
            Decision::Deny { .. } => Told::denied(None),
            _ => Told::ALLOWED,
        })
    }
}

/// Its sliding-window log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyedLog;

/// Its sliding-window counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyedCounter;

impl KeyedAdapter for KeyedLog {
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
        build_keyed(Algorithm::SlidingWindowLog, demand, clock)
    }
}

impl KeyedAdapter for KeyedCounter {
    const INFO: KeyedInfo = KeyedInfo {
        name: "rate-net-counter",
        about: "rate-net 2.1, keyed: two-window counter",
        bytes_at_most: |_| 512,
        ..KeyedLog::INFO
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        build_keyed(Algorithm::SlidingWindowCounter, demand, clock)
    }
}

struct Keyed<C: clock_lib::Clock + Clone>(RateLimiter<C>);

fn build_keyed<C: ContestClock>(
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
