//! What a key is answered, known or not.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::sync::Arc;
use std::thread;

use bounded::bounded;
use proptest::prelude::*;
use windowpane_baselines::{FixedWindow, FixedWindowRule, Gcra, GcraRule};
use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_core::clock::ManualClock;
use windowpane_core::{
    BuildError, ChangeQuotas, Charge, Cost, Decision, FromQuotas, KeyedRateLimiter, KeyedSettle,
    Local, Nanos, Quotas, RateLimiter, RequestError, Settle, StoreError,
};
use windowpane_keyed::{ForKeys, KeyedLimiter, SharedRule};
use windowpane_mutex_log::{MutexLog, OnRegression};
use windowpane_packed_counter::PackedCounter;

fn quotas(text: &str) -> Quotas {
    Quotas::parse(text.replace(" ", ",").as_str()).unwrap()
}

fn store<L: ForKeys>(text: &str) -> KeyedLimiter<String, L> {
    KeyedLimiter::new(quotas(text)).unwrap()
}

fn allowed<L: RateLimiter>(store: &KeyedLimiter<String, L>, key: &str, now: Nanos) -> bool {
    store.decide_at(key, now, Cost::ONE).unwrap().is_allowed()
}

#[test]
fn keys_never_share_an_allowance() {
    fn check<L: ForKeys>() {
        let store = store::<L>("1/100ns");
        assert!(allowed(&store, "a", 0));
        assert!(allowed(&store, "b", 0));
        assert!(!allowed(&store, "a", 50));
        assert_eq!((store.keys(), store.stats().denials), (2, 1));
    }
    check::<MutexLog>();
    check::<CasRing>();
    check::<PackedCounter>();
    check::<BucketRing>();
    check::<Gcra>();
    check::<FixedWindow>();
    check::<SharedRule<GcraRule>>();
    check::<Box<CasRing>>();
}

#[test]
fn a_key_is_found_by_what_it_borrows_as() {
    let strings = store::<CasRing>("1/100ns");
    assert!(allowed(&strings, "a", 0));
    let owned = String::from("a");
    assert!(
        !strings
            .decide_at(&owned, 1, Cost::ONE)
            .unwrap()
            .is_allowed()
    );
    assert_eq!(strings.keys(), 1);

    let shared: KeyedLimiter<Arc<str>, CasRing> = KeyedLimiter::new(quotas("1/100ns")).unwrap();
    assert!(shared.decide_at("a", 0, Cost::ONE).unwrap().is_allowed());
    assert!(!shared.decide_at("a", 0, Cost::ONE).unwrap().is_allowed());

    let numbers: KeyedLimiter<u64, CasRing> = KeyedLimiter::new(quotas("1/100ns")).unwrap();
    assert!(numbers.decide_at(&7, 0, Cost::ONE).unwrap().is_allowed());
    assert!(!numbers.decide_at(&7, 0, Cost::ONE).unwrap().is_allowed());
    assert!(numbers.decide_at(&8, 0, Cost::ONE).unwrap().is_allowed());
}

#[test]
fn what_is_not_allowed_leaves_nothing_behind() {
    let store = store::<MutexLog>("0/100ns");
    let denied = store
        .decide_at("a", 0, Cost::ONE)
        .unwrap()
        .denied()
        .unwrap();
    assert_eq!(denied.retry_after(), None);
    assert_eq!((store.keys(), store.stats().denials), (0, 1));

    let store = self::store::<MutexLog>("3/100ns");
    let error = store.decide_at("a", 0, Cost::of::<4>()).unwrap_err();
    let request = RequestError::NeverFits {
        cost: Cost::of::<4>(),
        quota: 0,
        limit: 3,
    };
    assert_eq!(error, StoreError::Request(request));
    assert_eq!(store.peek_at("a", 0, Cost::of::<4>()), Err(error));
    let seen = store.peek_at("a", 0, Cost::of::<2>()).unwrap();
    assert!(seen.detailed.is_allowed());
    assert_eq!(seen.detailed.remaining(), 1);
    assert_eq!(store.quotas("a"), quotas("3/100ns"));
    store.reset("a");
    assert_eq!((store.keys(), store.stats().denials), (0, 0));
    assert!(!store.contains("a"));
}

#[test]
fn what_the_algorithm_cannot_hold_is_told_when_the_store_is_made() {
    let made = KeyedLimiter::<String, CasRing>::new(quotas("5req/1s"));
    assert!(matches!(made, Err(BuildError::RequestsNotSupported { .. })));
    // Where each key has its own, the error comes when that key asks; nothing is kept of it.
    let tiers = |key: &String| quotas(if key == "bad" { "5req/1s" } else { "5/1s" });
    let store: KeyedLimiter<String, CasRing> = KeyedLimiter::tiered(tiers).build().unwrap();
    let told = store.decide_at("bad", 0, Cost::ONE);
    assert!(matches!(told, Err(StoreError::Build(_))), "{told:?}");
    assert_eq!(store.keys(), 0);
    assert!(allowed(&store, "good", 0));
}

