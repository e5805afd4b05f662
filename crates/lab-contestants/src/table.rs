//! The one table of limiters: every other list of the laboratory derives from it.
//!
//! | limiter | to add |
//! |---|---|
//! | a rival | one file in `rivals`, and one entry in `RIVALS` |
//! | one of ours | its crate, its code in `snippets`, and one entry in `ours!` |

use windowpane_baselines::{FixedWindow, FixedWindowRule, Gcra, GcraRule};
use windowpane_bucket_ring::{BucketRing, DEFAULT_BUCKETS};
use windowpane_cas_ring::CasRing;
use windowpane_mutex_log::{MutexLog, ParkingLotMutex};
use windowpane_packed_counter::{PackedCounter, TwoWindowRule};

use crate::code::Code;
use crate::keyed::KeyedContestant;
use crate::ours::ours;
use crate::ours::sharded::ShardedRing;
use crate::ours::soaked::{LARGEST_LIMIT, Soaked};
use crate::registry::Algorithm;
use crate::rivals::{governor, plain_log, rate_net, ratelimit, trypema};
use crate::{Contestant, Info, Rule};

/// One limiter.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The limiter for one key.
    pub one_key: &'static dyn Contestant,
    /// The stores of many keys that hold it.
    pub many_keys: &'static [&'static dyn KeyedContestant],
    /// The code that builds it; `None` if there is none to show.
    pub code: Option<Code>,
    /// What replay and soak need; `None` for rivals.
    pub algorithm: Option<&'static Algorithm>,
    /// Whether threads share it without a lock, so that a suspended thread delays no other.
    pub lock_free: bool,
    /// The mistake that it exhibits; `None` if it may be recommended.
    pub exhibit: Option<&'static str>,
}

impl Entry {
    /// Returns the contestant's facts.
    pub fn info(&self) -> Info {
        self.one_key.info()
    }
}

/// All limiters: ours, the oracle first, then the rivals.
#[derive(Clone, Copy)]
pub struct Table {
    /// The limiters of this workspace.
    pub ours: &'static [Entry],
    /// Limiters made of others of ours, measured on one key alone.
    pub composed: &'static [Entry],
    /// The limiters of others.
    pub rivals: &'static [Entry],
}

impl Table {
    /// Returns the entries, in the order of every list.
    pub fn entries(self) -> impl Iterator<Item = &'static Entry> {
        self.ours.iter().chain(self.composed).chain(self.rivals)
    }

    /// Returns the entry of that name.
    pub fn entry(self, name: &str) -> Option<&'static Entry> {
        self.entries().find(|entry| entry.info().name == name)
    }

    /// Returns the limiters for one key.
    pub fn contestants(self) -> Vec<&'static dyn Contestant> {
        self.entries().map(|entry| entry.one_key).collect()
    }

    /// Returns the stores of many keys.
    pub fn stores(self) -> Vec<&'static dyn KeyedContestant> {
        let stores = self.entries().flat_map(|entry| entry.many_keys);
        stores.copied().collect()
    }

    /// Returns the limiters that can be replayed: ours without variants.
    pub fn algorithms(self) -> impl Iterator<Item = &'static Algorithm> {
        let ours = self.entries().filter_map(|entry| entry.algorithm);
        ours.filter(|algorithm| !algorithm.is_variant)
    }

    /// Returns the limiters and stores that are soaked: all of ours.
    pub fn soaked(self) -> impl Iterator<Item = &'static Soaked> {
        let ours = self.entries().filter_map(|entry| entry.algorithm);
        ours.flat_map(|algorithm| algorithm.soaked)
    }
}

/// The table.
pub static TABLE: Table = Table {
    ours: OURS,
    composed: &[Entry {
        one_key: &ShardedRing,
        many_keys: &[],
        code: None,
        algorithm: None,
        lock_free: true,
        exhibit: None,
    }],
    rivals: RIVALS,
};

