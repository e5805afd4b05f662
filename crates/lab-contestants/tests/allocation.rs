//! No decision allocates: counted by an allocator, over every limiter of the registry.

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use windowpane_core::{Cost, Quotas, RateLimiter};
use windowpane_lab_contestants::registry::{BuildOptions, ORACLE, algorithms};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Asks in every way, at times that make windows fill, empty, idle and step back.
fn ask(limiter: &dyn RateLimiter, start: u64, rounds: u64) -> (u64, u64) {
    let (mut allowed, mut denied) = (0, 0);
    let mut latest = start;
    for i in 0..rounds {
        latest += if i % 100 == 98 {
            9_000_000_000
        } else {
            1_000_000
        };
        let now = if i % 100 == 99 { 0 } else { latest };
        let cost = Cost::new(1 + i % 3).unwrap();
        let _ = limiter.peek_at(now, cost);
        let detailed = limiter.decide_detailed_at(now, cost).unwrap();
        let decision = limiter.decide_at(now, Cost::ONE).unwrap();
        let never = limiter.decide_at(now, Cost::of::<1_000_000>());
        assert!(never.is_err(), "a million permits never fit");
        limiter.is_idle_at(now);
        for is_allowed in [detailed.is_allowed(), decision.is_allowed()] {
            *(if is_allowed {
                &mut allowed
            } else {
                &mut denied
            }) += 1;
        }
    }
    (allowed, denied)
}

#[test]
fn no_decision_allocates_after_the_limiter_is_built() {
    let sets: [&[&str]; 3] = [
        &["100/1s"],
        &["100/1s", "30/100ms"],
        &["7/1s", "9/2s", "10/3s", "50/60s"],
    ];
    let mut checked = 0;
    for quotas in sets {
        let quotas = Quotas::parse(quotas).unwrap();
        for algorithm in algorithms() {
            let Ok(limiter) = (algorithm.build)(&quotas, BuildOptions::default()) else {
                continue;
            };
            if algorithm.info.name == ORACLE {
                // The log alone grows with what it accepts; once grown, it allocates no more.
                ask(&*limiter, 0, 5_000);
            }
            // The test harness has a thread of its own, which allocates now and then. What a
            // decision allocates, it allocates in every attempt.
            let attempts = (1..=8_u64).map(|attempt| {
                let region = Region::new(ALLOCATOR);
                let (allowed, denied) = ask(&*limiter, attempt << 44, 5_000);
                let change = region.change();
                assert!(
                    allowed > 50 && denied > 50,
                    "{}: {allowed}, {denied}",
                    algorithm.info.name
                );
                change.allocations + change.reallocations
            });
            let least = attempts.min().expect("there are attempts");
            assert_eq!(least, 0, "{} with {quotas}", algorithm.info.name);
            checked += 1;
        }
    }
    assert!(
        checked >= algorithms().count() + 4,
        "{checked} limiters were checked"
    );
}

/// The control: what is allocated is counted.
#[test]
fn an_allocation_in_each_attempt_is_seen() {
    let attempts = (0..8_u64).map(|attempt| {
        let region = Region::new(ALLOCATOR);
        drop(std::hint::black_box(Box::new(attempt)));
        region.change().allocations
    });
    let least = attempts.min().expect("there are attempts");
    assert!(least > 0);
}
