//! Limiters that do more than answer: they settle, or their quotas change.

use windowpane_core::{
    BuildError, ChangeQuotas, Changeable, Nanos, Quota, Quotas, RateLimiter, Settle, Unit,
};

use crate::run::{Answer, Callee, TickingClock};
use crate::script::Call;

/// A limiter that settles.
pub struct Settling<L>(pub L);

impl<L: Settle + 'static> Callee for Settling<L> {
    fn make(&self, call: Call, clock: &TickingClock) -> Answer {
        match call {
            Call::Settle {
                at,
                estimate,
                actual,
            } => {
                self.0.settle_at(at, estimate, actual);
                Answer::Done
            }
            _ => self.0.make(call, clock),
        }
    }
}

/// What makes a limiter's quotas changeable: what ships, or a mutant.
pub trait Change: RateLimiter + 'static {
    /// `change_at`.
    ///
    /// # Errors
    /// The limiter's.
    fn change_at(&self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError>;
}

impl<L: ChangeQuotas + 'static> Change for Changeable<L> {
    fn change_at(&self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        Changeable::change_at(self, now, quotas)
    }
}

/// A limiter whose quotas change.
pub struct Changing<L>(pub L);

impl<L: Change> Callee for Changing<L> {
    fn make(&self, call: Call, clock: &TickingClock) -> Answer {
        match call {
            Call::Change { now, limit, window } => {
                let quota = Quota::from_nanos(limit, window, Unit::Permits).expect("a window");
                let changed = self.0.change_at(now, &quota.into());
                changed.expect("quotas that the limiter holds");
                Answer::Done
            }
            _ => self.0.make(call, clock),
        }
    }
}
