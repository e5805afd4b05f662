//! Many keys: what middleware needs of a store, on this machine or on another.
//!
//! Stores implement these traits and middleware is generic over them, so that neither knows the
//! other. A store on this machine answers at once ([`KeyedRateLimiter`]); one on another machine
//! answers later, or not at all ([`AsyncKeyedRateLimiter`]).

use alloc::boxed::Box;
use alloc::string::String;
use core::future::{Future, ready};

use thiserror::Error;

use crate::clock::Nanos;
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::error::{BuildError, RequestError};
use crate::outcome::{self, AcquireError, Allowed, Rejected, Status};
use crate::quota::Quota;
use crate::quotas::Quotas;
use crate::settle::Charge;

/// Why a store of keys has no decision. Nothing was charged.
///
/// It is never a denial. A caller that treats it as one, or as an allowance, does so by a policy of
/// its own.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The request itself has no decision, for this key or any.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The key's quotas cannot be held by the store's algorithm.
    // In a box: it is large and rare, and every decision's result has space for the largest error.
    // Not a source: the text contains its own, and a chain of causes would repeat it.
    #[error("the key's quotas cannot be held: {0}")]
    Build(Box<BuildError>),
    /// The key is unknown, and there is no room for another: all keys held are live.
    #[error("no room for another key: {keys} are held and none was found idle")]
    Full {
        /// How many keys are held.
        keys: usize,
    },
    /// The store did not answer in time, or not with an answer.
    #[error("the store is unavailable: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
    },
}

impl From<BuildError> for StoreError {
    fn from(error: BuildError) -> StoreError {
        StoreError::Build(Box::new(error))
    }
}

impl AcquireError {
    /// The error for `error` of a store in which the key has quotas `quota`.
    #[cold]
    pub fn of_store(error: StoreError, quota: impl FnOnce(usize) -> Quota) -> AcquireError {
        match error {
            StoreError::Request(error) => AcquireError::of_request(error, quota),
            StoreError::Build(error) => AcquireError::Build(error),
            StoreError::Full { keys } => AcquireError::Full { keys },
            StoreError::Unavailable { reason } => AcquireError::Unavailable { reason },
        }
    }
}

/// A decision about a key's request, and what stores report beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a decision that is not read limits nothing"]
pub struct Answer {
    /// The decision and what remains.
    pub detailed: Detailed,
    /// The wait after which [`remaining`](Detailed::remaining) would be larger if nothing else
    /// were accepted meanwhile; `None` where it cannot grow, because nothing is used or because no
    /// wait helps.
    pub more_after: Option<Nanos>,
    /// The quotas that were in force, so that no caller has to ask again and get others.
    pub quotas: Quotas,
}

impl Answer {
    /// An answer without a wait for more permits.
    pub const fn new(detailed: Detailed, quotas: Quotas) -> Answer {
        Answer {
            detailed,
            more_after: None,
            quotas,
        }
    }

    /// The same answer with the wait after which more would remain.
    pub fn with_more_after(self, more_after: Option<Nanos>) -> Answer {
        Answer { more_after, ..self }
    }

    /// Turns the answer about a request of `cost` into the result of a call. `is_recorded` says
    /// whether an allowance was recorded under its time.
    pub fn into_result(
        self,
        cost: Cost,
        is_recorded: impl FnOnce(Nanos) -> bool,
    ) -> Result<(Allowed, Status), Rejected> {
        let (allowed, status) =
            outcome::detailed(self.detailed, self.quotas, self.more_after, cost)?;
        Ok((allowed.recorded_if(is_recorded), status))
    }
}

/// A store of limiters, one a key, with a clock of its own, that answers at once.
///
/// Middleware is generic over it. A decision is a value here, and `Ok` also when the request is
/// denied. Programs call the stores' own `try_acquire`, which is `Ok` only if the caller may go on.
///
/// Keys never share an allowance. An unknown key has all of its quotas.
pub trait KeyedRateLimiter<Q: ?Sized>: Send + Sync {
    /// The quotas of `key`, known or not.
    fn quotas(&self, key: &Q) -> Quotas;

