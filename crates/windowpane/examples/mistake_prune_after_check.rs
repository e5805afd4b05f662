//! The classic mistake: counting first and dropping old entries afterwards.
//!
//! The first request after idle time is then compared with entries that expired long ago, and denied.
//! The mistake is easy with a history in a store that is pruned in a second step.
//!
//! `cargo run -p windowpane --example mistake_prune_after_check`

use std::collections::VecDeque;

use windowpane::algorithm::{Cost, RateLimiter};
use windowpane::{CasRing, Nanos, Quota};

const SECOND: Nanos = 1_000_000_000;
const HOUR: Nanos = 3_600 * SECOND;
const WINDOW: Nanos = 10 * SECOND;
const LIMIT: usize = 3;

/// The mistake.
#[derive(Default)]
struct PrunesLate(VecDeque<Nanos>);

impl PrunesLate {
    fn allow(&mut self, now: Nanos) -> bool {
        let allowed = self.0.len() < LIMIT;
        while self.0.front().is_some_and(|at| now - at >= WINDOW) {
            self.0.pop_front();
        }
        if allowed {
            self.0.push_back(now);
        }
        allowed
    }
}

/// The answers to a client that uses up its quota at 0 s and comes back an hour later, three times.
fn figures() -> [(&'static str, [bool; 3]); 2] {
    fn ask(mut allow: impl FnMut(Nanos) -> bool) -> [bool; 3] {
        for _ in 0..LIMIT {
            assert!(allow(0), "there is room at first");
        }
        [HOUR, HOUR + 1, HOUR + 2].map(allow)
    }
    let mut late = PrunesLate::default();
    let quota: Quota = "3/10s".parse().unwrap();
    let ring = CasRing::new(quota).unwrap();
    [
        ("check, then prune", ask(|now| late.allow(now))),
        (
            "prune, then check",
            ask(|now| ring.decide_at(now, Cost::ONE).unwrap().is_allowed()),
        ),
    ]
}

fn main() {
    println!("{LIMIT} per 10 s, used up; an hour later three requests:");
    for (name, told) in figures() {
        let words = told.map(|allowed| if allowed { "allowed" } else { "denied" });
        println!("  {name}  {}", words.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_after_an_idle_hour_is_falsely_denied() {
        let [(_, late), (_, right)] = figures();
        assert_eq!((late, right), ([false, true, true], [true, true, true]));
    }
}
