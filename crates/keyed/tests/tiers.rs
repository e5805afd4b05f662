//! Quotas by key, and quotas that change.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use bounded::bounded;
use windowpane_baselines::GcraRule;
use windowpane_core::KeyedRateLimiter;
use windowpane_core::{BuildError, Clock, Cost, Nanos, Quotas, RateLimiter, RequestError};
use windowpane_keyed::{ForKeys, KeyedLimiter, SharedRule};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::TwoWindowRule;

fn quotas(limit: u64) -> Quotas {
    Quotas::parse([format!("{limit}/365d").as_str()]).unwrap()
}

fn remaining(store: &KeyedLimiter<String, MutexLog>, key: &str) -> u64 {
    let seen = store.peek_detailed(key, Cost::ONE).unwrap().detailed;
    seen.remaining() + u64::from(seen.is_allowed())
}

#[test]
fn each_key_has_its_own_quotas_asked_once_an_entry() {
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    let store: KeyedLimiter<String, MutexLog> = KeyedLimiter::tiered(move |key: &String| {
        count.fetch_add(1, Ordering::Relaxed);
        quotas(key.len() as u64)
    })
    .build()
    .unwrap();
    for key in ["a", "four"] {
        for ask in 0..10 {
            let allowed = store.decide(key, Cost::ONE).unwrap().is_allowed();
            assert_eq!(allowed, ask < key.len(), "{key}");
        }
    }
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert_eq!(store.quotas("four"), quotas(4));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert_eq!(store.quotas("unknown"), quotas(7));
}

/// The store's own clock is near zero: callers pass times that count from 1970.
#[test]
fn quotas_are_refreshed_at_a_time_of_the_callers_own() {
    let quotas = |text| Quotas::parse([text]).unwrap();
    let year = 1_767_225_600_000_000_000;
    let store: KeyedLimiter<u8, MutexLog> = KeyedLimiter::new(quotas("5/100ns")).unwrap();
    let take = |key, at, permits| {
        let decision = store.decide_at(&key, year + at, Cost::new(permits).unwrap());
        decision.unwrap().is_allowed()
    };
    assert!(take(1, 0, 5) && take(2, 60, 5));
    store.set_quotas(quotas("5/1us")).unwrap();
    // At 110 the first five have left the window of 100 ns and stay forgotten.
    assert_eq!(store.refresh_key_at(&1, year + 110), Ok(true));
    assert!(take(1, 110, 5) && !take(1, 1_109, 1));
    assert_eq!(store.refresh_at(year + 110), Ok(1));
    assert!(!take(2, 1_059, 1) && take(2, 1_060, 5));
}

#[test]
fn new_quotas_hold_for_unknown_keys_at_once_and_for_the_others_when_refreshed() {
    let store: KeyedLimiter<String, MutexLog> = KeyedLimiter::new(quotas(5)).unwrap();
    for key in ["a", "b"] {
        assert!(store.decide(key, Cost::of::<3>()).unwrap().is_allowed());
    }
    store.set_quotas(quotas(10)).unwrap();
    assert_eq!((remaining(&store, "a"), remaining(&store, "new")), (2, 10));
    assert_eq!(store.refresh_key("a"), Ok(true));
    assert_eq!((remaining(&store, "a"), remaining(&store, "b")), (7, 2));
    assert_eq!(store.refresh(), Ok(1));
    assert_eq!(remaining(&store, "b"), 7);
    assert_eq!(
        (store.refresh(), store.refresh_key("new")),
        (Ok(0), Ok(false))
    );
    // Below what is used: nothing remains, and what is used stays so.
    store.set_tiers(|key: &String| quotas(if key == "a" { 2 } else { 4 }));
    assert_eq!(store.refresh(), Ok(2));
    assert_eq!((remaining(&store, "a"), remaining(&store, "b")), (0, 1));
    store.set_quotas(quotas(6)).unwrap();
    assert_eq!(store.refresh(), Ok(2));
    assert_eq!((remaining(&store, "a"), remaining(&store, "b")), (3, 3));
}

#[test]
fn what_cannot_be_held_is_told_and_changes_nothing() {
    let store: KeyedLimiter<String, SharedRule<GcraRule>> = KeyedLimiter::new(quotas(5)).unwrap();
    assert!(store.decide("a", Cost::ONE).unwrap().is_allowed());
    let two = Quotas::parse(["5/1s", "2/100ms"]).unwrap();
    let refused = store.set_quotas(two.clone());
    assert!(matches!(refused, Err(BuildError::TooManyQuotas { .. })));
    assert_eq!(store.quotas("b"), quotas(5));
    // A function's answer is met when it is asked: one key keeps what it has, the other is changed.
    assert!(store.decide("b", Cost::ONE).unwrap().is_allowed());
    store.set_tiers(move |key: &String| if key == "a" { two.clone() } else { quotas(9) });
    assert!(matches!(
        store.refresh(),
        Err(BuildError::TooManyQuotas { .. })
    ));
    assert_eq!(
        (store.quotas("a"), store.quotas("b")),
        (quotas(5), quotas(9))
    );
}

