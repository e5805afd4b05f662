//! trypema: a rolling window in buckets, a deque a key in a DashMap. It reads its own clock.

use std::any::TypeId;
use std::hint::black_box;
use std::sync::Arc;

use trypema::local::LocalRateLimiterProvider;
use trypema::{RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize};
use windowpane_core::{Cost, Quota};
use windowpane_lab_ground::clock::SimulatedClock;

use crate::code::code;
use crate::keyed::{DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, Told};

code!(snippets, "trypema");

/// trypema's local limiter (2.2) with the absolute strategy, asked for one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absolute;

const SECOND: u64 = 1_000_000_000;

impl Adapter for Absolute {
    const INFO: Info = Info {
        name: "trypema",
        origin: Origin::Rival,
        rule: Rule::Other,
        keeps_quota: false,
        costs_take_long: false,
        about: "trypema 2.2, local, absolute: a rolling window in buckets, one key",
        clock: "its own, std's Instant: it lets none be set",
        cannot: "windows that are not whole seconds, several quotas, a limiter without keys",
        memory: "",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, _: C) -> Result<impl Decide + 'static, Cannot> {
        if TypeId::of::<C>() == TypeId::of::<SimulatedClock>() {
            return Err(Cannot("its clock cannot be set".into()));
        }
        Local::new(quota)
    }
}

/// The limiter and the rate that each call passes to it.
pub(crate) struct Local {
    provider: Arc<LocalRateLimiterProvider>,
    rate: RateLimit,
}

impl Local {
    pub(crate) fn new(quota: Quota) -> Result<Local, Cannot> {
        let window = quota.window();
        if !window.is_multiple_of(SECOND) {
            return Err(Cannot("windows that are not whole seconds".into()));
        }
        let cannot = |error: trypema::TrypemaError| Cannot(error.to_string());
        let per_second = quota.limit() as f64 / (window / SECOND) as f64;
        Ok(Local {
            provider: LocalRateLimiterProvider::builder()
                .window_size(WindowSize::seconds(window / SECOND).map_err(cannot)?)
                .disable_cleanup()
                .build()
                .map_err(cannot)?,
            rate: RateLimit::per_second(per_second).map_err(cannot)?,
        })
    }

    #[inline]
    pub(crate) fn ask(&self, key: &str, count: u64) -> RateLimitDecision {
        black_box(self.provider.absolute().inc(key, &self.rate, count))
    }
}

impl Decide for Local {
    #[inline]
    fn decide(&self) -> bool {
        matches!(self.ask("", 1), RateLimitDecision::Allowed)
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        Ok(match self.ask("", cost.get()) {
            RateLimitDecision::Allowed => Told::ALLOWED,
            RateLimitDecision::Rejected { retry_after, .. } => {
                Told::denied(Some(retry_after.as_nanos() as u64))
            }
            _ => Told::denied(None),
        })
    }
}

/// Its local limiter with the absolute strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyedAbsolute;

impl KeyedAdapter for KeyedAbsolute {
    const INFO: KeyedInfo = KeyedInfo {
        name: "trypema",
        origin: Origin::Rival,
        about: "trypema 2.2, local, absolute: a rolling window in buckets",
        hasher: "ahash, its default",
        cannot: "another clock than std's Instant, windows that are not whole seconds, keys that are not text, a cap on keys",
        bytes_at_most: |_| 512,
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        _: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        if K::nth(0).text().is_none() {
            return Err(Cannot("keys that are not text".into()));
        }
        Local::new(demand.quota)
    }
}

impl<K: LabKey> DecideKeyed<K> for Local {
    #[inline]
    fn decide(&self, key: &K) -> bool {
        let key = key.text().unwrap_or_default();
        matches!(self.ask(key, 1), RateLimitDecision::Allowed)
    }
}
