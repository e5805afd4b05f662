//! What is explored: the shipped limiters, each beside what says which answers are right.

use windowpane_baselines::{FixedWindow, Gcra};
use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_core::Changeable;
use windowpane_core::clock::ManualClock;
use windowpane_mutex_log::{MutexLog, OnRegression};
use windowpane_packed_counter::PackedCounter;

use crate::changes::{Changing, Settling};
use crate::keys::{FlatTable, KeyEach, KeyedLimiter, PlainHashes, Store, parts};
use crate::script::Script;

/// A limiter under test, and the oracle.
pub struct Subject<L, O> {
    pub(crate) name: &'static str,
    pub(crate) build: fn(&Script) -> L,
    pub(crate) oracle: fn(&Script) -> O,
    /// Which windows may never hold more than their limit, whatever the oracle says.
    pub(crate) counted: Counted,
    /// Its calls have many steps, so a script's bound on preemptions holds for it.
    pub(crate) bounded: bool,
}

/// Windows in which permits are counted by their recorded times alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// None: the limiter is approximate.
    None,
    /// Any that ends at a recorded time.
    All,
    /// Those that begin at multiples of the window.
    Aligned,
}

impl<L, O> Clone for Subject<L, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L, O> Copy for Subject<L, O> {}

impl<L, O> Subject<L, O> {
    /// A mutant of it, under the same oracle and bounds.
    pub fn mutant<T>(self, name: &'static str, build: fn(&Script) -> T) -> Subject<T, O> {
        Subject {
            name,
            build,
            oracle: self.oracle,
            counted: self.counted,
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
        counted: Counted::All,
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
        counted: Counted::All,
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
        counted: Counted::All,
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
        counted: Counted::None,
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
        counted: Counted::Aligned,
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
        counted: Counted::All,
        bounded: true,
    }
}

/// The flat table, under the rule of the fixed window, compared with a limiter for each key.
pub fn flat_table() -> Subject<Store<FlatTable>, KeyEach> {
    Subject {
        name: "flat-table",
        build: |script| {
            let (rule, entries, clock, hasher) = parts(script);
            Store(FlatTable::with_rule(rule, entries, clock, hasher))
        },
        oracle: |script| match script.steps_back {
            true => KeyEach::itself(script),
            false => KeyEach::limiters(script.quotas()),
        },
        counted: Counted::Aligned,
        bounded: true,
    }
}

/// GCRA, compared with itself used by one thread.
pub fn gcra() -> Subject<Gcra, Gcra> {
    let build = |script: &Script| Gcra::new(script.quotas()).expect("a rate");
    Subject {
        name: "gcra",
        build,
        oracle: build,
        counted: Counted::None,
        bounded: false,
    }
}

/// The store of keys, up to its capacity, each with a fixed window.
pub fn keyed_limiter() -> Subject<Store<KeyedLimiter>, KeyEach> {
    Subject {
        name: "keyed store",
        build: |script| {
            let store =
                windowpane_keyed::KeyedLimiter::<u64, FixedWindow>::builder(script.quotas())
                    .max_keys(script.ring_capacity() as usize)
                    .hasher(PlainHashes)
                    .clock(ManualClock::new(0));
            Store(store.build().expect("a store"))
        },
        oracle: flat_table().oracle,
        counted: Counted::Aligned,
        bounded: false,
    }
}

/// The log whose charges are settled. What is given back is no window's any more, so windows are not
/// counted.
pub fn settling_log() -> Subject<Settling<MutexLog>, Settling<MutexLog>> {
    let build = |script: &Script| Settling(<MutexLog>::new(script.quotas()));
    Subject {
        name: "mutex-log, settling",
        build,
        oracle: build,
        counted: Counted::None,
        bounded: false,
    }
}

/// The packed counter whose charges are settled.
pub fn settling_counter() -> Subject<Settling<PackedCounter>, Settling<PackedCounter>> {
    let build = |script: &Script| Settling(PackedCounter::new(script.quotas()).expect("a counter"));
    Subject {
        name: "packed-counter, settling",
        build,
        oracle: build,
        counted: Counted::None,
        bounded: false,
    }
}

/// The ring whose quotas change, compared with the log.
pub fn changing_ring() -> Subject<Changing<Changeable<CasRing>>, Changing<Changeable<MutexLog>>> {
    Subject {
        name: "cas-ring, changing",
        build: |script| {
            let ring = CasRing::with_capacity(script.quotas(), script.ring_capacity());
            Changing(Changeable::new(ring.expect("a ring")))
        },
        oracle: |script| Changing(Changeable::new(<MutexLog>::new(script.quotas()))),
        counted: Counted::None,
        bounded: true,
    }
}
