//! rate-net: its sliding log and its two-window counter, each behind a mutex.

use std::hint::black_box;
use std::time::{Duration, Instant};

use clock_lib::{Monotonic, Wall};
use rate_net::{Algorithm, Builder, Decision, DirectLimiter};
use windowpane_core::{Cost, Quota};

use super::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, Told};

const CLOCK: &str = "shared, converted to the `Instant` that its clock trait asks for";

/// rate-net's direct limiter (2.1) with its sliding-window log.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlidingLog;

/// rate-net's direct limiter (2.1) with its sliding-window counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlidingCounter;

impl Adapter for SlidingLog {
    const INFO: Info = Info {
        name: "rate-net-log",
        origin: Origin::Rival,
        exact: true,
        rule: Rule::Exact,
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
        exact: false,
        rule: Rule::TwoCounter,
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
pub(super) struct OnClock<C> {
    clock: C,
    zero: Monotonic,
}

impl<C> OnClock<C> {
    pub(super) fn new(clock: C) -> OnClock<C> {
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
