//! Idle keys are evicted, and no decision changes.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bounded::bounded;
use proptest::prelude::*;
use windowpane_baselines::{FixedWindow, Gcra, GcraRule};
use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_core::KeyedRateLimiter;
use windowpane_core::clock::ManualClock;
use windowpane_core::{Clock, Cost, Decision, FromQuotas, MonotonicClock, Nanos, Quotas};
use windowpane_keyed::{ForKeys, KeyedLimiter, SharedRule};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::PackedCounter;

fn store<L: ForKeys>(text: &str, max_keys: usize) -> KeyedLimiter<u8, L> {
    KeyedLimiter::builder(Quotas::parse([text]).unwrap())
        .max_keys(max_keys)
        .build()
        .unwrap()
}

#[test]
fn a_key_is_idle_when_its_window_is_over_and_not_a_nanosecond_before() {
    fn check<L: ForKeys>() {
        let store = store::<L>("5/10us", 10);
        assert!(store.decide_at(&1, 5_000, Cost::ONE).unwrap().is_allowed());
        assert_eq!(store.sweep_at(14_999), 0);
        assert!(store.contains(&1));
        assert_eq!(store.sweep_at(15_000), 1);
        assert!(!store.contains(&1));
        assert_eq!((store.keys(), store.stats().evictions), (0, 1));
    }
    check::<MutexLog>();
    check::<CasRing>();
}

#[test]
fn a_sweep_reads_the_stores_clock_and_counts_what_it_evicts() {
    let store: KeyedLimiter<u8, MutexLog, _, ManualClock> =
        KeyedLimiter::<u8, MutexLog>::builder(Quotas::parse(["1/100ns"]).unwrap())
            .clock(ManualClock::new(0))
            .build()
            .unwrap();
    for key in 0..3 {
        store.clock().set(10 * u64::from(key));
        assert!(store.decide(&key, Cost::ONE).unwrap().is_allowed());
    }
    store.clock().set(99);
    assert_eq!(store.sweep(), 0);
    store.clock().set(110);
    assert_eq!((store.sweep(), store.keys()), (2, 1));
    store.clock().set(120);
    assert_eq!((store.sweep(), store.keys()), (1, 0));
}

#[derive(Clone, Debug)]
enum Step {
    Ask { key: u8, wait: Nanos, cost: u64 },
    Sweep { wait: Nanos },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Long enough to fall idle now and then, short enough not to most of the time.
    let wait = prop_oneof![4 => 0..4_000_u64, 1 => 0..30_000_u64];
    let ask = (0..4_u8, wait.clone(), 1..5_u64).prop_map(|(key, wait, cost)| Step::Ask {
        key,
        wait,
        cost,
    });
    let step = prop_oneof![4 => ask, 1 => wait.prop_map(|wait| Step::Sweep { wait })];
    prop::collection::vec(step, 1..60)
}

/// A store that is swept and evicts where it must, against one that forgets no key.
fn check_swept<L: ForKeys>(steps: &[Step]) {
    // Room for 3 of 4 keys: some are evicted to make it, and some refused.
    let (swept, unswept) = (store::<L>("5/10us", 3), store::<L>("5/10us", 10));
    let mut now = 0;
    for step in steps {
        match *step {
            Step::Sweep { wait } => {
                now += wait;
                swept.sweep_at(now);
            }
            Step::Ask { key, wait, cost } => {
                now += wait;
                let cost = Cost::new(cost).unwrap();
                let seen = swept.peek_at(&key, now, cost);
                assert_eq!(seen, unswept.peek_at(&key, now, cost), "{steps:?}");
                let refusals = swept.stats().full;
                let answer = swept.decide_detailed_at(&key, now, cost);
                if swept.stats().full == refusals {
                    let expected = unswept.decide_detailed_at(&key, now, cost);
                    assert_eq!(answer, expected, "{steps:?}");
                }
            }
        }
    }
    assert!(swept.keys() <= 3);
}

