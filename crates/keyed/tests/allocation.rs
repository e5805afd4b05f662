//! A known key's request allocates nothing, whatever is asked of it.
//!
//! Alone in its program: what is counted is the whole program's.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use windowpane_baselines::GcraRule;
use windowpane_cas_ring::CasRing;
use windowpane_core::KeyedRateLimiter;
use windowpane_core::{Cost, Quotas};
use windowpane_keyed::{ForKeys, KeyedLimiter, SharedRule};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn check<L: ForKeys>() {
    let store: KeyedLimiter<String, L> =
        KeyedLimiter::new(Quotas::parse(["100/365d"]).unwrap()).unwrap();
    let keys: Vec<String> = (0..100).map(|key| format!("client number {key}")).collect();
    let ask = || {
        keys.iter()
            .filter(|key| store.decide(key.as_str(), Cost::ONE).unwrap().is_allowed())
            .count()
    };
    assert_eq!(ask(), 100);
    // The test harness has a thread of its own, which allocates now and then. What a request
    // allocates, it allocates in every attempt.
    let attempts = (0..8).map(|attempt| {
        let before = ALLOCATOR.stats();
        for round in 1..50 {
            let allowed = if attempt * 49 + round < 100 { 100 } else { 0 };
            assert_eq!(ask(), allowed);
            for key in &keys {
                assert!(store.peek_detailed(key.as_str(), Cost::ONE).is_ok());
                let detailed = store.decide_detailed(key.as_str(), Cost::of::<100>());
                assert!(detailed.is_ok());
            }
        }
        let since = ALLOCATOR.stats() - before;
        since.allocations + since.reallocations
    });
    assert_eq!(attempts.min(), Some(0));
    let before = ALLOCATOR.stats();
    // An unknown one is made into an owned key: the counting counts.
    assert!(store.decide("unknown", Cost::ONE).unwrap().is_allowed());
    let since = ALLOCATOR.stats() - before;
    assert!(since.allocations > 0, "{since:?}");
}

#[test]
fn a_known_key_allocates_nothing() {
    check::<CasRing>();
    check::<SharedRule<GcraRule>>();
}
