//! What is explored: the shipped limiters, each beside what says which answers are right.

use windowpane_baselines::FixedWindow;
use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_mutex_log::{MutexLog, OnRegression};
use windowpane_packed_counter::PackedCounter;

use crate::script::Script;

/// A limiter under test, and the oracle.
pub struct Subject<L, O> {
    pub(crate) name: &'static str,
    pub(crate) build: fn(&Script) -> L,
    pub(crate) oracle: fn(&Script) -> O,
    /// No window may ever hold more than its limit.
    pub(crate) exact: bool,
    /// Its calls take so many steps that a script's bound on preemptions holds for it.
    pub(crate) bounded: bool,
}

impl<L, O> Clone for Subject<L, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L, O> Copy for Subject<L, O> {}

impl<L, O> Subject<L, O> {
    /// A twin of it, under the same oracle and bounds.
    pub fn twin<T>(self, name: &'static str, build: fn(&Script) -> T) -> Subject<T, O> {
        Subject {
            name,
            build,
            oracle: self.oracle,
            exact: self.exact,
            bounded: self.bounded,
        }
    }
}

/// The log. Its own sequential answers are the right ones: property tests compare those with a
/// brute-force list.
pub fn mutex_log() -> Subject<MutexLog, MutexLog> {
    let build = |script: &Script| <MutexLog>::new(script.quotas());
    Subject {
        name: "mutex-log",
        build,
        oracle: build,
        exact: true,
        bounded: false,
    }
}

/// The log that rejects times that step back.
pub fn rejecting_log() -> Subject<MutexLog, MutexLog> {
    let build =
        |script: &Script| <MutexLog>::with_regression(script.quotas(), OnRegression::Reject);
    Subject {
        name: "mutex-log, rejecting",
        build,
        oracle: build,
        exact: true,
        bounded: false,
    }
}

/// The ring, compared with the log.
pub fn cas_ring() -> Subject<CasRing, MutexLog> {
    Subject {
        name: "cas-ring",
        build: |script| {
            CasRing::with_capacity(script.quotas(), script.ring_capacity()).expect("a ring")
        },
        oracle: mutex_log().oracle,
        exact: true,
        bounded: true,
    }
}

/// The packed counter, compared with itself used by one thread: property tests compare that with
/// fractions.
pub fn packed_counter() -> Subject<PackedCounter, PackedCounter> {
    let build = |script: &Script| PackedCounter::new(script.quotas()).expect("a counter");
    Subject {
        name: "packed-counter",
        build,
        oracle: build,
        exact: false,
        bounded: false,
    }
}

/// The fixed window, compared with itself used by one thread.
pub fn fixed_window() -> Subject<FixedWindow, FixedWindow> {
    let build = |script: &Script| FixedWindow::new(script.quotas()).expect("a window");
    Subject {
        name: "fixed-window",
        build,
        oracle: build,
        exact: false,
        bounded: false,
    }
}

/// The bucket ring, compared with itself used by one thread: property tests compare that with a
/// list. It may deny early and never admits above a quota.
pub fn bucket_ring() -> Subject<BucketRing, BucketRing> {
    let build = |script: &Script| {
        BucketRing::with_buckets(script.quotas(), script.ring_buckets()).expect("a ring")
    };
    Subject {
        name: "bucket-ring",
        build,
        oracle: build,
        exact: true,
        bounded: true,
    }
}
