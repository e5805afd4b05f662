//! The ring in shards: for one hot key. It is measured on one key alone.

use windowpane_cas_ring::CasRing;
use windowpane_core::Quota;
use windowpane_sharded::Sharded;

use crate::ours::OnClock;
use crate::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK};

/// A shard for each processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardedRing;

impl Adapter for ShardedRing {
    const INFO: Info = Info {
        name: "sharded-ring",
        origin: Origin::Ours,
        rule: Rule::OneSided,
        keeps_quota: true,
        costs_take_long: true,
        about: "cas-ring in shards, one for each processor: for one hot key",
        clock: SHARED_CLOCK,
        cannot: "costs above a shard's share",
        memory: "8 bytes a permit of capacity + at most 512 a shard",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        let limiter = Sharded::<CasRing>::new(quota).map_err(|error| Cannot(error.to_string()))?;
        Ok(OnClock { limiter, clock })
    }
}
