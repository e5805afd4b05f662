//! Never more keys than the cap, never a live key forgotten, never much work for one call.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use bounded::bounded;
use windowpane_cas_ring::CasRing;
use windowpane_core::{Charge, Cost, Decision, KeyedSettle, Quotas, StoreError};
use windowpane_keyed::{EXAMINED_A_CALL, KeyedLimiter, WhenFull};

/// The time of a decision that was allowed without a record.
const UNRECORDED: u64 = u64::MAX;
use windowpane_mutex_log::MutexLog;

fn quotas(text: &str) -> Quotas {
    Quotas::parse([text]).unwrap()
}

fn store(text: &str, max_keys: usize, policy: WhenFull) -> KeyedLimiter<u32, MutexLog> {
    KeyedLimiter::builder(quotas(text))
        .max_keys(max_keys)
        .when_full(policy)
        .build()
        .unwrap()
}

#[test]
fn when_all_are_live_an_unknown_key_is_answered_by_the_policy() {
    for policy in [WhenFull::Error, WhenFull::Allow] {
        let store = store("2/100ns", 2, policy);
        for key in [1, 2] {
            assert!(store.decide_at(&key, 0, Cost::ONE).unwrap().is_allowed());
        }
        let answers: Vec<_> = (0..3).map(|_| store.decide_at(&3, 50, Cost::ONE)).collect();
        let expected = match policy {
            WhenFull::Allow => Ok(Decision::Allowed { at: UNRECORDED }),
            _ => Err(StoreError::Full { keys: 2 }),
        };
        assert_eq!(answers, vec![expected; 3]);
        assert_eq!(
            (store.keys(), store.stats().full, store.stats().denials),
            (2, 3, 0)
        );
        // What can never fit is no matter of room, nor is a look.
        let never = store.decide_at(&3, 50, Cost::of::<3>());
        assert!(matches!(never, Err(StoreError::Request(_))), "{never:?}");
        assert!(
            store
                .peek_at(&3, 50, Cost::ONE)
                .unwrap()
                .detailed
                .is_allowed()
        );
        assert_eq!(store.stats().full, 3);
        // Both are still limited; at 100 ns the first of them makes room.
        assert!(store.decide_at(&1, 50, Cost::ONE).unwrap().is_allowed());
        assert!(!store.decide_at(&1, 51, Cost::ONE).unwrap().is_allowed());
        assert!(store.decide_at(&3, 100, Cost::ONE).unwrap().is_allowed());
        assert_eq!((store.keys(), store.stats().evictions), (2, 1));
        assert!(store.contains(&1) && !store.contains(&2) && store.contains(&3));
    }
}

/// The detailed answer, too, says that there is no record.
#[test]
fn what_is_allowed_without_a_record_is_told_so_in_detail() {
    let store = store("2/100ns", 1, WhenFull::Allow);
    assert!(store.decide_at(&1, 0, Cost::ONE).unwrap().is_allowed());
    let unrecorded = (Decision::Allowed { at: UNRECORDED }, 1);
    let answer = store.decide_detailed_at(&2, 50, Cost::ONE).unwrap();
    let remaining = store.decide_remaining_at(&2, 50, Cost::ONE).unwrap();
    for detailed in [answer.detailed, remaining] {
        assert_eq!((detailed.decision(), detailed.remaining()), unrecorded);
    }
    assert_eq!(answer.quotas, quotas("2/100ns"));
}

#[test]
fn a_limit_of_0_is_denied_at_the_cap_too() {
    let tiers = |key: &u32| quotas(if *key == 0 { "0/100ns" } else { "5/100ns" });
    let store: KeyedLimiter<u32, MutexLog> = KeyedLimiter::tiered(tiers)
        .max_keys(1)
        .when_full(WhenFull::Allow)
        .build()
        .unwrap();
    assert!(store.decide_at(&1, 0, Cost::ONE).unwrap().is_allowed());
    assert!(!store.decide_at(&0, 0, Cost::ONE).unwrap().is_allowed());
    assert_eq!((store.stats().full, store.stats().denials), (0, 1));
}

