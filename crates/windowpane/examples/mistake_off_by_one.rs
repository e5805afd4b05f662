//! The classic mistake: off by one, at the limit or at the edge of the window.
//!
//! `count <= limit`, before the request itself is counted, allows one too many. And an entry is gone
//! at exactly `at + window`, because a request counts `(now - window, now]`. So `>` in place of `>=`
//! denies one tick too long. A client that comes exactly once a window is then always denied.
//!
//! `cargo run -p windowpane --example mistake_off_by_one`

use std::collections::VecDeque;

use windowpane::algorithm::{Cost, RateLimiter};
use windowpane::{CasRing, Nanos, Quota};

const SECOND: Nanos = 1_000_000_000;
const WINDOW: Nanos = 10 * SECOND;
const LIMIT: usize = 3;

/// A log that is right except for its comparisons.
struct Log {
    entries: VecDeque<Nanos>,
    has_left: fn(age: Nanos) -> bool,
    has_room: fn(count: usize) -> bool,
}

impl Log {
    fn new(has_left: fn(Nanos) -> bool, has_room: fn(usize) -> bool) -> Log {
        Log {
            entries: VecDeque::new(),
            has_left,
            has_room,
        }
    }

    fn allow(&mut self, now: Nanos) -> bool {
        while self
            .entries
            .front()
            .is_some_and(|at| (self.has_left)(now - at))
        {
            self.entries.pop_front();
        }
        let allowed = (self.has_room)(self.entries.len());
        if allowed {
            self.entries.push_back(now);
        }
        allowed
    }
}

/// The allowed requests of four at 0 s, and of one at exactly 10 s.
#[derive(Debug, PartialEq, Eq)]
struct Figures {
    at_once: usize,
    at_the_edge: usize,
}

fn ask(mut allow: impl FnMut(Nanos) -> bool) -> Figures {
    Figures {
        at_once: (0..4).filter(|_| allow(0)).count(),
        at_the_edge: usize::from(allow(WINDOW)),
    }
}

fn figures() -> [(&'static str, Figures); 3] {
    let mut one_too_many = Log::new(|age| age >= WINDOW, |count| count <= LIMIT);
    let mut one_tick_late = Log::new(|age| age > WINDOW, |count| count < LIMIT);
    let quota: Quota = "3/10s".parse().unwrap();
    let ring = CasRing::new(quota).unwrap();
    [
        ("count <= limit", ask(|now| one_too_many.allow(now))),
        ("age > window", ask(|now| one_tick_late.allow(now))),
        (
            "right",
            ask(|now| ring.decide_at(now, Cost::ONE).unwrap().is_allowed()),
        ),
    ]
}

fn main() {
    println!("{LIMIT} per 10 s; allowed of four at 0 s, and of one at exactly 10 s:");
    for (name, figures) in figures() {
        println!("  {name:<15} {} {}", figures.at_once, figures.at_the_edge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_one_too_few_and_right() {
        let told = figures().map(|(_, figures)| (figures.at_once, figures.at_the_edge));
        assert_eq!(told, [(4, 1), (3, 0), (3, 1)]);
    }
}
