//! One limiter as a store with one key, `()`: a limit on all clients together.

use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::keyed::{Answer, KeyedRateLimiter, KeyedSettle, StoreError};
use crate::limiter::Limiter;
use crate::more;
use crate::quotas::Quotas;
use crate::rate_limiter::RateLimiter;
use crate::settle::{Charge, Settle};

/// A peek of several quotas does not search for `more_after`.
impl<L: RateLimiter, C: Clock + Send + Sync> KeyedRateLimiter<()> for Limiter<L, C> {
    fn quotas(&self, _: &()) -> Quotas {
        self.algorithm().quotas()
    }

    #[inline]
    fn decide(&self, _: &(), cost: Cost) -> Result<Decision, StoreError> {
        Ok(self.algorithm().decide_with(self.clock(), cost)?)
    }

    fn decide_detailed(&self, _: &(), cost: Cost) -> Result<Answer, StoreError> {
        let now = self.clock().now();
        let detailed = self.algorithm().decide_detailed_at(now, cost)?;
        let more_after = more::more_after(self.algorithm(), now, &detailed);
        Ok(self.answer(detailed, more_after))
    }

    fn peek_detailed(&self, _: &(), cost: Cost) -> Result<Answer, StoreError> {
        let now = self.clock().now();
        let limiter = self.algorithm();
        let detailed = limiter.peek_at(now, cost)?;
        let more_after = match detailed.decision() {
            Decision::Denied(_) => more::more_after(limiter, now, &detailed),
            Decision::Allowed { at } => {
                let (charge, left) = ((at, cost), detailed.remaining());
                more::more_after_charging(limiter, now, charge, left, || None)
            }
        };
        Ok(self.answer(detailed, more_after))
    }

    fn peek(&self, _: &(), cost: Cost) -> Result<Decision, StoreError> {
        let detailed = self.algorithm().peek_with(self.clock(), cost)?;
        Ok(detailed.decision())
    }

    fn reset(&self, _: &()) {
        self.algorithm().reset();
    }
}

impl<L: Settle, C: Clock + Send + Sync> KeyedSettle<()> for Limiter<L, C> {
    fn settle(&self, _: &(), charge: Charge, actual: u64) {
        let (at, estimate) = (charge.at(), charge.estimate());
        self.algorithm().settle_at(at, estimate, actual);
    }

    fn cancel(&self, _: &(), charge: Charge) {
        self.algorithm().cancel_at(charge.at(), charge.estimate());
    }
}

impl<L: RateLimiter, C> Limiter<L, C> {
    fn answer(&self, detailed: Detailed, more_after: Option<Nanos>) -> Answer {
        Answer {
            detailed,
            more_after,
            quotas: self.algorithm().quotas(),
        }
    }
}