/// The same with times that step back: as one that forgets no key and is given the time of the latest
/// eviction where a key is unknown and the time is earlier.
fn check_stepping_back<L: FromQuotas + 'static>(steps: &[Step]) {
    let store = store::<L>("5/10us", 10);
    let mut limiters = HashMap::new();
    let (mut now, mut floor) = (0_u64, 0);
    for (index, step) in steps.iter().enumerate() {
        let back = if index % 3 == 0 { 25_000 } else { 0 };
        match *step {
            Step::Sweep { wait } => {
                now += wait;
                let at = now.saturating_sub(back);
                if store.sweep_at(at) > 0 {
                    floor = floor.max(at);
                }
            }
            Step::Ask { key, wait, cost } => {
                now += wait;
                let (told, cost) = (now.saturating_sub(back), Cost::new(cost).unwrap());
                let at = if store.contains(&key) {
                    told
                } else {
                    told.max(floor)
                };
                let limiter = limiters.entry(key).or_insert_with(|| {
                    L::from_quotas(&Quotas::parse(["5/10us"]).unwrap(), at).unwrap()
                });
                let seen = store.peek_at(&key, told, cost).unwrap();
                assert_eq!(
                    seen.detailed,
                    limiter.peek_at(at, cost).unwrap(),
                    "{steps:?}"
                );
                let answer = store.decide_at(&key, told, cost).unwrap();
                assert_eq!(answer, limiter.decide_at(at, cost).unwrap(), "{steps:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sweeping_changes_no_decision(steps in steps()) {
        check_swept::<MutexLog>(&steps);
        check_swept::<CasRing>(&steps);
        check_swept::<PackedCounter>(&steps);
        check_swept::<BucketRing>(&steps);
        check_swept::<Gcra>(&steps);
        check_swept::<SharedRule<GcraRule>>(&steps);
        check_swept::<FixedWindow>(&steps);
    }

    #[test]
    fn an_earlier_time_finds_no_room_that_was_not_there(steps in steps()) {
        check_stepping_back::<MutexLog>(&steps);
        check_stepping_back::<CasRing>(&steps);
        check_stepping_back::<PackedCounter>(&steps);
        check_stepping_back::<BucketRing>(&steps);
        check_stepping_back::<Gcra>(&steps);
        check_stepping_back::<FixedWindow>(&steps);
    }
}

#[test]
fn an_evicted_keys_earlier_time_is_read_as_that_of_the_eviction() {
    let store = store::<MutexLog>("1/10us", 10);
    let at = |now| match store.decide_at(&1, now, Cost::ONE).unwrap() {
        Decision::Allowed { at } => Some(at),
        Decision::Denied(_) => None,
    };
    assert_eq!(at(0), Some(0));
    assert_eq!(store.sweep_at(12_000), 1);
    let seen = store.peek_at(&1, 9_000, Cost::ONE).unwrap();
    // On the caller's clock: 3 us to the eviction, and the window.
    assert_eq!(seen.more_after, Some(13_000));
    let taken = store.decide_detailed_at(&1, 9_000, Cost::ONE).unwrap();
    assert_eq!(taken.more_after, Some(13_000));
    let at_the_eviction = Decision::Allowed { at: 12_000 };
    assert_eq!(taken.detailed.decision(), at_the_eviction);
    assert_eq!(at(21_999), None);
    assert_eq!(at(22_000), Some(22_000));
    // All is forgotten, that time too.
    store.clear();
    assert_eq!((store.keys(), at(3_000)), (0, Some(3_000)));
}

#[test]
fn a_sweeper_sweeps_at_its_interval_and_ends_when_dropped() {
    bounded(|| {
        let quotas = Quotas::parse(["5/1ms"]).unwrap();
        let store: Arc<KeyedLimiter<u8, CasRing>> = Arc::new(KeyedLimiter::new(quotas).unwrap());
        let sweeper = store.sweep_every(Duration::from_millis(2)).unwrap();
        for key in 0..50 {
            assert!(store.decide(&key, Cost::ONE).unwrap().is_allowed());
        }
        let patience = Instant::now();
        while store.keys() > 0 {
            assert!(
                patience.elapsed() < Duration::from_secs(20),
                "{}",
                store.keys()
            );
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(store.stats().evictions, 50);
        drop(sweeper);
        // The thread is gone, and with it its hold on the store.
        assert_eq!(Arc::strong_count(&store), 1);
        assert!(store.decide(&1, Cost::ONE).unwrap().is_allowed());
        thread::sleep(Duration::from_millis(20));
        assert_eq!(store.keys(), 1);
    });
}

#[test]
fn a_sweeper_that_waits_for_long_ends_at_once() {
    bounded(|| {
        let quotas = Quotas::parse(["5/1ms"]).unwrap();
        let store: Arc<KeyedLimiter<u8, CasRing>> = Arc::new(KeyedLimiter::new(quotas).unwrap());
        for interval in [Duration::from_secs(3_600), Duration::MAX] {
            let start = Instant::now();
            drop(store.sweep_every(interval).unwrap());
            assert!(start.elapsed() < Duration::from_secs(60));
        }
    });
}

/// A clock that is slow enough for a sweep to be caught in the middle.
struct Slow(MonotonicClock);

impl Clock for Slow {
    fn now(&self) -> Nanos {
        thread::sleep(Duration::from_millis(1));
        self.0.now()
    }
}

#[test]
fn a_sweeper_ends_in_the_middle_of_a_sweep() {
    bounded(|| {
        let store: Arc<KeyedLimiter<u32, CasRing, _, _>> = Arc::new(
            KeyedLimiter::builder(Quotas::parse(["1/365d"]).unwrap())
                .clock(Slow(MonotonicClock::new()))
                .build()
                .unwrap(),
        );
        for key in 0..100_000 {
            assert!(store.decide_at(&key, 0, Cost::ONE).unwrap().is_allowed());
        }
        let start = Instant::now();
        let sweeper = store.sweep_every(Duration::from_millis(1)).unwrap();
        thread::sleep(Duration::from_millis(50));
        drop(sweeper);
        // A whole sweep would take more than 100 s.
        assert!(start.elapsed() < Duration::from_secs(60));
        assert_eq!(store.keys(), 100_000);
    });
}