/// Where denials are kept, they want room as well; without it they are denied none the less.
#[test]
fn a_limit_of_0_is_denied_at_the_cap_where_denials_are_kept() {
    let tiers = |key: &u32| quotas(if *key == 0 { "0/100ns" } else { "5/100ns" });
    for policy in [WhenFull::Error, WhenFull::Allow] {
        let store: KeyedLimiter<u32, MutexLog> = KeyedLimiter::tiered(tiers)
            .max_keys(1)
            .when_full(policy)
            .keep_denied(true)
            .build()
            .unwrap();
        assert!(!store.decide_at(&0, 0, Cost::ONE).unwrap().is_allowed());
        assert_eq!(store.keys(), 1, "kept");
        store.reset(&0);
        assert!(store.decide_at(&1, 0, Cost::ONE).unwrap().is_allowed());
        let denied = store.decide_at(&0, 0, Cost::ONE).unwrap().denied();
        assert_eq!(denied.map(|denied| denied.retry_after()), Some(None));
        assert_eq!(
            (store.keys(), store.stats().full, store.stats().denials),
            (1, 1, 2)
        );
    }
}

/// The work of one call: what was examined until an idle key was found, and the most of any call.
#[test]
fn the_most_that_a_call_examined_is_kept() {
    let store = store("1/100ns", 4, WhenFull::Error);
    let take = |key, now| store.decide_at(&key, now, Cost::ONE).unwrap().is_allowed();
    for (key, at) in [(0, 50), (1, 50), (2, 0), (3, 0)] {
        assert!(take(key, at));
    }
    assert_eq!(
        (store.stats().examined, store.stats().most_examined),
        (0, 0)
    );
    assert!(take(4, 100));
    assert_eq!(
        (store.stats().examined, store.stats().most_examined),
        (3, 3)
    );
    assert!(take(5, 100));
    assert_eq!(
        (store.stats().examined, store.stats().most_examined),
        (4, 3)
    );
}

#[test]
fn what_was_allowed_without_a_record_gives_nothing_back() {
    let store = store("10/100ns", 1, WhenFull::Allow);
    let estimate = Cost::of::<8>();
    assert!(store.decide_at(&1, 0, Cost::ONE).unwrap().is_allowed());
    let unrecorded = store.decide_detailed_at(&2, 50, estimate).unwrap().detailed;
    let charge = unrecorded
        .decision()
        .at()
        .map(|at| Charge::new(at, estimate))
        .unwrap();
    assert!(store.decide_at(&2, 100, estimate).unwrap().is_allowed());
    KeyedSettle::settle(&store, &2, charge, 0);
    let seen = store.peek_at(&2, 100, Cost::ONE).unwrap().detailed;
    assert_eq!(seen.remaining(), 1);
}

/// Not even where something was recorded under the time that stands for no record.
#[test]
fn no_record_is_not_a_record_at_the_end_of_time() {
    let store = store("10/100ns", 1, WhenFull::Allow);
    let estimate = Cost::of::<8>();
    assert!(store.decide_at(&1, 0, Cost::ONE).unwrap().is_allowed());
    let unrecorded = store.decide_at(&2, 50, estimate).unwrap();
    let charge = unrecorded.at().map(|at| Charge::new(at, estimate)).unwrap();
    let recorded = store.decide_at(&2, UNRECORDED, estimate).unwrap();
    assert_eq!(recorded, Decision::Allowed { at: UNRECORDED });
    assert!(store.contains(&2));
    KeyedSettle::settle(&store, &2, charge, 0);
    let seen = store.peek_at(&2, UNRECORDED, Cost::ONE).unwrap().detailed;
    assert_eq!(seen.remaining(), 1);
}

