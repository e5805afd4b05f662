//! The classic mistake: a counter that starts again every minute.
//!
//! The quota is ten per minute. A client that asks at the end of one minute and again at the start
//! of the next gets twenty within two seconds: the burst doubles around every boundary. A limiter
//! must count the minute before now, not the minute of the clock.
//!
//! `cargo run -p windowpane --example mistake_fixed_window`

use windowpane::algorithm::{Cost, RateLimiter};
use windowpane::{CasRing, Nanos, Quota};

const SECOND: Nanos = 1_000_000_000;
const WINDOW: Nanos = 60 * SECOND;
const LIMIT: u64 = 10;

/// The mistake.
#[derive(Default)]
struct FixedWindow {
    minute: u64,
    count: u64,
}

impl FixedWindow {
    fn allow(&mut self, now: Nanos) -> bool {
        let minute = now / WINDOW;
        if minute != self.minute {
            *self = FixedWindow { minute, count: 0 };
        }
        let allowed = self.count < LIMIT;
        self.count += u64::from(allowed);
        allowed
    }
}

/// How many requests are allowed within two seconds.
struct Figures {
    fixed_window: usize,
    sliding_window: usize,
}

fn figures() -> Figures {
    // Ten at 59 s and ten at 60 s.
    let times = || {
        [59, 60]
            .into_iter()
            .flat_map(|second| [second * SECOND; 10])
    };
    let mut fixed = FixedWindow::default();
    let quota: Quota = "10/60s".parse().unwrap();
    let ring = CasRing::new(quota).unwrap();
    let by_ring = |now: &Nanos| ring.decide_at(*now, Cost::ONE).unwrap().is_allowed();
    Figures {
        fixed_window: times().filter(|now| fixed.allow(*now)).count(),
        sliding_window: times().filter(by_ring).count(),
    }
}

fn main() {
    let figures = figures();
    println!("{LIMIT} per minute; {LIMIT} requests at 59 s and {LIMIT} at 60 s, allowed:");
    println!("  fixed window    {:>3}", figures.fixed_window);
    println!("  sliding window  {:>3}", figures.sliding_window);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_burst_doubles_around_the_boundary() {
        let figures = figures();
        assert_eq!((figures.fixed_window, figures.sliding_window), (20, 10));
    }
}
