//! What can be wrong with what a program asks for, each with what would work.

use thiserror::Error;
use windowpane_core::Quota;

/// A store or a limiter that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The algorithm holds one quota.
    #[error("{algorithm} holds one quota, not {given}: for several at once take the log")]
    TooManyQuotas {
        /// The algorithm's name.
        algorithm: &'static str,
        /// How many were given.
        given: usize,
    },
    /// A window is no whole number of microseconds.
    #[error(
        "the window of {quota} is no whole number of microseconds, and the server's clock tells no less"
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
    /// An address that is none.
    #[error(
        "`{address}` is no address of a store ({reason}): expected one such as redis://127.0.0.1:6379"
    )]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// The store could not be reached at the start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the store at {address} was not reached within {waited_ms} ms: {reason}")]
pub struct ConnectError {
    /// Where.
    pub address: String,
    /// How long it was tried, in milliseconds.
    pub waited_ms: u64,
    /// What happened last.
    pub reason: String,
}
