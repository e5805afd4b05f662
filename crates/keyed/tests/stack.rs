//! Several limits in one decision: charged to all or to none.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use windowpane_baselines::Gcra;
use windowpane_cas_ring::CasRing;
use windowpane_core::clock::ManualClock;
use windowpane_core::stack::{self, Cancel, Limit, Reason};
use windowpane_core::{
    AcquireError, Answer, Charge, Cost, Decision, FromQuotas, KeyedRateLimiter, KeyedSettle,
    Quotas, StoreError,
};
use windowpane_keyed::KeyedLimiter;
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::PackedCounter;

type Store<L> = KeyedLimiter<u64, L, windowpane_keyed::DefaultHasher, Arc<ManualClock>>;

const SECOND: u64 = 1_000_000_000;

fn store<L: FromQuotas + 'static>(quotas: &str, clock: &Arc<ManualClock>) -> Store<L> {
    let quotas = Quotas::parse(quotas).unwrap();
    KeyedLimiter::builder(quotas)
        .clock(Arc::clone(clock))
        .build()
        .unwrap()
}

/// What is left of each quota of a key.
fn left<S: KeyedRateLimiter<u64>>(store: &S, key: u64) -> Vec<u64> {
    let answer = store.peek_detailed(&key, Cost::ONE).unwrap();
    let taken = u64::from(answer.detailed.is_allowed());
    let left = answer.detailed.remaining_per_quota().iter();
    left.map(|left| left + taken).collect()
}

/// A store in which each decision is preceded by an action: what another thread does between the
/// check and the charge.
struct Before<S, F>(S, F);

impl<S: KeyedRateLimiter<u64>, F: Fn() + Send + Sync> KeyedRateLimiter<u64> for Before<S, F> {
    fn quotas(&self, key: &u64) -> Quotas {
        self.0.quotas(key)
    }

    fn decide(&self, key: &u64, cost: Cost) -> Result<Decision, StoreError> {
        self.1();
        self.0.decide(key, cost)
    }

    fn decide_detailed(&self, key: &u64, cost: Cost) -> Result<Answer, StoreError> {
        self.1();
        self.0.decide_detailed(key, cost)
    }

    fn peek_detailed(&self, key: &u64, cost: Cost) -> Result<Answer, StoreError> {
        self.0.peek_detailed(key, cost)
    }

    fn reset(&self, key: &u64) {
        self.0.reset(key);
    }
}

impl<S: KeyedSettle<u64>, F: Fn() + Send + Sync> KeyedSettle<u64> for Before<S, F> {
    fn settle(&self, key: &u64, charge: Charge, actual: u64) {
        self.0.settle(key, charge, actual);
    }

    fn cancel(&self, key: &u64, charge: Charge) {
        self.0.cancel(key, charge);
    }
}

#[test]
fn a_hammering_client_takes_nothing_from_others() {
    let clock = Arc::new(ManualClock::new(SECOND));
    let user: Store<MutexLog> = store("1/1s", &clock);
    let address: Store<PackedCounter> = store("10/10s", &clock);
    let global: Store<CasRing> = store("8/10s", &clock);
    let ask = |client: u64| {
        let user = Limit::new(&user, &client, Cost::ONE);
        let address = Limit::new(&address, &client, Cost::ONE);
        let global = Limit::new(&global, &0, Cost::ONE);
        stack::try_acquire(&[&user, &address], Some(&global))
    };
    let hammered: Vec<_> = (0..5).map(|_| ask(1)).collect();
    assert!(hammered[0].is_ok());
    for denied in &hammered[1..] {
        let denied = denied.as_ref().unwrap_err();
        assert_eq!(denied.limit(), 0);
        let wait = denied.error().denied().unwrap().retry_after();
        assert_eq!(wait, Duration::from_secs(1));
    }
    for client in 2..=7 {
        assert!(ask(client).is_ok(), "client {client}");
    }
    assert_eq!((left(&global, 0), left(&address, 1)), (vec![1], vec![9]));
}

