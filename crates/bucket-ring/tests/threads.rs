//! Real threads on one ring: nothing above a quota, nothing lost, and the ring left as the rule
//! says.

mod reference;

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use reference::Reference;
use windowpane_bucket_ring::BucketRing;
use windowpane_core::{Cost, Decision, Nanos, Quotas, RateLimiter};

const THREADS: u64 = 8;

/// Runs `work` on all threads at once, each with its number, and gathers what was accepted.
fn on_all_threads(work: impl Fn(u64) -> Vec<(Nanos, Cost)> + Sync) -> Vec<(Nanos, Cost)> {
    let barrier = Barrier::new(THREADS as usize);
    let run = |thread: u64| {
        barrier.wait();
        work(thread)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|i| {
                scope.spawn({
                    let run = &run;
                    move || run(i)
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    })
}

/// A cheap sequence of numbers that differ from thread to thread and from round to round.
fn scramble(seed: u64) -> u64 {
    let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}

/// Holds what was accepted against the quotas: no window has more than its limit.
fn check_every_window(quotas: &Quotas, accepted: &[(Nanos, Cost)]) {
    for quota in quotas.iter() {
        let (mut oldest, mut used) = (0, 0);
        for (at, cost) in accepted {
            used += quota.charge(*cost);
            while accepted[oldest].0 + quota.window() <= *at {
                used -= quota.charge(accepted[oldest].1);
                oldest += 1;
            }
            assert!(used <= quota.limit(), "{used} of {quota} at {at}");
        }
    }
}

/// Time moves on under the threads, so that most calls meet a roll, an idle jump or an old reading.
#[test]
fn racing_threads_stay_within_every_quota_and_leave_the_ring_as_the_rule_says() {
    const ROUNDS: u64 = 400;
    const CALLS: u64 = 150;
    let cases: [(&[&str], u32); 5] = [
        (&["3/1ns"], 1),
        (&["5/40ns"], 1),
        (&["7/40ns"], 5),
        (&["40/1000ns", "9/100ns"], 10),
        (&["40req/1000ns", "9req/100ns"], 20),
    ];
    let mut accepted_in_all = 0;
    for round in 0..ROUNDS {
        let (quotas, buckets) = cases[(round % 5) as usize];
        let quotas = Quotas::parse(quotas).unwrap();
        let ring = BucketRing::with_buckets(quotas.clone(), buckets).unwrap();
        let clock = AtomicU64::new(round * 1_000);
        let mut accepted = on_all_threads(|thread| {
            let mut accepted = Vec::new();
            for call in 0..CALLS {
                let random = scramble(round << 32 | thread << 16 | call);
                // Mostly within a bucket, at times to the next ones, seldom past the whole ring.
                let step = match random % 64 {
                    0 => ring.width() * 100,
                    1..=8 => ring.width(),
                    other => other % 3,
                };
                let now = clock.fetch_add(step, Ordering::Relaxed);
                let cost = Cost::new(1 + (random >> 40) % 3).unwrap();
                if let Decision::Allowed { at } = ring.decide_at(now, cost).unwrap() {
                    assert!(at >= now);
                    accepted.push((at, cost));
                }
            }
            accepted
        });
        accepted.sort_by_key(|(at, _)| *at);
        accepted_in_all += accepted.len();
        check_every_window(&quotas, &accepted);
        // And the other way: the ring counts all of it, to the last permit, until it is gone.
        let mut reference = Reference::new(quotas.clone(), ring.width());
        for (at, cost) in &accepted {
            reference.record(*at, *cost);
        }
        for later in 0..1_100 {
            let t = reference.latest() + later;
            let peeked = ring.peek_at(t, Cost::ONE).unwrap();
            let mut left = reference.left(t);
            if peeked.is_allowed() {
                left.iter_mut().for_each(|left| *left -= 1);
            }
            assert_eq!(
                peeked.remaining_per_quota(),
                &left[..],
                "round {round}, {later} later"
            );
        }
        assert!(ring.is_idle_at(reference.latest() + 2_000));
    }
    assert!(accepted_in_all > 10_000, "{accepted_in_all}");
}

/// More is asked for than the quota has, at one instant: all of it is given, and no more.
#[test]
fn nothing_is_lost_when_demand_exceeds_the_quota() {
    const CALLS: u64 = 100;
    for round in 0..300_u64 {
        let quotas = Quotas::parse(["500/60s", "700/120s"]).unwrap();
        let ring = BucketRing::new(quotas).unwrap();
        let now = round * 7_000_000_000;
        let accepted = on_all_threads(|_| {
            let ask = |_: &u64| ring.decide_at(now, Cost::ONE).unwrap().is_allowed();
            let allowed = (0..CALLS).filter(ask).count();
            vec![(now, Cost::ONE); allowed]
        });
        assert_eq!(accepted.len(), 500, "round {round}");
        // A window and a bucket later only what is left of the second quota.
        let later = now + 62_000_000_000;
        let accepted = on_all_threads(|thread| {
            let ask = |_: &u64| {
                ring.decide_at(later + thread, Cost::ONE)
                    .unwrap()
                    .is_allowed()
            };
            let allowed = (0..CALLS).filter(ask).count();
            vec![(later, Cost::ONE); allowed]
        });
        assert_eq!(accepted.len(), 200, "round {round}");
    }
}

/// Resets race with requests: whatever the order, a reset gives back exactly what was used.
#[test]
fn a_reset_under_racing_threads_gives_one_quota_back() {
    for round in 0..300_u64 {
        let ring = BucketRing::with_buckets(Quotas::parse(["100/1s"]).unwrap(), 10).unwrap();
        let accepted = on_all_threads(|thread| {
            let mut accepted = Vec::new();
            for call in 0..100 {
                if thread == 0 && call == 50 {
                    ring.reset();
                }
                if let Decision::Allowed { at } = ring.decide_at(round, Cost::ONE).unwrap() {
                    accepted.push((at, Cost::ONE));
                }
            }
            accepted
        });
        // Of 800 calls at least 50 come before the reset and 50 after it, and each side has a
        // quota of 100 of its own.
        let total = accepted.len() as u64;
        assert!((150..=200).contains(&total), "{total}");
        let left = ring.decide_detailed_at(round, Cost::ONE).unwrap();
        let left = left.remaining() + u64::from(left.is_allowed());
        assert!(left == 0 || left == 200 - total, "{left} left of {total}");
    }
}
