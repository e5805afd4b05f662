//! What a look tells of the time at which more remains, where the clock is behind what was recorded,
//! or goes on meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

use windowpane_baselines::FixedWindow;
use windowpane_cas_ring::CasRing;
use windowpane_core::KeyedRateLimiter;
use windowpane_core::{Charge, Clock, Cost, KeyedSettle, Nanos, Quotas, Settle};
use windowpane_keyed::{ForKeys, KeyedLimiter};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::PackedCounter;

fn store<L: ForKeys>(quotas: &str) -> KeyedLimiter<String, L> {
    KeyedLimiter::new(Quotas::parse(quotas.replace(" ", ",").as_str()).unwrap()).unwrap()
}

/// A look at `now`, after a request of cost 1 at `before`, returns what the request itself would return.
fn check_behind<L: ForKeys>(quotas: &str, before: Nanos, now: Nanos, more_after: Nanos) {
    let store = store::<L>(quotas);
    let first = store.decide_at("a", before, Cost::ONE).unwrap();
    assert!(first.is_allowed());
    let seen = store.peek_at("a", now, Cost::ONE);
    assert_eq!(seen, store.decide_detailed_at("a", now, Cost::ONE));
    assert_eq!(seen.unwrap().more_after, Some(more_after), "{quotas}");
}

#[test]
fn a_look_behind_what_was_recorded_tells_what_the_request_does() {
    check_behind::<MutexLog>("2req/1ns", 3, 0, 4);
    check_behind::<MutexLog>("3req/1ns", 3, 0, 4);
    check_behind::<MutexLog>("3/1us 3/2us", 10_000, 5_000, 7_000);
    check_behind::<MutexLog>("3req/1us 3req/2us", 10_000, 5_000, 7_000);
    check_behind::<CasRing>("3/1us 3/2us", 10_000, 5_000, 7_000);
}

/// What was charged is given back, so the key is as one never seen but for the time that it knows.
#[test]
fn an_idle_key_remembers_its_time() {
    fn check<L: ForKeys + Settle>(before: Nanos, now: Nanos, more_after: Nanos) {
        let store = store::<L>("3/10us");
        let estimate = Cost::of::<2>();
        let decision = store.decide_at("a", before, estimate).unwrap();
        KeyedSettle::settle(
            &store,
            "a",
            decision.at().map(|at| Charge::new(at, estimate)).unwrap(),
            0,
        );
        let seen = store.peek_at("a", now, Cost::ONE).unwrap();
        let told = store.decide_detailed_at("a", now, Cost::ONE).unwrap();
        assert_eq!(seen.more_after, told.more_after);
        assert_eq!(seen.more_after, Some(more_after));
    }
    check::<MutexLog>(1_000, 500, 10_500);
    check::<FixedWindow>(11_000, 9_000, 11_000);
    check::<PackedCounter>(11_000, 9_000, 21_000);
}

/// A clock whose every reading is later than the one before.
struct GoesOn(AtomicU64);

impl Clock for GoesOn {
    fn now(&self) -> Nanos {
        self.0.fetch_add(30, Ordering::Relaxed)
    }
}

/// A limiter that begins after the reading of a look has its windows elsewhere.
#[test]
fn a_look_takes_one_reading() {
    fn check<L: ForKeys>() {
        let quotas = Quotas::parse(["8req/20ns"]).unwrap();
        let store = KeyedLimiter::<String, L>::builder(quotas)
            .clock(GoesOn(AtomicU64::new(0)))
            .build()
            .unwrap();
        for first in 0..20 {
            let key = first.to_string();
            assert!(store.decide(&key, Cost::ONE).unwrap().is_allowed());
            let now = store.clock().0.load(Ordering::Relaxed);
            let seen = store.peek_detailed(&key, Cost::ONE).unwrap();
            let told = store.decide_detailed_at(&key, now, Cost::ONE).unwrap();
            assert!(seen.more_after >= told.more_after, "{seen:?} {told:?}");
            assert!(seen.more_after.is_some(), "{told:?}");
            store.clock().0.fetch_add(7, Ordering::Relaxed);
        }
    }
    check::<FixedWindow>();
    check::<PackedCounter>();
}

/// Where no time is left for two windows, more remains as soon as it does.
#[test]
fn more_remains_near_the_end_of_time() {
    let store = store::<MutexLog>("3req/1us");
    let seen = store.peek_at("a", Nanos::MAX - 1_500, Cost::ONE).unwrap();
    assert_eq!(seen.more_after, Some(1_000));
}
