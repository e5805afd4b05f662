//! The delays between attempts to connect.

use std::time::Duration;

use windowpane_core::wait::Jitter;

/// Exponential back-off with jitter: the delay doubles from `first` up to `longest`, and of each
/// delay the second half is random. Without jitter all processes would reach a restarted server at
/// the same instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Backoff {
    /// Returns the delay after `failures` attempts or connections in a row that did not last.
    pub(crate) fn delay(&self, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << failures.min(31));
        let most = doubled.min(self.longest);
        let least = most / 2;
        Jitter::up_to(most - least).after(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff {
        first: Duration::from_millis(50),
        longest: Duration::from_millis(500),
    };

    #[test]
    fn delays_double_up_to_the_longest() {
        for (failures, most) in [(0, 50), (1, 100), (2, 200), (3, 400), (4, 500)] {
            let most = Duration::from_millis(most);
            for _ in 0..100 {
                let delay = BACKOFF.delay(failures);
                assert!((most / 2..=most).contains(&delay), "{failures}: {delay:?}");
            }
        }
        assert!(BACKOFF.delay(u32::MAX) <= BACKOFF.longest);
    }

    #[test]
    fn delays_are_spread() {
        let drawn: Vec<Duration> = (0..100).map(|_| BACKOFF.delay(0)).collect();
        let early = drawn.iter().filter(|d| d.as_micros() < 37_500).count();
        assert!(
            (20..=80).contains(&early),
            "{early} of 100 in the first half"
        );
    }
}