#[test]
fn an_idle_key_makes_room_at_once_and_each_is_examined_in_its_turn() {
    let store = store("1/100ns", 64, WhenFull::Error);
    // Every eighth is idle at 100 ns.
    for key in 0..64 {
        let at = if key % 8 == 7 { 0 } else { 90 };
        assert!(store.decide_at(&key, at, Cost::ONE).unwrap().is_allowed());
    }
    for new in 100..108 {
        assert!(store.decide_at(&new, 100, Cost::ONE).unwrap().is_allowed());
    }
    assert_eq!(
        (
            store.stats().evictions,
            store.stats().examined,
            store.keys()
        ),
        (8, 64, 64)
    );
    assert!((0..64).all(|key| store.contains(&key) == (key % 8 != 7)));
    assert_eq!((store.stats().most_examined, store.max_keys()), (8, 64));
    // All are live now. The next calls give up after a few each.
    for new in 200..210 {
        let refused = store.decide_at(&new, 101, Cost::ONE);
        assert_eq!(refused, Err(StoreError::Full { keys: 64 }));
    }
    assert_eq!(store.stats().examined, 64 + 10 * EXAMINED_A_CALL);
}

/// A client over its limit stays over it, however many junk keys come along.
#[test]
fn a_flood_of_keys_changes_nothing_for_those_who_are_live() {
    const CAP: u32 = 1_000;
    const CLIENTS: u32 = 300;
    let store = store("3/1ms", CAP as usize, WhenFull::Error);
    let (mut now, mut junk, mut got_in) = (0, u32::MAX, 0_u64);
    let mut flood_calls = 0;
    for round in 0..40 {
        // The clients use up what they have, and are flooded for 0.9 of their window.
        for client in 0..CLIENTS {
            for ask in 0..5 {
                let allowed = store
                    .decide_at(&client, now, Cost::ONE)
                    .unwrap()
                    .is_allowed();
                assert_eq!(allowed, ask < 3, "client {client}, round {round}");
            }
        }
        for step in 0..9 {
            now += 100_000;
            for _ in 0..500 {
                junk -= 1;
                flood_calls += 1;
                match store.decide_at(&junk, now, Cost::ONE) {
                    Ok(decision) => got_in += u64::from(decision.is_allowed()),
                    Err(error) => assert!(matches!(error, StoreError::Full { .. })),
                }
                assert!(store.keys() <= CAP as usize);
            }
            for client in 0..CLIENTS {
                let allowed = store
                    .decide_at(&client, now, Cost::ONE)
                    .unwrap()
                    .is_allowed();
                assert!(!allowed, "client {client}, round {round}, step {step}");
            }
        }
        // At the end of the window the clients are served again.
        now += 100_000;
    }
    assert!(store.stats().examined <= flood_calls * EXAMINED_A_CALL);
    assert_eq!(got_in + store.stats().full, flood_calls);
    // Junk falls idle too, and makes room for other junk.
    assert!(
        got_in > u64::from(CAP) && store.stats().full > 0,
        "{got_in}"
    );
}

#[test]
fn the_cap_holds_however_many_insert_at_once() {
    bounded(|| {
        const CAP: usize = 100;
        let store: KeyedLimiter<u32, CasRing> = KeyedLimiter::builder(quotas("1/1us"))
            .max_keys(CAP)
            .build()
            .unwrap();
        let next = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50_000 {
                        let key = next.fetch_add(1, Ordering::Relaxed);
                        let now = u64::from(key) * 5;
                        let _ = store.decide_at(&key, now, Cost::ONE);
                        assert!(store.keys() <= CAP);
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..500 {
                    store.sweep_at(u64::from(next.load(Ordering::Relaxed)) * 5);
                }
            });
        });
        // What is counted is what there is.
        let held = (0..next.load(Ordering::Relaxed)).filter(|key| store.contains(key));
        assert_eq!(held.count(), store.keys());
        assert!(store.stats().evictions > 1_000, "{store:?}");
        store.clear();
        assert_eq!(store.keys(), 0);
    });
}
