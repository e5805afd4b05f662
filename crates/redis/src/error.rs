//! The errors of building a store or a limiter. Each says what would work.

use thiserror::Error;
use windowpane_core::{BuildError, Quota};

/// A store or a limiter that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The quotas are malformed, or there is none.
    #[error(transparent)]
    Quotas(#[from] BuildError),
    /// The algorithm holds fewer quotas: one, or 32 in the log.
    #[error("{algorithm} holds {}, not {given}{}", if *.most == 1 { "one quota".into() } else { format!("{most} quotas") }, if *.most == 1 { ": for several use the log" } else { "" })]
    TooManyQuotas {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The number given.
        given: usize,
        /// The most that it holds.
        most: usize,
    },
    /// A window that is not a whole number of microseconds.
    #[error(
        "the window of {quota} is not a whole number of microseconds, which is the resolution of the server's clock"
    )]
    NotMicroseconds {
        /// The quota given.
        quota: Quota,
    },
    /// The limit is larger than a script can count to without rounding.
    #[error(
        "{algorithm} holds limits up to {max} with the window of {quota}: a script's numbers are exact up to 2^53; \
         {instead}"
    )]
    LimitTooLarge {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The quota given.
        quota: Quota,
        /// The largest limit with this window.
        max: u64,
        /// What would work, as text.
        instead: &'static str,
    },
    /// A prefix of keys with a brace in it.
    #[error(
        "the prefix `{prefix}` has a brace in it: braces mark what a cluster hashes, which is the key"
    )]
    BraceInPrefix {
        /// The prefix given.
        prefix: String,
    },
    /// Quotas or a life that [`Leases`](crate::Leases) cannot hold.
    #[error("no leases: {reason}")]
    Lease {
        /// What is wrong.
        reason: &'static str,
    },
    /// A malformed address.
    #[error(
        "`{address}` is not the address of a store ({reason}): expected one such as redis://127.0.0.1:6379"
    )]
    Address {
        /// The address given, without a password.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// The store could not be reached at the start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("the store at {address} was not reached within {waited_ms} ms: {reason}")]
pub struct ConnectError {
    /// The address, without a password.
    pub address: String,
    /// The time spent, in milliseconds.
    pub waited_ms: u64,
    /// Why the last attempt failed.
    pub reason: String,
}
