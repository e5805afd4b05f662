//! What can go wrong, each with what would work.

use alloc::format;
use alloc::string::String;

use thiserror::Error;

use crate::clock::Nanos;
use crate::cost::Cost;
use crate::quota::Quota;
use crate::window::{QuotaError, format_nanos};

/// A limiter that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A limiter needs at least one quota.
    #[error("no quota given: a limiter needs at least one, such as 100/60s")]
    NoQuotas,
    /// A quota that makes no sense.
    #[error(transparent)]
    Quota(#[from] QuotaError),
    /// The algorithm holds one quota.
    #[error(
        "{algorithm} holds one quota, not {given}: for several at once take mutex-log, which holds any"
    )]
    TooManyQuotas {
        /// The algorithm's name.
        algorithm: &'static str,
        /// How many were given.
        given: usize,
    },
    /// The algorithm counts permits only.
    #[error(
        "{algorithm} counts permits, not requests ({quota}): take mutex-log, or a quota of permits"
    )]
    RequestsNotSupported {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The quota that counts requests.
        quota: Quota,
    },
    /// The limit is larger than the algorithm represents.
    #[error("{algorithm} holds limits up to {max}, not {limit}: take {instead}")]
    LimitTooLarge {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The limit given.
        limit: u64,
        /// The largest limit it represents here.
        max: u64,
        /// What represents the limit given.
        instead: &'static str,
    },
    /// The fields of a one-word limiter leave its time too short a range.
    #[error(
        "{algorithm} cannot hold {quota} in one word: its time would run out after {}, and ten years are required; \
         {fits}",
        format_span(*covers)
    )]
    RangeTooShort {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The quota given.
        quota: Quota,
        /// How long the time field would last, in nanoseconds.
        covers: u128,
        /// What would fit, as text.
        fits: String,
    },
    /// The algorithm counts either permits or requests, not both at once.
    #[error(
        "{algorithm} counts either permits or requests, not both at once ({quotas}): take mutex-log"
    )]
    MixedUnits {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The quotas given, as text.
        quotas: String,
    },
    /// A number of buckets that a window cannot be divided into.
    #[error("a window is divided into 1 to {max} buckets, not {given}")]
    BucketsOutOfRange {
        /// The number of buckets given.
        given: u32,
        /// The largest number of buckets.
        max: u32,
    },
    /// One of several windows is no whole number of buckets.
    #[error(
        "{algorithm} holds several quotas if each window is a whole number of buckets, and that of {quota} is not, \
         with buckets of {}; {fits}",
        format_nanos(*width)
    )]
    WindowNotInBuckets {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The first quota whose window is not.
        quota: Quota,
        /// How wide a bucket would be, in nanoseconds.
        width: Nanos,
        /// What would fit, as text.
        fits: String,
    },
    /// What was accepted so far was counted in another unit than the new quota's.
    #[error(
        "{algorithm} has counted in another unit than {quota} does and cannot tell one from the other: take mutex-log, which knows both, or build it again"
    )]
    UnitChanged {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The first quota of the other unit.
        quota: Quota,
    },
    /// A limit above the capacity that the limiter was built with.
    #[error(
        "this limiter holds limits up to {capacity}, fixed when it was built, and not {limit}: build it by \
         `windowpane::changeable_limiter(quotas, {limit})`, a store of keys by \
         `windowpane::changeable_keyed_limiter(quotas, {limit})`, or the ring by `CasRing::with_capacity(quotas, {limit})`"
    )]
    CapacityTooSmall {
        /// The largest limit that it holds.
        capacity: u64,
        /// The limit given.
        limit: u64,
    },
}

/// A span too long for `u64` nanoseconds, in the largest unit that leaves digits to read.
fn format_span(nanos: u128) -> String {
    const DAY: u128 = 86_400_000_000_000;
    match nanos {
        n if n >= 730 * DAY => format!("{} years", n / (365 * DAY)),
        n if n >= 2 * DAY => format!("{} days", n / DAY),
        n if n >= 2_000_000_000 => format!("{} seconds", n / 1_000_000_000),
        n => format!("{n} nanoseconds"),
    }
}

/// A request that has no decision. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The cost exceeds a limit: it could never be allowed.
    #[error("a cost of {cost} can never fit: the limit is {limit} (quota {})", quota + 1)]
    NeverFits {
        /// The cost asked for.
        cost: Cost,
        /// The index of the quota it exceeds.
        quota: usize,
        /// That quota's limit.
        limit: u64,
    },
    /// The clock stepped back and the limiter was built to reject that.
    #[error("time stepped back: {now} ns is before the latest call's {latest} ns")]
    ClockWentBack {
        /// The reading of this call.
        now: Nanos,
        /// The latest reading before it.
        latest: Nanos,
    },
    /// The time is after the last that the limiter represents.
    #[error(
        "time out of range: {now} ns is after the last instant this limiter can represent, {last} ns; build it again, starting later"
    )]
    TimeOutOfRange {
        /// The reading of this call.
        now: Nanos,
        /// The last instant within the range.
        last: Nanos,
    },
}
