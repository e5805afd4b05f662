//! Quotas that change while the limiter is in use.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bounded::bounded;
use windowpane::algorithm::{ChangeQuotas, Cost, RateLimiter};
use windowpane::clock::ManualClock;
use windowpane::{
    BucketRing, CasRing, Changeable, Limiter, MutexLog, Nanos, PackedCounter, Quotas,
};

const SECOND: Nanos = 1_000_000_000;

fn quotas(quota: &str) -> Quotas {
    Quotas::parse([quota]).unwrap()
}

fn nanos(span: Duration) -> Nanos {
    u64::try_from(span.as_nanos()).unwrap()
}

/// A raised limit allows more at once. A limit lowered below its usage allows nothing until enough of
/// that has left, and does not panic.
fn raised_and_lowered<L: ChangeQuotas>(algorithm: L) {
    let limiter = Limiter::with_clock(Changeable::new(algorithm), ManualClock::new(0));
    assert!(limiter.try_acquire_many(10).is_ok());
    assert!(limiter.try_acquire().is_err());
    limiter.change("15/60s").unwrap();
    assert_eq!(limiter.quotas(), quotas("15/60s"));
    assert!(limiter.try_acquire_many(5).is_ok());
    limiter.change("3/60s").unwrap();
    let rejected = limiter.try_acquire_detailed(1).unwrap_err();
    assert_eq!(rejected.status().unwrap().remaining(), 0);
    let denied = rejected.error().denied().unwrap();
    assert_eq!(denied.quota().to_string(), "3/60s");
    let wait = denied.retry_after();
    limiter.clock().set(nanos(wait) - 1);
    assert!(limiter.try_acquire().is_err());
    limiter.clock().set(nanos(wait));
    assert!(limiter.try_acquire().is_ok());
    limiter.clock().set(300 * SECOND);
    assert!(limiter.try_acquire_many(3).is_ok());
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
    assert!(limiter.decide_at(0, Cost::of::<2>()).unwrap().is_allowed());
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
                        let decision = limiter.decide_at(SECOND, Cost::ONE).unwrap();
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

#[test]
fn a_changeable_limiter_names_the_call_for_a_higher_limit() {
    let limiter = windowpane::changeable_limiter("100/60s", 1_000).unwrap();
    limiter.change("1000/60s").unwrap();
    let error = limiter.change("1001/60s").unwrap_err().to_string();
    let call = "windowpane::changeable_limiter(quotas, 1001)";
    assert!(error.contains(call), "{error}");
    assert_eq!(limiter.quotas(), quotas("1000/60s"));
    let error = windowpane::changeable_limiter("100/60s", 99).unwrap_err();
    let call = "windowpane::changeable_limiter(quotas, 100)";
    assert!(error.to_string().contains(call), "{error}");
}
