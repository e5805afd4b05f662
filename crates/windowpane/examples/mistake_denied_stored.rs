//! The classic mistake: denied requests are stored too.
//!
//! A denied client that tries again keeps its own window full. While it asks more often than the
//! quota allows, it is never allowed again. Only accepted requests must count.
//!
//! `cargo run -p windowpane --example mistake_denied_stored`

use std::collections::VecDeque;

use windowpane::algorithm::{Cost, RateLimiter};
use windowpane::{CasRing, Nanos, Quota};

const SECOND: Nanos = 1_000_000_000;
const WINDOW: Nanos = 60 * SECOND;
const LIMIT: usize = 5;

/// The mistake.
#[derive(Default)]
struct StoresAll(VecDeque<Nanos>);

impl StoresAll {
    fn allow(&mut self, now: Nanos) -> bool {
        while self.0.front().is_some_and(|at| now - at >= WINDOW) {
            self.0.pop_front();
        }
        self.0.push_back(now);
        self.0.len() <= LIMIT
    }
}

/// The allowed requests of a client that asks once a second for ten minutes.
struct Figures {
    stores_all: usize,
    stores_accepted: usize,
}

fn figures() -> Figures {
    let times = || (0..600).map(|second| second * SECOND);
    let mut stores_all = StoresAll::default();
    let quota: Quota = "5/60s".parse().unwrap();
    let ring = CasRing::new(quota).unwrap();
    let by_ring = |now: &Nanos| ring.decide_at(*now, Cost::ONE).unwrap().is_allowed();
    Figures {
        stores_all: times().filter(|now| stores_all.allow(*now)).count(),
        stores_accepted: times().filter(by_ring).count(),
    }
}

fn main() {
    let figures = figures();
    println!("{LIMIT} per minute; one request a second for ten minutes, allowed:");
    println!(
        "  denied requests stored   {:>3}, and never again",
        figures.stores_all
    );
    println!("  accepted ones stored     {:>3}", figures.stores_accepted);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_locked_out() {
        let figures = figures();
        assert_eq!((figures.stores_all, figures.stores_accepted), (5, 50));
    }
}
