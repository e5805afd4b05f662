//! governor: GCRA in one atomic word, for one key and for many in a DashMap.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos as GovernorNanos;
use governor::state::keyed::DashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota as GovernorQuota, RateLimiter};
use windowpane_core::{Cost, Quota};

use crate::code::code;
use crate::keyed::{Counts, DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK, Told};

code!(snippets, "governor");

/// governor's direct limiter (0.10), with a burst of the whole limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Governor;

impl Adapter for Governor {
    const INFO: Info = Info {
        name: "governor",
        origin: Origin::Rival,
        rule: Rule::TokenBucket,
        keeps_quota: false,
        costs_take_long: false,
        about: "governor 0.10, direct: GCRA in one word, burst = limit",
        clock: SHARED_CLOCK,
        cannot: "a window, several quotas; its denial tells an instant, the wait is one clock reading more",
        memory: "one word, beside its quota and clock",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        Ok(Direct(RateLimiter::direct_with_clock(
            self::quota(quota)?,
            OnClock(clock),
        )))
    }
}

/// A quota as governor has it: the burst is the limit.
pub(crate) fn quota(quota: Quota) -> Result<GovernorQuota, Cannot> {
    let burst = u32::try_from(quota.limit())
        .ok()
        .and_then(NonZeroU32::new)
        .ok_or_else(|| Cannot(format!("a limit of {}: 1 to 2^32 - 1", quota.limit())))?;
    // As governor's own constructor rounds: down, so never stricter than the quota.
    let every = Duration::from_nanos(quota.window() / quota.limit());
    GovernorQuota::with_period(every)
        .map(|quota| quota.allow_burst(burst))
        .ok_or_else(|| Cannot("less than 1 ns a permit".into()))
}

type Inner<C> = RateLimiter<NotKeyed, InMemoryState, OnClock<C>, NoOpMiddleware<GovernorNanos>>;

struct Direct<C: ContestClock>(Inner<C>);

/// Our clock as governor wants one: its own nanoseconds, no conversion.
#[derive(Clone)]
pub(crate) struct OnClock<C>(pub(crate) C);

impl<C: ContestClock> GovernorClock for OnClock<C> {
    type Instant = GovernorNanos;

    #[inline]
    fn now(&self) -> GovernorNanos {
        GovernorNanos::new(self.0.now())
    }
}

impl<C: ContestClock> Decide for Direct<C> {
    #[inline]
    fn decide(&self) -> bool {
        black_box(self.0.check()).is_ok()
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        let permits = u32::try_from(cost.get())
            .ok()
            .and_then(NonZeroU32::new)
            .ok_or_else(|| Cannot(format!("a cost of {cost}: up to 2^32 - 1")))?;
        // A cost above the burst is an error of its own there, as it is here: not allowed.
        Ok(match self.0.check_n(permits) {
            Ok(Ok(())) => Told::ALLOWED,
            Ok(Err(not_until)) => {
                let wait = not_until.wait_time_from(self.0.clock().now());
                Told::denied(Some(wait.as_nanos() as u64))
            }
            Err(_) => Told::denied(None),
        })
    }
}

/// With the hasher that it takes unless told otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultHasher;

/// With the hasher of our stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OurHasher;

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

type KeyedInner<K, S, C> =
    RateLimiter<K, DashMapStateStore<K, S>, OnClock<C>, NoOpMiddleware<GovernorNanos>>;

struct Keyed<K: LabKey, S: BuildHasher + Default + Clone, C: ContestClock>(KeyedInner<K, S, C>);

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
