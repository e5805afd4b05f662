//! ratelimit: a token bucket, lock-free.

use std::hint::black_box;
use std::time::Duration;

use ratelimit::{Builder, Ratelimiter, TryWaitError};
use windowpane_core::{Cost, Quota};

use crate::code::code;
use crate::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK, Told};

code!(snippets, "ratelimit");

/// ratelimit's limiter (2.0), with a bucket of the whole limit, full at the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket;

impl Adapter for TokenBucket {
    const INFO: Info = Info {
        name: "ratelimit",
        origin: Origin::Rival,
        rule: Rule::TokenBucket,
        keeps_quota: false,
        costs_take_long: false,
        about: "ratelimit 2.0: a token bucket in atomic words, burst = limit",
        clock: SHARED_CLOCK,
        cannot: "a window, several quotas",
        memory: "six words, and its clock",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        Builder::with_clock(quota.limit(), OnClock(clock))
            .period(Duration::from_nanos(quota.window()))
            .max_tokens(quota.limit())
            .initial_available(quota.limit())
            .build()
            .map(Bucket)
            .map_err(|error| Cannot(error.to_string()))
    }
}

/// Our clock as ratelimit wants one: the time since a zero.
struct OnClock<C>(C);

impl<C: ContestClock> ratelimit::Clock for OnClock<C> {
    #[inline]
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.0.now())
    }
}

struct Bucket<C: ContestClock>(Ratelimiter<OnClock<C>>);

impl<C: ContestClock> Decide for Bucket<C> {
    #[inline]
    fn decide(&self) -> bool {
        black_box(self.0.try_wait()).is_ok()
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        Ok(match self.0.try_wait_n(cost.get()) {
            Ok(()) => Told::ALLOWED,
            Err(TryWaitError::Insufficient(wait)) => Told::denied(Some(wait.as_nanos() as u64)),
            Err(_) => Told::denied(None),
        })
    }
}
