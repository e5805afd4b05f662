//! governor: GCRA in one atomic word.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos as GovernorNanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota as GovernorQuota, RateLimiter};
use windowpane_core::{Cost, Quota};

use super::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK, Told};

/// governor's direct limiter (0.10), with a burst of the whole limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Governor;

impl Adapter for Governor {
    const INFO: Info = Info {
        name: "governor",
        origin: Origin::Rival,
        exact: false,
        rule: Rule::TokenBucket,
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
pub(super) fn quota(quota: Quota) -> Result<GovernorQuota, Cannot> {
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
pub(super) struct OnClock<C>(pub(super) C);

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