/// No key keeps old quotas because it was inserted while they were changed.
#[test]
fn a_change_beside_insertions_reaches_all() {
    bounded(|| {
        let limit = Arc::new(AtomicU64::new(1));
        let of_now = Arc::clone(&limit);
        let store: KeyedLimiter<u64, MutexLog> =
            KeyedLimiter::tiered(move |_: &u64| quotas(of_now.load(Ordering::SeqCst)))
                .build()
                .unwrap();
        thread::scope(|scope| {
            for thread in 0..2 {
                let store = &store;
                scope.spawn(move || {
                    for key in 0..30_000_u64 {
                        let key = 2 * key + thread;
                        assert!(store.decide(&key, Cost::ONE).unwrap().is_allowed());
                    }
                });
            }
            for change in 1..=30 {
                limit.store(change, Ordering::SeqCst);
                store.refresh().unwrap();
            }
        });
        assert_eq!(store.keys(), 60_000);
        assert!((0..60_000).all(|key| store.quotas(&key) == quotas(30)));
    });
}

/// The function's answer is out of date by the time it is given: it is asked again.
#[test]
fn an_answer_that_was_overtaken_is_not_used() {
    bounded(|| {
        type Store = KeyedLimiter<String, MutexLog>;
        let (limit, overtaken) = (Arc::new(AtomicU64::new(5)), Arc::new(AtomicBool::new(true)));
        let own: Arc<OnceLock<Arc<Store>>> = Arc::default();
        let captured = (Arc::clone(&limit), Arc::clone(&overtaken), Arc::clone(&own));
        let tiers = move |_: &String| {
            let (limit, overtaken, own) = &captured;
            let answer = quotas(limit.load(Ordering::SeqCst));
            if overtaken.swap(false, Ordering::SeqCst) {
                limit.fetch_add(1, Ordering::SeqCst);
                // Nothing is locked while this runs, so it can call the store.
                own.get().unwrap().refresh().unwrap();
            }
            answer
        };
        let store = own.get_or_init(|| Arc::new(Store::tiered(tiers).build().unwrap()));
        // An insertion, whose key is not refreshed since it is not held yet.
        assert!(store.decide("a", Cost::ONE).unwrap().is_allowed());
        assert_eq!(store.quotas("a"), quotas(6));
        // A change, inside of which another is made.
        limit.store(8, Ordering::SeqCst);
        overtaken.store(true, Ordering::SeqCst);
        store.refresh_key("a").unwrap();
        assert_eq!(store.quotas("a"), quotas(9));
    });
}

thread_local! {
    /// How often this thread has read a [`Pausing`] clock; `None` where it does not count.
    static READ: Cell<Option<u32>> = const { Cell::new(None) };
}

/// A clock whose second reading by a thread that counts, the one inside the insertion, waits until
/// another thread is done, or for a while.
#[derive(Clone)]
struct Pausing {
    inside: Arc<Mutex<mpsc::Sender<()>>>,
    done: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Clock for Pausing {
    fn now(&self) -> Nanos {
        if let Some(read) = READ.get() {
            READ.set(Some(read + 1));
            if read == 1 {
                self.inside.lock().unwrap().send(()).unwrap();
                // The change may have to wait for this insertion instead.
                let patience = Duration::from_millis(200);
                let _ = self.done.lock().unwrap().recv_timeout(patience);
            }
        }
        5
    }
}

/// A change that begins when a key is already being inserted with what was asked before it.
#[test]
fn a_change_in_the_midst_of_an_insertion_reaches_it() {
    bounded(|| {
        let (inside, entered) = mpsc::channel();
        let (changed, done) = mpsc::channel();
        let clock = Pausing {
            inside: Arc::new(Mutex::new(inside)),
            done: Arc::new(Mutex::new(done)),
        };
        let store: KeyedLimiter<String, MutexLog, _, Pausing> =
            KeyedLimiter::<String, MutexLog>::builder(quotas(10))
                .clock(clock)
                .build()
                .unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                READ.set(Some(0));
                assert!(store.decide("a", Cost::ONE).unwrap().is_allowed());
            });
            entered.recv().unwrap();
            store.set_quotas(quotas(3)).unwrap();
            assert_eq!(store.refresh(), Ok(1));
            changed.send(()).unwrap();
        });
        assert_eq!(store.quotas("a"), quotas(3));
    });
}

#[test]
fn a_key_that_goes_while_it_is_refreshed_is_not_counted() {
    bounded(|| {
        let held: Arc<OnceLock<Arc<KeyedLimiter<String, MutexLog>>>> = Arc::default();
        let own = Arc::clone(&held);
        let later = Arc::new(AtomicBool::new(false));
        let is_later = Arc::clone(&later);
        let store: Arc<KeyedLimiter<String, MutexLog>> = Arc::new(
            KeyedLimiter::tiered(move |key: &String| {
                if !is_later.load(Ordering::SeqCst) {
                    return quotas(5);
                }
                if let Some(store) = own.get() {
                    store.reset(key);
                }
                quotas(7)
            })
            .build()
            .unwrap(),
        );
        assert!(store.decide("a", Cost::ONE).unwrap().is_allowed());
        assert!(held.set(Arc::clone(&store)).is_ok());
        later.store(true, Ordering::SeqCst);
        assert_eq!((store.refresh(), store.keys()), (Ok(0), 0));
    });
}

/// A rule is shared by keys that come while at least half of its range is left.
#[test]
fn a_shared_rule_lasts_for_a_key_that_comes_late() {
    let year: Nanos = 365 * 86_400_000_000_000;
    // A word whose range is little more than ten years.
    let quotas = Quotas::parse(["1023/18us"]).unwrap();
    let make = SharedRule::<TwoWindowRule>::maker();
    let early = make(&quotas, 0).unwrap();
    let late = make(&quotas, 6 * year).unwrap();
    let then = 10 * year + year / 2;
    let over = early.decide_at(then, Cost::ONE);
    assert!(matches!(over, Err(RequestError::TimeOutOfRange { .. })));
    assert!(late.decide_at(then, Cost::ONE).unwrap().is_allowed());
}
