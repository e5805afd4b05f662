//! No limiter: a reading of the clock, the floor under every decision.

use std::hint::black_box;

use windowpane_core::Quota;

use super::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK};

/// A loop of clock readings alone. It shares nothing between threads.
#[derive(Clone, Copy, Debug)]
pub struct ClockOnly;

impl Adapter for ClockOnly {
    const INFO: Info = Info {
        name: "clock-only",
        origin: Origin::Floor,
        rule: Rule::Other,
        keeps_quota: false,
        costs_take_long: false,
        about: "no limiter: one reading of the clock, which every decision needs",
        clock: SHARED_CLOCK,
        cannot: "limits nothing",
        memory: "",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(_: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        Ok(Reading(clock))
    }
}

struct Reading<C>(C);

impl<C: ContestClock> Decide for Reading<C> {
    #[inline]
    fn decide(&self) -> bool {
        black_box(self.0.now());
        true
    }
}
