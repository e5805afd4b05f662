//! The three states that decisions are measured in, each with its quota: allowed, denied, mixed.

use windowpane_core::{Quota, Unit};

use super::clock::Pace;

/// The limit of every speed measurement.
pub const LIMIT: u64 = 1_000;

/// What the decisions of a measurement are. A figure without it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Every decision is *allowed*.
    Allowed,
    /// Every decision is *denied*: the quota is used up and stays so.
    Denied,
    /// About half are denied: twice the quota is offered.
    Mixed,
}

impl State {
    /// All, in the order of the report.
    pub const ALL: [State; 3] = [State::Allowed, State::Denied, State::Mixed];

    /// The word in tables, CSV and filters.
    pub const fn word(self) -> &'static str {
        match self {
            State::Allowed => "allowed",
            State::Denied => "denied",
            State::Mixed => "mixed",
        }
    }

    /// The state of that word.
    pub fn from_word(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.word() == word)
    }

    /// The quota, the same for everyone.
    ///
    /// 20 µs is about the shortest window that the packed counter can be built for at this limit.
    pub fn quota(self) -> Quota {
        let window = match self {
            State::Allowed | State::Mixed => 20_000,
            State::Denied => 86_400_000_000_000,
        };
        Quota::from_nanos(LIMIT, window, Unit::Permits).expect("a sensible quota")
    }

    /// The pace of the clock, the same for everyone; `None` where it is set for each, so that
    /// twice its quota is offered to each.
    pub fn pace(self) -> Option<Pace> {
        match self {
            State::Allowed => Some(Pace::times(4)),
            State::Denied => Some(Pace::REAL),
            State::Mixed => None,
        }
    }

    /// The quota and the clock in words, for the report.
    pub const fn stated(self) -> &'static str {
        match self {
            State::Allowed => {
                "1,000 per 20 µs on a clock that runs 4 times as fast for all: up to 200 million a second fit, so every decision is allowed (but for a few by a thread that was preempted behind its reading of the clock, where a limiter takes an old reading as it is)"
            }
            State::Denied => "1,000 per day, used up before: every decision is denied",
            State::Mixed => {
                "1,000 per 20 µs on a clock that runs, for each, at the pace at which twice the quota is offered: about half are denied, and a measurement between a quarter and three quarters counts"
            }
        }
    }

    /// Whether a measured share of allowed decisions is what the name says.
    pub fn is_share(self, allowed: f64) -> bool {
        match self {
            // A thread that is preempted between its reading of the clock and its decision decides
            // by an old time, and GCRA denies that: with more threads than cores now and then.
            State::Allowed => allowed >= 0.999,
            State::Denied => allowed <= 0.001,
            State::Mixed => (0.25..=0.75).contains(&allowed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_what_its_name_says_or_an_error() {
        assert!(State::Allowed.is_share(1.0) && !State::Allowed.is_share(0.99));
        assert!(State::Denied.is_share(0.0) && !State::Denied.is_share(0.01));
        assert!(State::Mixed.is_share(0.5));
        assert!(!State::Mixed.is_share(1.0) && !State::Mixed.is_share(0.0));
    }

    #[test]
    fn words_lead_back_to_their_states() {
        for state in State::ALL {
            assert_eq!(State::from_word(state.word()), Some(state));
        }
        assert_eq!(State::from_word("Allowed"), None);
    }
}
