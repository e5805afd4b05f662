//! Building an algorithm from quotas alone.

use alloc::boxed::Box;

use crate::clock::Nanos;
use crate::error::BuildError;
use crate::quotas::Quotas;
use crate::rate_limiter::RateLimiter;

/// An algorithm that is built from quotas alone: what a store makes each key's limiter with.
///
/// Where an algorithm takes more (the buckets of a ring, its capacity), this takes the default.
pub trait FromQuotas: RateLimiter + Sized {
    /// The algorithm's name, as the command line knows it.
    const NAME: &'static str;

    /// A limiter that has accepted nothing, for a clock that reads about `start` now.
    ///
    /// # Errors
    /// [`BuildError`] if the algorithm cannot hold the quotas; it says what can.
    fn from_quotas(quotas: &Quotas, start: Nanos) -> Result<Self, BuildError>;
}

impl<L: FromQuotas> FromQuotas for Box<L> {
    const NAME: &'static str = L::NAME;

    fn from_quotas(quotas: &Quotas, start: Nanos) -> Result<Self, BuildError> {
        L::from_quotas(quotas, start).map(Box::new)
    }
}
