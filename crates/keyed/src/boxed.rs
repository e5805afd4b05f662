//! Limiters that lie outside of the map.

use windowpane_core::{
    AcquireError, BuildError, ChangeQuotas, Clock, Cost, Decision, Detailed, Nanos, Quotas,
    RateLimiter, Settle,
};

use crate::builder::{Build, ForKeys};

/// A limiter in a box of its own, for those whose limiters are large.
///
/// A map has room to spare, and moves its entries when it grows. With large limiters inside, both
/// cost more than the pointer to one outside, which a decision has to follow.
#[derive(Debug)]
pub struct Boxed<L>(Box<L>);

impl<L> From<L> for Boxed<L> {
    fn from(limiter: L) -> Self {
        Boxed(Box::new(limiter))
    }
}

impl<L: ForKeys + 'static> ForKeys for Boxed<L> {
    fn maker() -> Build<Self> {
        let make = L::maker();
        Box::new(move |quotas, start| make(quotas, start).map(Boxed::from))
    }
}

impl<L: RateLimiter> RateLimiter for Boxed<L> {
    fn quotas(&self) -> Quotas {
        self.0.quotas()
    }

    #[inline]
    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError> {
        self.0.acquire_at(now, cost)
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.0.acquire_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.0.peek_at(now, cost)
    }

    fn reset(&self) {
        self.0.reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.0.is_idle_at(now)
    }

    #[inline]
    fn acquire_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, AcquireError> {
        self.0.acquire_with(clock, cost)
    }

    fn acquire_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, AcquireError> {
        self.0.acquire_detailed_with(clock, cost)
    }

    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, AcquireError> {
        self.0.peek_with(clock, cost)
    }
}

impl<L: Settle> Settle for Boxed<L> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        self.0.settle_at(at, estimate, actual);
    }
}

impl<L: ChangeQuotas> ChangeQuotas for Boxed<L> {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        self.0.change_at(now, quotas)
    }
}
