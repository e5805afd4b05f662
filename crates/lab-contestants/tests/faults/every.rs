//! Every limiter that can hold given quotas, and what is asked of it.

use windowpane_core::{Cost, Nanos, Quotas, RateLimiter};
use windowpane_lab_contestants::registry::{BuildOptions, algorithms};

pub(crate) const MILLISECOND: Nanos = 1_000_000;
pub(crate) const SECOND: Nanos = 1_000 * MILLISECOND;
pub(crate) const MINUTE: Nanos = 60 * SECOND;
pub(crate) const HOUR: Nanos = 60 * MINUTE;
pub(crate) const DAY: Nanos = 24 * HOUR;

/// A limiter of the registry, for one key.
pub(crate) struct Tried {
    pub(crate) name: &'static str,
    pub(crate) exact: bool,
    pub(crate) limiter: Box<dyn RateLimiter>,
}

/// One of each that can hold `quotas`. Those that cannot say so when they are built.
pub(crate) fn every(quotas: &[&str]) -> Vec<Tried> {
    let quotas = Quotas::parse(quotas).unwrap();
    let tried: Vec<Tried> = algorithms()
        .filter_map(|algorithm| {
            let limiter = (algorithm.build)(&quotas, BuildOptions::default()).ok()?;
            Some(Tried {
                name: algorithm.info.name,
                exact: algorithm.info.is_exact(),
                limiter,
            })
        })
        .collect();
    let expected = match quotas.len() {
        1 => algorithms().count(),
        _ => 3,
    };
    assert_eq!(tried.len(), expected, "limiters that hold {quotas}");
    tried
}

pub(crate) fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

impl Tried {
    /// Asks; whether it was allowed.
    pub(crate) fn asks(&self, now: Nanos, permits: u64) -> bool {
        let decision = self.limiter.decide_at(now, cost(permits));
        decision.unwrap().is_allowed()
    }

    /// How many of `requests` requests of one permit at `now` are allowed.
    pub(crate) fn allowed_of(&self, requests: u64, now: Nanos) -> u64 {
        (0..requests).map(|_| u64::from(self.asks(now, 1))).sum()
    }

    /// The wait told to a request that is denied, which was tried out: a nanosecond earlier it is
    /// still denied, and then allowed.
    pub(crate) fn honest_wait(&self, now: Nanos, permits: u64) -> Nanos {
        let decision = self.limiter.decide_at(now, cost(permits)).unwrap();
        let denied = decision.denied();
        let denied = denied.unwrap_or_else(|| panic!("{}: allowed at {now}", self.name));
        let wait = denied.retry_after_nanos().expect("some wait helps");
        let allowed_after = |wait| {
            let peeked = self.limiter.peek_at(now + wait, cost(permits));
            peeked.unwrap().is_allowed()
        };
        assert!(
            !allowed_after(wait - 1),
            "{}: {wait} is too long",
            self.name
        );
        assert!(allowed_after(wait), "{}: {wait} is too short", self.name);
        wait
    }

    /// What this limiter should answer, of answers by name.
    pub(crate) fn expected<T: Copy>(&self, answers: &[(&str, T)]) -> T {
        let mut found = answers.iter().filter(|(name, _)| *name == self.name);
        let (_, answer) = found
            .next()
            .unwrap_or_else(|| panic!("no answer is given for {}", self.name));
        *answer
    }
}

/// The most that was accepted in any half-open window, of what was accepted at sorted `times`.
pub(crate) fn most_in_a_window(times: &[Nanos], window: Nanos) -> usize {
    let mut oldest = 0;
    let mut most = 0;
    for (newest, time) in times.iter().enumerate() {
        while times[oldest] + window <= *time {
            oldest += 1;
        }
        most = most.max(newest + 1 - oldest);
    }
    most
}
