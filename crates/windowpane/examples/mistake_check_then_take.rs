//! The classic mistake: checking in one step and taking in another.
//!
//! Each step may be atomic, but between them other threads pass the same check. Here a barrier makes
//! that happen every time; without a barrier it happens under load. The check and the charge must be
//! one event: a compare-and-swap, or a lock around both.
//!
//! `cargo run -p windowpane --example mistake_check_then_take`

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use windowpane::algorithm::{Cost, RateLimiter};
use windowpane::{CasRing, Quota};

const THREADS: usize = 8;
const LIMIT: u64 = 5;

/// The mistake, paused between its steps.
fn check_then_take() -> usize {
    let used = AtomicU64::new(0);
    let between = Barrier::new(THREADS);
    on_all_threads(|| {
        let allowed = used.load(Ordering::SeqCst) < LIMIT;
        between.wait();
        if allowed {
            used.fetch_add(1, Ordering::SeqCst);
        }
        allowed
    })
}

/// Both in one event.
fn one_event() -> usize {
    let quota: Quota = "5/60s".parse().unwrap();
    let ring = CasRing::new(quota).unwrap();
    let together = Barrier::new(THREADS);
    on_all_threads(|| {
        together.wait();
        ring.decide_at(0, Cost::ONE).unwrap().is_allowed()
    })
}

/// The number of threads on which `ask` is allowed.
fn on_all_threads(ask: impl Fn() -> bool + Sync) -> usize {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(&ask)).collect();
        let allowed = workers.into_iter().map(|worker| worker.join().unwrap());
        allowed.filter(|allowed| *allowed).count()
    })
}

fn main() {
    println!("{LIMIT} per minute, {THREADS} threads ask at once; allowed:");
    println!("  check, then take  {:>3}", check_then_take());
    println!("  one event         {:>3}", one_event());
}

#[cfg(test)]
#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

#[cfg(test)]
mod tests {
    use super::bounded::bounded;
    use super::*;

    #[test]
    fn all_threads_pass_the_check_before_the_first_one_takes() {
        bounded(|| {
            for _ in 0..50 {
                assert_eq!((check_then_take(), one_event()), (8, 5));
            }
        });
    }
}
