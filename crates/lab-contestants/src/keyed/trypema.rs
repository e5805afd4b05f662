//! trypema: a rolling window in buckets, a deque a key in a DashMap.

use trypema::RateLimitDecision;

use super::{DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::trypema::Local;
use crate::{Cannot, ContestClock, Origin};

/// Its local limiter with the absolute strategy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Absolute;

impl KeyedAdapter for Absolute {
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
