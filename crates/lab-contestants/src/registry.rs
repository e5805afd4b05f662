//! Which limiters exist. Replay, benches, report and tests all iterate over this one list.

use windowpane_baselines::{FixedWindow, FixedWindowRule, Gcra, GcraRule};
use windowpane_bucket_ring::{BucketRing, DEFAULT_BUCKETS};
use windowpane_cas_ring::CasRing;
use windowpane_core::{BuildError, Nanos, Quotas, RateLimiter};
use windowpane_keyed::SharedRule;
use windowpane_lab_ground::clock::LabClock;
use windowpane_mutex_log::{MutexLog, OnRegression};
use windowpane_packed_counter::{PackedCounter, TwoWindowRule};

use crate::store::{Store, store, store_of};
use crate::{Instance, Rule, on_clock};

/// What a limiter may need beside its quotas when it is built.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// What the clock reads about now; the range of one-word limiters counts from there.
    pub start: Nanos,
    /// Sub-windows of a bucket ring.
    pub buckets: u32,
    /// What a time that steps back means to a limiter that can choose: the mutex log.
    pub on_regression: OnRegression,
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions {
            start: 0,
            buckets: DEFAULT_BUCKETS,
            on_regression: OnRegression::Clamp,
        }
    }
}

impl BuildOptions {
    /// The options where nothing but the clock's reading matters.
    pub fn starting_at(start: Nanos) -> BuildOptions {
        BuildOptions {
            start,
            ..BuildOptions::default()
        }
    }
}

/// Builds a limiter for one key.
pub type Build = fn(&Quotas, BuildOptions) -> Result<Box<dyn RateLimiter>, BuildError>;

/// Builds a limiter for one key on a clock of the laboratory.
pub type BuildOnClock =
    fn(&Quotas, BuildOptions, LabClock) -> Result<Box<dyn Instance>, BuildError>;

/// Builds a store with one for each key.
pub type BuildStore = fn(&Quotas, BuildOptions) -> Result<Box<dyn Store>, BuildError>;

/// One limiter of ours.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// The name on the command line and in every table.
    pub name: &'static str,
    /// Whether it decides as the log of accepted requests would.
    pub exact: bool,
    /// The rule that it decides by: what must come out of the definitions.
    pub rule: Rule,
    /// What it is, in one line.
    pub about: &'static str,
    /// What it cannot express, in words; empty if nothing.
    pub cannot: &'static str,
    /// The memory of one key, in words.
    pub memory: &'static str,
    /// The most bytes that one key takes at a limit, as its crate says; `None` without a bound.
    pub memory_at_most: Option<fn(u64) -> u64>,
    /// Builds one for one key.
    pub build: Build,
    /// Builds one for one key on a clock of the laboratory, so that loops over it are compiled for
    /// its type: what is measured goes through here.
    pub on_clock: BuildOnClock,
    /// Builds a store with one for each key, compiled for its type.
    pub store: BuildStore,
}

/// Says once how a limiter is built; all ways to build it follow. Where a store of many keys keeps it
/// in another form, that follows.
macro_rules! algorithm {
    (
        |$quotas:pat_param, $options:pat_param| $limiter:expr
        $(; in a store $shared:ty)?,
        $($field:ident: $value:expr),* $(,)?
    ) => {
        Algorithm {
            $($field: $value,)*
            build: |$quotas, $options| Ok(Box::new($limiter)),
            on_clock: |$quotas, $options, clock| Ok(on_clock($limiter, clock)),
            store: algorithm!(@store |$quotas, $options| $limiter $(, $shared)?),
        }
    };
    (@store |$quotas:pat_param, $options:pat_param| $limiter:expr) => {
        |quotas, options| {
            store_of(quotas, options, move |$quotas, start| {
                let $options = BuildOptions { start, ..options };
                Ok($limiter)
            })
        }
    };
    (@store |$quotas:pat_param, $options:pat_param| $limiter:expr, $shared:ty) => {
        |quotas, _| store::<$shared>(quotas)
    };
}

/// The oracle's name: the limiter that the others are compared with.
pub const ORACLE: &str = "mutex-log";

/// All limiters of ours, the oracle first.
pub static ALGORITHMS: &[Algorithm] = &[
    algorithm! {
        |quotas, options| <MutexLog>::with_regression(quotas.clone(), options.on_regression),
        name: ORACLE,
        exact: true,
        rule: Rule::Exact,
        about: "a mutex around a deque of what was accepted; the oracle",
        cannot: "",
        memory: "16 bytes an accepted request, room for the next power of two, + at most 256",
        memory_at_most: Some(|limit| 16 * limit.next_power_of_two().max(4) + 256),
    },
    algorithm! {
        |quotas, _| CasRing::new(quotas.clone())?,
        name: "cas-ring",
        exact: true,
        rule: Rule::Exact,
        about: "a ring of accepted times, claimed by one compare-and-swap",
        cannot: "quotas of requests",
        memory: "8 bytes a permit of capacity + at most 256 + 32 a quota",
        memory_at_most: Some(|limit| 8 * limit + 256 + 32),
    },
    algorithm! {
        |quotas, options| PackedCounter::starting_at(quotas.clone(), options.start)?; in a store SharedRule<TwoWindowRule>,
        name: "packed-counter",
        exact: false,
        rule: Rule::TwoCounter,
        about: "two counts in one word, the previous weighted by its overlap",
        cannot: "several quotas",
        memory: "one word and its constants, on one cache line",
        memory_at_most: Some(|_| 64),
    },
    algorithm! {
        |quotas, options| BucketRing::with_buckets(quotas.clone(), options.buckets)?,
        name: "bucket-ring",
        exact: false,
        rule: Rule::OneSided,
        about: "counts per sub-window in a ring; the trailing one counts whole",
        cannot: "windows that are no whole number of buckets, beside others; permits and requests at once",
        memory: "8 bytes a bucket of the longest window + at most 272 + 72 a further quota",
        memory_at_most: Some(|_| 8 * DEFAULT_BUCKETS as u64 + 272),
    },
    algorithm! {
        |quotas, options| Gcra::starting_at(quotas.clone(), options.start)?; in a store SharedRule<GcraRule>,
        name: "gcra",
        exact: false,
        rule: Rule::TokenBucket,
        about: "a token bucket told by one time; the burst is the limit",
        cannot: "several quotas",
        memory: "one word and its constants, on one cache line",
        memory_at_most: Some(|_| 64),
    },
    algorithm! {
        |quotas, options| FixedWindow::starting_at(quotas.clone(), options.start)?; in a store SharedRule<FixedWindowRule>,
        name: "fixed-window",
        exact: false,
        rule: Rule::FixedWindow,
        about: "a count that starts anew at every multiple of the window",
        cannot: "several quotas",
        memory: "one word and its constants, on one cache line",
        memory_at_most: Some(|_| 64),
    },
];

/// The limiter of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}