    /// Decides a request of `cost` for `key` now and, if it is allowed, charges it.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was charged then.
    fn decide(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError>;

    /// [`decide`](Self::decide), and what remains right after the decision. `more_after` is of
    /// the same reading of the clock, though not of the same instant among other threads' calls.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was charged then.
    fn decide_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError>;

    /// What [`decide_detailed`](Self::decide_detailed) would answer; it changes nothing and
    /// creates no key.
    ///
    /// # Errors
    /// [`StoreError`].
    fn peek_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError>;

    /// The decision that [`decide`](Self::decide) would make if the store has a free slot for the
    /// key; it changes nothing and creates no key. A cheap check before a charge.
    ///
    /// # Errors
    /// [`StoreError`].
    fn peek(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError> {
        self.peek_detailed(key, cost)
            .map(|answer| answer.detailed.decision())
    }

    /// Forgets all that was accepted for `key`.
    fn reset(&self, key: &Q);
}

/// A store in which what was charged can be replaced by what was really used.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot give back what it has charged",
    note = "take a store of `MutexLog` (exact), or of `PackedCounter` for one quota (approximate)",
    note = "of several limits in one decision, one that cannot give back may be charged last"
)]
pub trait KeyedSettle<Q: ?Sized>: KeyedRateLimiter<Q> {
    /// Replaces the estimate by `actual` permits, at the time the estimate was recorded under. What
    /// has left every window by then changes nothing. Charging more is never refused: the quota
    /// may be used up by it, and more than used up.
    fn settle(&self, key: &Q, charge: Charge, actual: u64);

    /// Takes the charge back: from then on the key's limiter decides as if the request had been
    /// denied. Quotas of requests give it back too.
    fn cancel(&self, key: &Q, charge: Charge);
}

/// A store of limiters that answers later: on another machine, or this one's behind the same face.
pub trait AsyncKeyedRateLimiter<Q: ?Sized>: Send + Sync {
    /// The quotas of `key`, known or not.
    fn quotas(&self, key: &Q) -> Quotas;

    /// Decides a request of `cost` for `key` now and, if it is allowed, charges it.
    ///
    /// # Errors
    /// [`StoreError`]. After [`StoreError::Unavailable`] it is not known whether it was charged.
    fn decide_detailed(
        &self,
        key: &Q,
        cost: Cost,
    ) -> impl Future<Output = Result<Answer, StoreError>> + Send;
}

/// A store that answers later, in which what was charged can be replaced by what was really used.
pub trait AsyncKeyedSettle<Q: ?Sized>: AsyncKeyedRateLimiter<Q> {
    /// As [`KeyedSettle::settle`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: it is not known whether it was settled.
    fn settle(
        &self,
        key: &Q,
        charge: Charge,
        actual: u64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A store of this machine, for code that is generic over stores that answer later.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local<S>(pub S);

impl<Q: ?Sized, S: KeyedRateLimiter<Q>> AsyncKeyedRateLimiter<Q> for Local<S> {
    fn quotas(&self, key: &Q) -> Quotas {
        self.0.quotas(key)
    }

    fn decide_detailed(
        &self,
        key: &Q,
        cost: Cost,
    ) -> impl Future<Output = Result<Answer, StoreError>> + Send {
        ready(self.0.decide_detailed(key, cost))
    }
}

impl<Q: ?Sized, S: KeyedSettle<Q>> AsyncKeyedSettle<Q> for Local<S> {
    fn settle(
        &self,
        key: &Q,
        charge: Charge,
        actual: u64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.0.settle(key, charge, actual);
        ready(Ok(()))
    }
}

macro_rules! through_a_pointer {
    ($($pointer:ty),*) => {$(
        impl<Q: ?Sized, S: KeyedRateLimiter<Q> + ?Sized> KeyedRateLimiter<Q> for $pointer {
            fn quotas(&self, key: &Q) -> Quotas {
                (**self).quotas(key)
            }

            fn decide(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError> {
                (**self).decide(key, cost)
            }

            fn decide_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError> {
                (**self).decide_detailed(key, cost)
            }

            fn peek_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError> {
                (**self).peek_detailed(key, cost)
            }

            fn peek(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError> {
                (**self).peek(key, cost)
            }

            fn reset(&self, key: &Q) {
                (**self).reset(key);
            }
        }

        impl<Q: ?Sized, S: KeyedSettle<Q> + ?Sized> KeyedSettle<Q> for $pointer {
            fn settle(&self, key: &Q, charge: Charge, actual: u64) {
                (**self).settle(key, charge, actual);
            }

            fn cancel(&self, key: &Q, charge: Charge) {
                (**self).cancel(key, charge);
            }
        }
    )*};
}

through_a_pointer!(&S, alloc::sync::Arc<S>);
