//! Quotas that change, and what was accepted stays.

use alloc::boxed::Box;

use crate::clock::Nanos;
use crate::error::BuildError;
use crate::quotas::Quotas;
use crate::rate_limiter::RateLimiter;

/// An algorithm that can change its quotas and keep what was accepted.
///
/// A change needs exclusive access, as a store has to an entry while it holds the entry's lock. For
/// a limiter that several threads use, see [`Changeable`](crate::Changeable).
pub trait ChangeQuotas: RateLimiter {
    /// Sets the quotas at `now`, for all later decisions.
    ///
    /// What was accepted still counts, against the new limits and windows. What had left every
    /// window by now stays forgotten, however long the new windows are; an earlier time that would
    /// count it is not accepted any more. A quota lowered below its usage has 0 remaining until
    /// enough of that has left. An approximate algorithm keeps what its own rule knows, so that it
    /// never counts less than before; each says how.
    ///
    /// # Errors
    /// [`BuildError`] where the algorithm cannot hold the quotas; nothing was changed then.
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError>;
}

impl<L: ChangeQuotas> ChangeQuotas for Box<L> {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        (**self).change_at(now, quotas)
    }
}