ours! {
    mutex_log {
        name: "mutex-log",
        limiter: |quotas, options| <MutexLog>::with_regression(quotas.clone(), options.on_regression),
        many_keys: limiter MutexLog,
        in_a_store: "the log behind a mutex a key: exact",
        rule: Rule::Exact,
        promise: Promise::NEVER_ABOVE,
        costs_take_long: false,
        lock_free: false,
        about: "a mutex around a deque of what was accepted; the oracle",
        cannot: "",
        memory: "16 bytes an accepted request, room for the next power of two, + at most 256",
        memory_at_most: |limit| 16 * limit.next_power_of_two().max(4) + 256,
        bytes_of_a_key: |limit| 16 * limit.next_power_of_two() + 512,
    }
    mutex_log_parking_lot {
        name: "mutex-log-parking-lot",
        variant: true,
        limiter: |quotas, options| {
            MutexLog::<ParkingLotMutex>::with_regression(quotas.clone(), options.on_regression)
        },
        many_keys: limiter MutexLog<ParkingLotMutex>,
        in_a_store: "the log behind parking_lot's mutex a key: exact",
        rule: Rule::Exact,
        promise: Promise::NEVER_ABOVE,
        costs_take_long: false,
        lock_free: false,
        about: "the same log behind parking_lot's mutex",
        cannot: "",
        memory: "16 bytes an accepted request, room for the next power of two, + at most 256",
        memory_at_most: |limit| 16 * limit.next_power_of_two().max(4) + 256,
        bytes_of_a_key: |limit| 16 * limit.next_power_of_two() + 512,
    }
    cas_ring {
        name: "cas-ring",
        limiter: |quotas, _| CasRing::new(quotas.clone())?,
        // The largest limit that a change may bring.
        soaked: |quotas| CasRing::with_capacity(quotas.clone(), LARGEST_LIMIT)?,
        many_keys: limiter CasRing,
        in_a_store: "a ring of accepted times a key: exact",
        rule: Rule::Exact,
        promise: Promise::NEVER_ABOVE,
        costs_take_long: true,
        lock_free: true,
        target: 1.5,
        about: "a ring of accepted times, claimed by one compare-and-swap",
        cannot: "quotas of requests",
        memory: "8 bytes a permit of capacity + at most 256 + 32 a quota",
        memory_at_most: |limit| 8 * limit + 256 + 32,
        bytes_of_a_key: |limit| 8 * limit + 512,
    }
    packed_counter {
        name: "packed-counter",
        limiter: |quotas, options| PackedCounter::starting_at(quotas.clone(), options.start)?,
        many_keys: rule TwoWindowRule,
        in_a_store: "two counts in one word",
        rule: Rule::TwoCounter,
        promise: Promise::up_to_twice(2),
        costs_take_long: false,
        lock_free: true,
        target: 1.25,
        about: "two counts in one word, the previous weighted by its overlap",
        cannot: "several quotas",
        memory: "one word and its constants, on one cache line",
        memory_at_most: |_| 64,
        bytes_of_a_key: |_| 128,
    }
    bucket_ring {
        name: "bucket-ring",
        limiter: |quotas, options| BucketRing::with_buckets(quotas.clone(), options.buckets)?,
        many_keys: limiter BucketRing,
        in_a_store: "counts per sub-window a key",
        rule: Rule::OneSided,
        promise: Promise::NEVER_ABOVE,
        costs_take_long: false,
        lock_free: true,
        about: "counts per sub-window in a ring; the trailing one counts whole",
        cannot: "windows that are no whole number of buckets, beside others; permits and requests at once",
        memory: "8 bytes a bucket of the longest window + at most 272 + 72 a further quota",
        memory_at_most: |_| 8 * DEFAULT_BUCKETS as u64 + 272,
        bytes_of_a_key: |_| 1_024,
    }
    gcra {
        name: "gcra",
        limiter: |quotas, options| Gcra::starting_at(quotas.clone(), options.start)?,
        many_keys: rule GcraRule,
        in_a_store: "GCRA",
        rule: Rule::TokenBucket,
        // What was used of a limit comes back at the rate of the one it was lowered to. A reading
        // that is a little late makes it more.
        promise: Promise::up_to_twice(2 * LARGEST_LIMIT),
        costs_take_long: false,
        lock_free: true,
        about: "a token bucket told by one time; the burst is the limit",
        cannot: "several quotas",
        memory: "one word and its constants, on one cache line",
        memory_at_most: |_| 64,
        bytes_of_a_key: |_| 128,
    }
    fixed_window {
        name: "fixed-window",
        limiter: |quotas, options| FixedWindow::starting_at(quotas.clone(), options.start)?,
        many_keys: rule FixedWindowRule,
        in_a_store: "fixed window",
        rule: Rule::FixedWindow,
        promise: Promise::up_to_twice(2),
        costs_take_long: false,
        lock_free: true,
        about: "a count that starts again at every multiple of the window",
        cannot: "several quotas",
        memory: "one word and its constants, on one cache line",
        memory_at_most: |_| 64,
        bytes_of_a_key: |_| 128,
    }
}

/// The limiters of others. What is known of each stands in its file.
static RIVALS: &[Entry] = &[
    Entry {
        one_key: &governor::Governor,
        many_keys: &[&governor::DefaultHasher, &governor::OurHasher],
        code: Some(governor::snippets::CODE),
        algorithm: None,
        lock_free: true,
        exhibit: None,
    },
    Entry {
        one_key: &rate_net::SlidingLog,
        many_keys: &[&rate_net::KeyedLog],
        code: Some(rate_net::log::CODE),
        algorithm: None,
        lock_free: false,
        exhibit: None,
    },
    Entry {
        one_key: &rate_net::SlidingCounter,
        many_keys: &[&rate_net::KeyedCounter],
        code: Some(rate_net::counter::CODE),
        algorithm: None,
        lock_free: false,
        exhibit: None,
    },
    Entry {
        one_key: &ratelimit::TokenBucket,
        many_keys: &[],
        code: Some(ratelimit::snippets::CODE),
        algorithm: None,
        lock_free: true,
        exhibit: None,
    },
    Entry {
        one_key: &trypema::Absolute,
        many_keys: &[&trypema::KeyedAbsolute],
        code: Some(trypema::snippets::CODE),
        algorithm: None,
        lock_free: false,
        exhibit: None,
    },
    Entry {
        one_key: &plain_log::PlainLog,
        many_keys: &[&plain_log::OneLock, &plain_log::ShardedLocks],
        code: Some(plain_log::snippets::CODE),
        algorithm: None,
        lock_free: false,
        exhibit: Some("it never forgets a key, and holds neither costs nor several quotas"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ORACLE;

    #[test]
    fn the_oracle_comes_first() {
        assert_eq!(OURS[0].info().name, ORACLE);
    }
}
