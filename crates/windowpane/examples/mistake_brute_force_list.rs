//! The classic mistake: a list that is counted through at every request and shortened at its front.
//!
//! It decides rightly, but a decision takes as many steps as the limit: counting reads every entry,
//! and removing the first entry of a `Vec` moves all the others. A deque drops an old entry once and
//! does not read the others. A ring reads one slot.
//!
//! `cargo run --release -p windowpane --example mistake_brute_force_list`

use std::collections::VecDeque;
use std::time::Instant;

use windowpane::algorithm::{Cost, RateLimiter};
use windowpane::{CasRing, Nanos, Quota, Unit};

const WINDOW: Nanos = 1_000_000_000;
const REQUESTS: u64 = 40_000;

/// The mistake. It counts the entries that it reads or moves.
#[derive(Default)]
struct BruteForce {
    entries: Vec<Nanos>,
    steps: u64,
}

impl BruteForce {
    fn allow(&mut self, now: Nanos, limit: u64) -> bool {
        while self.entries.first().is_some_and(|at| now - at >= WINDOW) {
            self.entries.remove(0);
            self.steps += self.entries.len() as u64;
        }
        self.steps += self.entries.len() as u64;
        let used = self.entries.iter().filter(|at| now - **at < WINDOW).count();
        let allowed = (used as u64) < limit;
        if allowed {
            self.entries.push(now);
        }
        allowed
    }
}

/// The same with a deque, which knows how long it is.
#[derive(Default)]
struct Deque {
    entries: VecDeque<Nanos>,
    steps: u64,
}

impl Deque {
    fn allow(&mut self, now: Nanos, limit: u64) -> bool {
        self.steps += 1;
        while self.entries.front().is_some_and(|at| now - at >= WINDOW) {
            self.entries.pop_front();
            self.steps += 1;
        }
        let allowed = (self.entries.len() as u64) < limit;
        if allowed {
            self.entries.push_back(now);
        }
        allowed
    }
}

/// One way to decide: the requests that it allowed, the time of a decision, and the entries that it
/// read or moved, if they are counted.
struct Way {
    name: &'static str,
    allowed: u64,
    nanos: u64,
    steps: Option<u64>,
}

/// Makes twice as many requests as the quota allows, after it is used up.
fn time(mut allow: impl FnMut(Nanos) -> bool, limit: u64) -> (u64, u64) {
    let step = WINDOW / limit / 2;
    for _ in 0..limit {
        assert!(allow(0), "there is room at first");
    }
    let start = Instant::now();
    let allowed = (1..=REQUESTS).map(|i| u64::from(allow(i * step))).sum();
    (allowed, start.elapsed().as_nanos() as u64 / REQUESTS)
}

fn figures(limit: u64) -> [Way; 3] {
    let mut brute = BruteForce::default();
    let (allowed, nanos) = time(|now| brute.allow(now, limit), limit);
    let brute = Way {
        name: "list",
        allowed,
        nanos,
        steps: Some(brute.steps),
    };
    let mut deque = Deque::default();
    let (allowed, nanos) = time(|now| deque.allow(now, limit), limit);
    let deque = Way {
        name: "deque",
        allowed,
        nanos,
        steps: Some(deque.steps),
    };
    let ring = CasRing::new(Quota::from_nanos(limit, WINDOW, Unit::Permits).unwrap()).unwrap();
    let by_ring = |now| ring.decide_at(now, Cost::ONE).unwrap().is_allowed();
    let (allowed, nanos) = time(by_ring, limit);
    let ring = Way {
        name: "cas-ring",
        allowed,
        nanos,
        steps: None,
    };
    [brute, deque, ring]
}

fn main() {
    println!("What a decision costs, on one thread, while twice the quota is asked for:");
    for limit in [10, 100, 1_000, 10_000] {
        for way in figures(limit) {
            let steps = way.steps.map_or(String::new(), |steps| {
                format!("{:>6} steps", steps / (REQUESTS + limit))
            });
            let Way {
                name,
                nanos,
                allowed,
                ..
            } = way;
            println!("  limit {limit:>6}  {name:<8} {nanos:>6} ns  {allowed:>6} allowed {steps}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps are counted, never timed: a busy machine must not fail a test.
    #[test]
    fn the_lists_steps_grow_with_the_limit_and_the_deques_do_not() {
        for limit in [10, 100, 1_000] {
            let [list, deque, ring] = figures(limit);
            assert_eq!(list.allowed, ring.allowed, "it decides rightly");
            assert_eq!(deque.allowed, ring.allowed);
            let list = list.steps.unwrap() / REQUESTS;
            assert!(
                (limit..4 * limit).contains(&list),
                "{list} steps at {limit}"
            );
            let deque = deque.steps.unwrap();
            assert!(deque <= 2 * (REQUESTS + limit), "{deque} steps at {limit}");
        }
    }
}