#[test]
fn a_look_changes_nothing_and_a_reset_forgets_one_key() {
    let store = store::<CasRing>("2/100ns");
    assert!(allowed(&store, "a", 0) && allowed(&store, "b", 0));
    for _ in 0..5 {
        let seen = store.peek_at("a", 10, Cost::of::<2>()).unwrap();
        let denied = seen.detailed.decision().denied().unwrap();
        assert_eq!(denied.retry_after_nanos(), Some(90));
        assert_eq!(seen.detailed.remaining(), 1);
    }
    // No look was counted as a denial.
    assert_eq!(store.stats().denials, 0);
    store.reset("a");
    assert_eq!((store.keys(), store.contains("a")), (1, false));
    let seen = store.peek_at("a", 10, Cost::ONE).unwrap();
    assert_eq!(seen.detailed.remaining(), 1);
    let seen = store.peek_at("b", 10, Cost::ONE).unwrap();
    assert_eq!(seen.detailed.remaining(), 0);
}

/// Whether a look tells when more remains to the nanosecond, also where some of the permits are used.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    Exact,
    OrLater,
}

/// When more remains: asked at that time there is more, and a nanosecond before there is not.
fn check_more_after<L: ForKeys>(text: &str, look: Look, asks: &[(Nanos, u64)]) {
    let store = store::<L>(text);
    let (mut now, mut told) = (0, None);
    for &(step, cost) in asks {
        now += step;
        let cost = Cost::new(cost).unwrap();
        let Ok(seen) = store.peek_at("a", now, cost) else {
            continue;
        };
        let answer = store.decide_detailed_at("a", now, cost).unwrap();
        assert_eq!(seen.detailed, answer.detailed, "{text} {asks:?}");
        if look == Look::Exact {
            assert_eq!(seen.more_after, answer.more_after, "{text} {asks:?}");
        }
        // A look at a request that would be allowed may tell a later time, or none.
        match (seen.more_after, answer.more_after) {
            (Some(seen), Some(told)) => assert!(seen >= told, "{text} {asks:?}"),
            (None, _) => {}
            (seen, told) => panic!("{seen:?} before {told:?}: {text} {asks:?}"),
        }
        told = Some((answer.detailed.remaining(), answer.more_after));
    }
    let Some((remaining, more_after)) = told else {
        return;
    };
    let left = |wait: Nanos| {
        // What is left before a request of one permit is known after it.
        let seen = store.peek_at("a", now + wait, Cost::ONE).unwrap().detailed;
        seen.remaining() + u64::from(seen.is_allowed())
    };
    match more_after {
        Some(wait) => {
            assert!(left(wait) > remaining, "{text} {asks:?}: {wait}");
            assert!(
                wait == 1 || left(wait - 1) == remaining,
                "{text} {asks:?}: {wait}"
            );
        }
        None => assert_eq!(left(1_000_000), remaining, "{text} {asks:?}"),
    }
}

proptest! {
    #[test]
    fn more_remains_when_it_is_told(
        asks in prop::collection::vec((0..120_u64, 1..5_u64), 1..12),
    ) {
        check_more_after::<MutexLog>("5/100ns", Look::Exact, &asks);
        check_more_after::<MutexLog>("5req/100ns", Look::Exact, &asks);
        check_more_after::<MutexLog>("5req/100ns 3req/40ns", Look::Exact, &asks);
        check_more_after::<MutexLog>("9/100ns 4/40ns", Look::Exact, &asks);
        check_more_after::<MutexLog>("9/100ns 5req/40ns", Look::Exact, &asks);
        check_more_after::<CasRing>("5/100ns", Look::Exact, &asks);
        check_more_after::<CasRing>("9/100ns 4/40ns", Look::Exact, &asks);
        check_more_after::<Gcra>("5/100ns", Look::OrLater, &asks);
        check_more_after::<Gcra>("5req/100ns", Look::OrLater, &asks);
        let longer: Vec<_> = asks.iter().map(|(step, cost)| (step * 1_000, *cost)).collect();
        check_more_after::<PackedCounter>("5/100us", Look::OrLater, &longer);
        check_more_after::<PackedCounter>("5req/100us", Look::OrLater, &longer);
        check_more_after::<FixedWindow>("5req/100us", Look::OrLater, &longer);
        check_more_after::<BucketRing>("9/120us 4/60us", Look::OrLater, &longer);
        check_more_after::<BucketRing>("5req/100us", Look::OrLater, &longer);
    }
}

