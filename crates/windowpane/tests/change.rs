//! Quotas that change while the limiter is in use.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bounded::bounded;
use windowpane::clock::ManualClock;
use windowpane::{
    BucketRing, CasRing, ChangeQuotas, Changeable, Cost, Limiter, MutexLog, Nanos, PackedCounter,
    Quotas, RateLimiter,
};

const SECOND: Nanos = 1_000_000_000;

fn quotas(quota: &str) -> Quotas {
    Quotas::parse([quota]).unwrap()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

/// A raised limit allows more at once. A limit lowered below its usage allows nothing until enough of
/// that has left, and does not panic.
fn raised_and_lowered<L: ChangeQuotas>(algorithm: L) {
    let limiter = Limiter::with_clock(Changeable::new(algorithm), ManualClock::new(0));
    assert!(limiter.acquire(cost(10)).unwrap().is_allowed());
    assert!(!limiter.acquire(Cost::ONE).unwrap().is_allowed());
    limiter.change(quotas("15/60s")).unwrap();
    assert_eq!(limiter.quotas(), quotas("15/60s"));
    assert!(limiter.acquire(cost(5)).unwrap().is_allowed());
    limiter.change(quotas("3/60s")).unwrap();
    let denied = limiter.acquire_detailed(Cost::ONE).unwrap();
    assert_eq!((denied.is_allowed(), denied.remaining()), (false, 0));
    let wait = denied.decision().denied().unwrap().retry_after_nanos();
    limiter.clock().set(wait.unwrap() - 1);
    assert!(!limiter.acquire(Cost::ONE).unwrap().is_allowed());
    limiter.clock().set(wait.unwrap());
    assert!(limiter.acquire(Cost::ONE).unwrap().is_allowed());
    limiter.clock().set(300 * SECOND);
    assert!(limiter.acquire(cost(3)).unwrap().is_allowed());
}

#[test]
fn case_19_a_limit_is_raised_and_lowered_below_what_is_used() {
    raised_and_lowered(<MutexLog>::new(quotas("10/60s")));
    raised_and_lowered(CasRing::with_capacity(quotas("10/60s"), 15).unwrap());
    raised_and_lowered(BucketRing::new(quotas("10/60s")).unwrap());
    raised_and_lowered(PackedCounter::new(quotas("10/60s")).unwrap());
}

/// Case 20: a peek charges nothing, through the wrapper too.
#[test]
fn case_20_a_peek_charges_nothing() {
    let limiter = Changeable::new(CasRing::new(quotas("2/60s")).unwrap());
    for _ in 0..100 {
        assert_eq!(limiter.peek_at(0, Cost::ONE).unwrap().remaining(), 1);
    }
    assert!(limiter.is_idle_at(0));
    assert!(limiter.acquire_at(0, cost(2)).unwrap().is_allowed());
    assert!(!limiter.peek_at(0, Cost::ONE).unwrap().is_allowed());
}

/// Threads take all they can while the limit goes up and down. They get no more than the highest
/// limit in one window, and in the end all of the last limit and no more.
#[test]
fn threads_take_no_more_than_the_highest_limit_while_it_changes() {
    bounded(|| {
        for round in 0..50 {
            let limiter = Changeable::new(CasRing::with_capacity(quotas("8/60s"), 64).unwrap());
            let done = AtomicBool::new(false);
            let taken: u64 = thread::scope(|scope| {
                let take = || {
                    let mut taken = 0;
                    while !done.load(Ordering::Relaxed) {
                        let decision = limiter.acquire_at(SECOND, Cost::ONE).unwrap();
                        taken += u64::from(decision.is_allowed());
                    }
                    taken
                };
                let takers = [scope.spawn(take), scope.spawn(take)];
                for limit in [16, 4, 40, 2, 25 + round % 7] {
                    let quotas = quotas(&format!("{limit}/60s"));
                    limiter.change_at(SECOND, &quotas).unwrap();
                    thread::yield_now();
                }
                done.store(true, Ordering::Relaxed);
                takers.into_iter().map(|taker| taker.join().unwrap()).sum()
            });
            assert!(taken <= 40, "{taken}");
            limiter.change_at(SECOND, &quotas("64/60s")).unwrap();
            let left = limiter.peek_at(SECOND, Cost::ONE).unwrap();
            assert_eq!(left.remaining() + 1, 64 - taken);
        }
    });
}