#[test]
fn what_is_denied_late_is_cancelled_in_every_limit() {
    let clock = Arc::new(ManualClock::new(SECOND));
    let exact: Store<MutexLog> = store("10/10s, 5req/10s", &clock);
    let counter: Store<PackedCounter> = store("10/10s", &clock);
    let last: Store<Gcra> = store("10/10s", &clock);
    let cost = Cost::of::<6>();
    // The limit fills up between the check and the charge.
    let fills = Before(&last, || {
        let _ = last.decide(&0, cost).unwrap();
    });
    let (a, b) = (Limit::new(&exact, &1, cost), Limit::new(&counter, &1, cost));
    let c = Limit::new(&fills, &0, cost);
    let denied = stack::try_acquire(&[&a, &b], Some(&c)).unwrap_err();
    assert_eq!(denied.limit(), 2);
    assert!(denied.error().denied().is_some());
    assert_eq!(left(&exact, 1), [10, 5]);
    assert_eq!(left(&counter, 1), [10]);
    assert_eq!(left(&last, 0), [4]);
}

#[test]
fn a_store_without_a_free_slot_leaves_nothing_charged() {
    let clock = Arc::new(ManualClock::new(SECOND));
    let first: Store<MutexLog> = store("5/10s", &clock);
    let quotas = Quotas::parse("5/10s").unwrap();
    let full: Store<CasRing> = KeyedLimiter::builder(quotas)
        .max_keys(1)
        .clock(Arc::clone(&clock))
        .build()
        .unwrap();
    let _ = full.decide(&9, Cost::ONE).unwrap();
    let (a, b) = (
        Limit::new(&first, &1, Cost::ONE),
        Limit::new(&full, &1, Cost::ONE),
    );
    let rejected = stack::try_acquire(&[&a], Some(&b)).unwrap_err();
    assert_eq!(rejected.limit(), 1);
    assert_eq!(*rejected.error(), AcquireError::Full { keys: 1 });
    assert_eq!(left(&first, 1), [5]);
}

#[test]
fn a_panicking_store_leaves_nothing_charged() {
    let clock = Arc::new(ManualClock::new(SECOND));
    let first: Store<MutexLog> = store("5/10s", &clock);
    let panics = Before(store::<CasRing>("5/10s", &clock), || {
        panic!("a store's own fault")
    });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let (a, b) = (
            Limit::new(&first, &1, Cost::ONE),
            Limit::new(&panics, &1, Cost::ONE),
        );
        drop(stack::try_acquire(&[&a], Some(&b)));
    }));
    assert!(caught.is_err());
    assert_eq!(left(&first, 1), [5]);
}

#[test]
fn the_longest_wait_is_reported_and_errors_come_first() {
    let clock = Arc::new(ManualClock::new(SECOND));
    let short: Store<MutexLog> = store("1/1s", &clock);
    let long: Store<MutexLog> = store("1/10s", &clock);
    let open: Store<CasRing> = store("3/10s", &clock);
    let all = |cost: Cost| {
        let (a, b) = (
            Limit::new(&short, &1, Cost::ONE),
            Limit::new(&long, &1, Cost::ONE),
        );
        let c = Limit::new(&open, &1, cost);
        stack::decide_detailed(&[&a, &b], Some(&c))
    };
    let (charges, seen) = all(Cost::ONE).unwrap();
    assert_eq!((charges.len(), seen.len()), (3, 3));
    let refusal = all(Cost::ONE).unwrap_err();
    let Reason::Denied(denial) = refusal.reason else {
        panic!("{refusal:?}");
    };
    assert_eq!(refusal.limit, 1);
    assert_eq!(denial.retry_after(), Some(Duration::from_secs(10)));
    let denying: Vec<usize> = refusal.denials.iter().map(|(limit, _)| *limit).collect();
    assert_eq!(denying, [0, 1]);
    // The limit that would allow is seen as it is, not as after the request.
    let remaining = refusal
        .seen
        .iter()
        .map(|seen| seen.as_ref().unwrap().detailed.remaining());
    assert_eq!(remaining.collect::<Vec<_>>(), [0, 0, 2]);

    let refusal = all(Cost::of::<4>()).unwrap_err();
    assert_eq!(refusal.limit, 2);
    assert!(matches!(
        refusal.reason,
        Reason::Failed(StoreError::Request(_))
    ));
    assert_eq!(refusal.denials.len(), 2);
}

#[test]
fn charges_of_a_stack_are_settled_each() {
    let clock = Arc::new(ManualClock::new(SECOND));
    let requests: Store<PackedCounter> = store("10/10s", &clock);
    let tokens: Store<MutexLog> = store("100/10s", &clock);
    let a = Limit::new(&requests, &1, Cost::ONE);
    let b = Limit::new(&tokens, &1, Cost::of::<60>());
    let charges = stack::try_acquire(&[&a, &b], None).unwrap();
    let [_, estimated]: [Charge; 2] = charges.into_vec().try_into().unwrap();
    KeyedSettle::settle(&tokens, &1, estimated, 15);
    assert_eq!((left(&requests, 1), left(&tokens, 1)), (vec![9], vec![85]));
}