#[test]
fn a_look_at_the_first_request_tells_all_that_the_request_does() {
    fn check<L: ForKeys>() {
        let store = store::<L>("5/100us");
        let seen = store.peek_at("a", 7_000, Cost::of::<2>());
        assert_eq!(seen, store.decide_detailed_at("a", 7_000, Cost::of::<2>()));
        assert!(seen.unwrap().more_after.is_some());
    }
    check::<MutexLog>();
    check::<CasRing>();
    check::<PackedCounter>();
    check::<BucketRing>();
    check::<Gcra>();
    check::<FixedWindow>();
}

#[test]
fn a_charge_is_settled_while_its_key_is_known() {
    let store = store::<MutexLog>("10/100ns");
    let estimate = Cost::of::<8>();
    let decision = store.decide_at("a", 0, estimate).unwrap();
    let charge = decision.at().map(|at| Charge::new(at, estimate)).unwrap();
    KeyedSettle::settle(&store, "a", charge, 3);
    let left = |now| {
        store
            .peek_at("a", now, Cost::ONE)
            .unwrap()
            .detailed
            .remaining()
    };
    assert_eq!(left(0), 6);
    // Evicted, then known again: nothing of the new charge is given back.
    let decision = store.decide_at("a", 100, estimate).unwrap();
    let late = decision.at().map(|at| Charge::new(at, estimate)).unwrap();
    assert_eq!(store.sweep_at(200), 1);
    assert!(store.decide_at("a", 200, estimate).unwrap().is_allowed());
    KeyedSettle::settle(&store, "a", late, 0);
    assert_eq!(left(200), 1);
}

#[test]
fn a_key_that_outlives_its_limiters_range_gets_a_new_limiter_when_nothing_counts() {
    let store = store::<PackedCounter>("700/20us");
    let all = Cost::of::<700>();
    let out_of_range = |now| match store.decide_at("a", now, all) {
        Err(StoreError::Request(RequestError::TimeOutOfRange { last, .. })) => Some(last),
        answer => answer.map(|_| None).unwrap(),
    };
    assert_eq!(out_of_range(0), None);
    let alone = PackedCounter::new(quotas("700/20us")).unwrap();
    let Err(RequestError::TimeOutOfRange { last, .. }) = alone.decide_at(u64::MAX / 4, all) else {
        panic!("more than a hundred years are within the range");
    };
    // Accepted at the last instant, it counts in the two windows after it.
    assert_eq!(out_of_range(last), None);
    assert_eq!(out_of_range(last + 1), Some(last));
    assert_eq!(out_of_range(last + 40_000), Some(last));
    assert_eq!(
        (store.sweep_at(last + 40_000), store.stats().evictions),
        (0, 0)
    );
    for now in [last + 1, last + 40_000] {
        let seen = store.peek_at("a", now, all).unwrap_err();
        let out = RequestError::TimeOutOfRange { now, last };
        assert_eq!(seen, StoreError::Request(out));
    }
    let seen = store.peek_at("a", last + 40_001, all).unwrap();
    assert!(seen.detailed.is_allowed());
    assert_eq!(out_of_range(last + 40_001), None);
    assert_eq!((store.keys(), store.stats().evictions), (1, 1));
    // The new one has a range of its own; a sweep forgets what outlived its own.
    assert_eq!(store.sweep_at(last + 100_000), 1);
}

#[test]
fn the_traits_answer_as_the_store_does() {
    let clock = Arc::new(ManualClock::new(0));
    let store: Arc<KeyedLimiter<String, MutexLog, _, _>> = Arc::new(
        KeyedLimiter::builder(quotas("2/100ns"))
            .clock(Arc::clone(&clock))
            .build()
            .unwrap(),
    );
    fn through<S: KeyedRateLimiter<str>>(store: &S) -> (bool, Option<Nanos>) {
        let allowed = store.decide("a", Cost::ONE).unwrap().is_allowed();
        (
            allowed,
            store.peek_detailed("a", Cost::ONE).unwrap().more_after,
        )
    }
    assert_eq!(through(&store), (true, Some(100)));
    clock.set(40);
    assert_eq!(through(&store), (true, Some(60)));
    assert_eq!(through(&store), (false, Some(60)));
    let local = Local(Arc::clone(&store));
    let answer = futures_now(windowpane_core::AsyncKeyedRateLimiter::decide_detailed(
        &local,
        "a",
        Cost::ONE,
    ));
    assert!(!answer.unwrap().detailed.is_allowed());
    KeyedRateLimiter::reset(&*store, "a");
    assert_eq!(store.keys(), 0);
}

