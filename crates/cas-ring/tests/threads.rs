//! Real threads: never one permit too many in any window, and none lost.

use std::sync::Barrier;
use std::thread;

use windowpane_cas_ring::CasRing;
use windowpane_core::{
    Clock, Cost, Decision, MonotonicClock, Nanos, Quota, Quotas, RateLimiter, Unit,
};

const THREADS: usize = 8;
const ROUND: Nanos = 5_000_000;

/// One accepted request.
type Accepted = (Nanos, u64);

/// All threads hammer one ring for one round; what was accepted, by recorded time.
fn hammer(ring: &CasRing, clock: MonotonicClock, costs: u64, barrier: &Barrier) -> Vec<Accepted> {
    let work = |seed: usize| {
        barrier.wait();
        let until = clock.now() + ROUND;
        let mut accepted = Vec::new();
        let mut cost = seed as u64;
        while clock.now() < until {
            cost = cost % costs + 1;
            let asked = Cost::new(cost).unwrap();
            if let Decision::Allowed { at } = ring.decide_with(&clock, asked).unwrap() {
                accepted.push((at, cost));
            }
        }
        accepted
    };
    let mut accepted = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|seed| scope.spawn(move || work(seed)))
            .collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect::<Vec<_>>()
    });
    accepted.sort_unstable();
    accepted
}

/// The most that any window of `quota` holds of what was accepted.
fn worst_window(accepted: &[Accepted], quota: &Quota) -> u64 {
    let (mut oldest, mut used, mut worst) = (0, 0, 0);
    for &(at, cost) in accepted {
        used += cost;
        while at - accepted[oldest].0 >= quota.window() {
            used -= accepted[oldest].1;
            oldest += 1;
        }
        worst = worst.max(used);
    }
    worst
}

/// The number of rounds: 2,000, or `WINDOWPANE_ROUNDS` (`cargo xtask mutants` sets it).
fn rounds() -> u64 {
    match std::env::var("WINDOWPANE_ROUNDS") {
        Ok(rounds) => rounds.parse().expect("WINDOWPANE_ROUNDS: a whole number"),
        Err(_) => 2_000,
    }
}

/// Rounds of 5 ms by 8 threads, limits 1 to 64, one and two quotas, costs 1 to 4.
#[test]
fn eight_threads_never_take_one_permit_too_many_and_lose_none() {
    let clock = MonotonicClock::new();
    let barrier = Barrier::new(THREADS);
    for round in 0..rounds() {
        let limit = 1 + round % 64;
        // A window that ends many times in the round, and one that does not.
        let window = [ROUND / 40, ROUND * 100][(round / 64 % 2) as usize];
        let costs = (1 + round / 7 % 4).min(limit);
        let mut quotas = vec![Quota::from_nanos(limit, window, Unit::Permits).unwrap()];
        if round % 2 == 1 {
            let tighter = limit.div_ceil(2).max(costs);
            quotas.push(Quota::from_nanos(tighter, window / 3 + 1, Unit::Permits).unwrap());
        }
        let quotas = Quotas::new(quotas).unwrap();
        let ring = CasRing::new(quotas.clone()).unwrap();
        let accepted = hammer(&ring, clock, costs, &barrier);
        for quota in quotas.iter() {
            let worst = worst_window(&accepted, quota);
            assert!(
                worst <= quota.limit(),
                "{worst} in a window of {quota}, round {round}"
            );
        }
        // Demand exceeds the quota, so what is left afterwards is less than the largest cost, and
        // exactly what the accepted left: none is lost.
        let (last, _) = *accepted.last().expect("something is accepted");
        let left = ring.peek_at(last, Cost::ONE).unwrap();
        let used = |quota: &Quota| {
            let inside = accepted.iter().filter(|(at, _)| last - at < quota.window());
            inside.map(|(_, cost)| cost).sum::<u64>()
        };
        for (i, quota) in quotas.iter().enumerate() {
            let charged = u64::from(left.is_allowed());
            let expected = quota.limit() - used(quota) - charged;
            assert_eq!(
                left.remaining_per_quota()[i],
                expected,
                "{quota}, round {round}"
            );
        }
        // On a busy machine a round can outlast the windows: then more than a limit may be taken.
        let span = last - accepted[0].0;
        if window > ROUND && quotas.iter().all(|q| span < q.window()) {
            let taken: u64 = accepted.iter().map(|(_, cost)| cost).sum();
            let full = quotas.iter().any(|q| q.limit() - taken < costs);
            assert!(
                full,
                "{taken} taken of {quotas}, costs to {costs}, round {round}"
            );
        }
    }
}