/// A store that allows whatever is peeked at, so that a late denial is the rule, and that counts its
/// cancellations.
struct Blind<S>(S, AtomicU64);

impl<S: KeyedRateLimiter<u64>> KeyedRateLimiter<u64> for Blind<S> {
    fn quotas(&self, key: &u64) -> Quotas {
        self.0.quotas(key)
    }

    fn decide(&self, key: &u64, cost: Cost) -> Result<Decision, StoreError> {
        self.0.decide(key, cost)
    }

    fn decide_detailed(&self, key: &u64, cost: Cost) -> Result<Answer, StoreError> {
        self.0.decide_detailed(key, cost)
    }

    fn peek(&self, _: &u64, _: Cost) -> Result<Decision, StoreError> {
        Ok(Decision::Allowed { at: 0 })
    }

    fn peek_detailed(&self, key: &u64, cost: Cost) -> Result<Answer, StoreError> {
        self.0.peek_detailed(key, cost)
    }

    fn reset(&self, key: &u64) {
        self.0.reset(key);
    }
}

impl<S: KeyedSettle<u64>> KeyedSettle<u64> for Blind<S> {
    fn settle(&self, key: &u64, charge: Charge, actual: u64) {
        self.0.settle(key, charge, actual);
    }

    fn cancel(&self, key: &u64, charge: Charge) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.cancel(key, charge);
    }
}

/// Threads that race for three limits with few permits, in rounds; between them all is still.
/// `WINDOWPANE_STACK_DECISIONS` sets the decisions in all: a million take some seconds.
#[test]
fn racing_threads_exceed_no_quota_and_leave_nothing() {
    let decisions = std::env::var("WINDOWPANE_STACK_DECISIONS");
    let decisions: u64 = decisions.map_or(100_000, |text| text.parse().expect("a number"));
    let limit = bounded::LIMIT + Duration::from_millis(decisions / 10);
    bounded::within(limit, move || {
        const THREADS: u64 = 8;
        const TURNS: u64 = 12;
        let clock = Arc::new(ManualClock::new(SECOND));
        let user = Blind(
            store::<MutexLog>("4/1s, 5req/1s", &clock),
            AtomicU64::new(0),
        );
        let address = Blind(store::<PackedCounter>("6/1s", &clock), AtomicU64::new(0));
        let global = Blind(store::<CasRing>("7/1s", &clock), AtomicU64::new(0));
        let allowed: [AtomicU64; 3] = Default::default();
        let barrier = Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (user, address, global) = (&user, &address, &global);
                let (allowed, clock, barrier) = (&allowed, &clock, &barrier);
                scope.spawn(move || {
                    for round in 0..decisions / THREADS / TURNS {
                        barrier.wait();
                        for turn in 0..TURNS {
                            let key = (thread + turn) % 3;
                            let a = Limit::new(user, &key, Cost::ONE);
                            let b = Limit::new(address, &0, Cost::ONE);
                            let c = Limit::new(global, &round, Cost::ONE);
                            // In both orders, as different routes might.
                            let limits: [&dyn Cancel; 2] = match thread % 2 {
                                0 => [&a, &b],
                                _ => [&b, &a],
                            };
                            if stack::try_acquire(&limits, Some(&c)).is_ok() {
                                allowed[key as usize].fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        if barrier.wait().is_leader() {
                            let by_key = allowed.each_ref().map(|n| n.swap(0, Ordering::Relaxed));
                            let all: u64 = by_key.iter().sum();
                            assert!(all <= 6, "{by_key:?} in round {round}");
                            for (key, allowed) in (0..3).zip(by_key) {
                                assert_eq!(left(&user.0, key), [4 - allowed, 5 - allowed]);
                            }
                            assert_eq!(left(&address.0, 0), [6 - all]);
                            assert_eq!(left(&global.0, round), [7 - all]);
                            clock.advance(Duration::from_secs(3));
                        }
                        barrier.wait();
                    }
                });
            }
        });
        let cancelled = user.1.into_inner() + address.1.into_inner();
        assert!(cancelled > 0, "no race took place");
    });
}