/// The answer of a future that has it at once.
fn futures_now<F: Future>(future: F) -> F::Output {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(answer) => answer,
        std::task::Poll::Pending => panic!("a store of this machine answers at once"),
    }
}

/// Who has the store to himself gets the limiter that the key's requests are decided by.
#[test]
fn a_keys_own_limiter_is_had_by_who_has_the_store() {
    let mut store = store::<MutexLog>("2/100ns");
    assert!(allowed(&store, "a", 0) && allowed(&store, "b", 0));
    assert!(store.get_mut("c").is_none());
    let limiter = store.get_mut("a").unwrap();
    assert!(limiter.decide_at(1, Cost::ONE).unwrap().is_allowed());
    assert!(!allowed(&store, "a", 1));
    assert!(allowed(&store, "b", 1));
}

#[test]
fn denials_are_counted_from_all_threads() {
    bounded(|| {
        let store = store::<CasRing>("1/365d");
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..1_000).for_each(|_| drop(store.decide("a", Cost::ONE))));
            }
        });
        assert_eq!(store.stats().denials, 7_999);
        assert_eq!(
            (
                store.stats().full,
                store.stats().evictions,
                store.stats().examined
            ),
            (0, 0, 0)
        );
    });
}

#[test]
fn a_denial_that_records_something_can_be_kept() {
    let build = |quotas: &Quotas, _| {
        Ok(<MutexLog>::with_regression(
            quotas.clone(),
            OnRegression::Reject,
        ))
    };
    let make = |keep| -> KeyedLimiter<String, MutexLog> {
        KeyedLimiter::builder_with(quotas("0/100ns"), build)
            .keep_denied(keep)
            .build()
            .unwrap()
    };
    let back = |store: &KeyedLimiter<String, MutexLog>| {
        let first = store.decide_at("a", 50, Cost::ONE);
        assert!(matches!(first, Ok(Decision::Denied(_))), "{first:?}");
        store.decide_at("a", 40, Cost::ONE).is_err()
    };
    assert!(back(&make(true)));
    assert!(!back(&make(false)));
}

/// Sharing the rule changes no answer.
fn check_shared<L: FromQuotas + 'static, R: ForKeys>(asks: &[(u8, Nanos, u64)]) {
    let (own, shared) = (store::<L>("5/100us"), store::<R>("5/100us"));
    for &(key, now, cost) in asks {
        let (key, cost) = (key.to_string(), Cost::new(cost).unwrap());
        let one = own.decide_detailed_at(&key, now, cost);
        assert_eq!(one, shared.decide_detailed_at(&key, now, cost), "{asks:?}");
        let one = own.peek_at(&key, now, Cost::ONE);
        assert_eq!(one, shared.peek_at(&key, now, Cost::ONE), "{asks:?}");
    }
}

proptest! {
    /// Times step back, too: a key whose first request is earlier than another's.
    #[test]
    fn a_shared_rule_decides_as_one_that_is_not(
        asks in prop::collection::vec((0..3_u8, 0..500_000_u64, 1..7_u64), 1..40),
    ) {
        check_shared::<Gcra, SharedRule<GcraRule>>(&asks);
        check_shared::<FixedWindow, SharedRule<FixedWindowRule>>(&asks);
        check_shared::<PackedCounter, SharedRule<windowpane_packed_counter::TwoWindowRule>>(&asks);
    }
}

/// What is done to one limiter's word is done to no other's, though they share the rule.
#[test]
fn a_limiter_that_shares_its_rule_is_settled_reset_and_changed_by_itself() {
    let make = SharedRule::<FixedWindowRule>::maker();
    let five = quotas("5/100us");
    let (mut one, other) = (make(&five, 0).unwrap(), make(&five, 0).unwrap());
    let left = |limiter: &SharedRule<FixedWindowRule>| {
        let seen = limiter.peek_at(7, Cost::ONE).unwrap();
        seen.remaining() + u64::from(seen.is_allowed())
    };
    for limiter in [&one, &other] {
        let four = limiter.decide_at(7, Cost::of::<4>()).unwrap();
        assert!(four.is_allowed() && !limiter.is_idle_at(7));
    }
    one.settle_at(7, Cost::of::<4>(), 2);
    assert_eq!((left(&one), left(&other)), (3, 1));
    one.change_at(7, &quotas("9/100us")).unwrap();
    assert_eq!((one.quotas(), other.quotas()), (quotas("9/100us"), five));
    assert_eq!((left(&one), left(&other)), (7, 1));
    one.reset();
    assert_eq!((left(&one), left(&other)), (9, 1));
    assert!(one.is_idle_at(7));
}
