//! A million permits per second on the real clock, two threads asking for more than that: never
//! above the quota in any window, and nothing of it lost.
//!
//! The windows are short here. `WINDOWPANE_REAL_TIME=1s` makes them a second each, which takes ten
//! seconds a limiter: `WINDOWPANE_REAL_TIME=1s cargo test -p windowpane-lab-contestants --test real_time`.

use std::sync::Barrier;
use std::thread;

use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_core::{
    Clock, Cost, Decision, MonotonicClock, Nanos, Quota, RateLimiter, Unit, parse_nanos,
};
use windowpane_mutex_log::MutexLog;

const THREADS: usize = 2;

/// How often the quota is used up.
const CYCLES: u64 = 10;

/// Of the bucket ring: a bucket is a 3,600th of the window, and its denials come that much early.
const BUCKETS: u32 = 3_600;

/// What one thread saw.
#[derive(Default)]
struct Seen {
    /// When its requests were accepted.
    accepted: Vec<Nanos>,
    /// When it was denied and when there would be room, once for each such time.
    denied: Vec<(Nanos, Nanos)>,
}

/// A window of a million permits per second.
fn window() -> Nanos {
    let window = std::env::var("WINDOWPANE_REAL_TIME").unwrap_or("10ms".into());
    let window = parse_nanos(&window).expect("a window such as 1s");
    assert!(window.is_multiple_of(1_000_000), "whole milliseconds");
    window
}

/// Asks without a pause until `end`.
fn ask(limiter: &dyn RateLimiter, clock: &MonotonicClock, end: Nanos) -> Seen {
    let mut seen = Seen::default();
    let mut told = 0;
    loop {
        let now = clock.now();
        if now >= end {
            return seen;
        }
        match limiter.decide_at(now, Cost::ONE).unwrap() {
            Decision::Allowed { at } => seen.accepted.push(at),
            Decision::Denied(denied) => {
                let free = now + denied.retry_after_nanos().unwrap();
                if free != told {
                    seen.denied.push((now, free));
                    told = free;
                }
            }
        }
    }
}

/// Lets the threads ask and checks what came out. `early` is how much too early a denial may come.
fn run(name: &str, limiter: &dyn RateLimiter, quota: Quota, early: Nanos) {
    let (limit, window) = (quota.limit(), quota.window());
    let clock = MonotonicClock::new();
    let cycle = window + early;
    let barrier = Barrier::new(THREADS);
    let start = clock.now() + 1_000_000;
    let end = start + CYCLES * cycle - early;
    let work = || {
        barrier.wait();
        while clock.now() < start {}
        ask(limiter, &clock, end)
    };
    let seen: Vec<Seen> = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let mut accepted: Vec<Nanos> = seen
        .iter()
        .flat_map(|seen| &seen.accepted)
        .copied()
        .collect();
    accepted.sort_unstable();
    let count = |from: Nanos, to: Nanos| {
        let before = |time: Nanos| accepted.partition_point(|at| *at < time);
        (before(to) - before(from)) as u64
    };

    // Never above.
    for at in &accepted {
        let used = count(*at, at + window);
        assert!(used <= limit, "{name}: {used} of {quota} from {at} on");
    }

    // Nothing lost: a denial told when there is room again, so the window (and what a denial may
    // come early) before that instant is full.
    let mut denied: Vec<_> = seen.iter().flat_map(|seen| &seen.denied).copied().collect();
    denied.sort_unstable_by_key(|(_, free)| *free);
    for (now, free) in &denied {
        let used = count(free.saturating_sub(cycle), *free);
        assert!(
            used >= limit,
            "{name}: denied at {now} with {used} of {quota}"
        );
    }

    // So many cycles did not overlap and were full. If all were, the demand was above the quota all
    // the time, and the total must be right; a machine too busy to ask proves nothing.
    let mut full = 0;
    let mut from = 0;
    for (_, free) in &denied {
        if free.saturating_sub(cycle) >= from {
            full += 1;
            from = *free;
        }
    }
    let total = accepted.len() as u64;
    let quota_in_all = CYCLES * limit;
    println!("{name}: {total} of {quota_in_all} accepted, {full} of {CYCLES} cycles full");
    assert!(total >= full * limit, "{name}: {total} in {full} cycles");
    if full == CYCLES {
        let off = total.abs_diff(quota_in_all);
        assert!(
            off <= quota_in_all / 1_000,
            "{name}: {total} of {quota_in_all}"
        );
    }
}

#[test]
fn case_6_a_million_per_second_are_never_exceeded_and_never_lost() {
    let window = window();
    let quota = Quota::from_nanos(window / 1_000, window, Unit::Permits).unwrap();
    run("mutex-log", &<MutexLog>::new(quota), quota, 0);
    run("cas-ring", &CasRing::new(quota).unwrap(), quota, 0);
    let buckets = BucketRing::with_buckets(quota, BUCKETS).unwrap();
    run("bucket-ring", &buckets, quota, buckets.width());
}
