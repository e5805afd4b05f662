//! The three states that decisions are measured in: allowed, denied, mixed. Their quotas, clocks and
//! expected shares stand in the [`definitions`].

use serde::Deserialize;
use windowpane_core::Quota;
use windowpane_lab_ground::clock::Pace;

use super::definitions;

/// The limit of every definition of speed: tables of different states stand side by side.
pub const LIMIT: u64 = 1_000;

/// What the decisions of a measurement are. A figure without it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    pub fn quota(self) -> Quota {
        definitions::speed(self).quota
    }

    /// Whether the quota is used up before anything is measured.
    pub fn is_used_up(self) -> bool {
        definitions::speed(self).used_up
    }

    /// The pace of the clock, the same for everyone; `None` where it is set for each, so that
    /// twice its quota is offered to each.
    pub fn pace(self) -> Option<Pace> {
        definitions::speed(self).clock.map(Pace::times)
    }

    /// The quota and the clock in words, for the report.
    pub fn stated(self) -> &'static str {
        &definitions::speed(self).about
    }

    /// Whether a measured share of allowed decisions is what the name says.
    pub fn is_share(self, allowed: f64) -> bool {
        let [least, most] = definitions::speed(self).expected.allowed_share;
        (least..=most).contains(&allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_states_have_the_same_limit() {
        for state in State::ALL {
            assert_eq!(state.quota().limit(), LIMIT, "{state:?}");
        }
    }

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
