//! Faults of racing threads.

use std::sync::Barrier;
use std::thread;

use windowpane_core::{Nanos, RateLimiter};

use crate::every::{SECOND, cost, every};

const THREADS: u64 = 8;

/// How many of `calls` requests by each of eight threads, at the times that `when` makes of the
/// call's number, are allowed.
fn race(limiter: &dyn RateLimiter, calls: u64, when: impl Fn(u64) -> Nanos + Sync) -> u64 {
    let barrier = Barrier::new(THREADS as usize);
    let ask = || {
        barrier.wait();
        let allowed = |call: &u64| {
            let decision = limiter.decide_at(when(*call), cost(1));
            decision.unwrap().is_allowed()
        };
        (0..calls).filter(allowed).count() as u64
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    })
}

#[test]
fn case_17_after_a_race_every_write_was_a_valid_one_and_idle_time_refills() {
    for round in 0..20 {
        for limiter in every(&["50/1s"]) {
            // A race at one instant gives what there is, no more and no less.
            let start = (1 + round) * 100 * SECOND;
            let allowed = race(&*limiter.limiter, 50, |_| start);
            assert_eq!(allowed, 50, "{}", limiter.name);
            // A race over many windows, in which each thread is at another time.
            race(&*limiter.limiter, 200, |call| {
                start + 2 * SECOND + call * SECOND / 20
            });
            // Not stuck: after two idle windows all is there again.
            let later = start + 20 * SECOND;
            assert!(limiter.limiter.is_idle_at(later), "{}", limiter.name);
            assert_eq!(limiter.allowed_of(60, later), 50, "{}", limiter.name);
        }
    }
}

#[test]
fn case_18_no_interleaving_charges_one_quota_alone() {
    for round in 0..50 {
        for limiter in every(&["40/60s", "25/1s"]) {
            let start = 1_000 * SECOND * (1 + round);
            let allowed = race(&*limiter.limiter, 20, |_| start);
            assert_eq!(allowed, 25, "{}", limiter.name);
            // 135 denials charged nothing: 15 are left of the longer quota.
            let allowed = race(&*limiter.limiter, 20, |_| start + 2 * SECOND);
            assert_eq!(allowed, 15, "{}", limiter.name);
        }
    }
}
