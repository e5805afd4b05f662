//! `workload = "attack"`: endless new keys against a store with a cap.

use serde::Deserialize;
use windowpane_core::Quota;

use super::parse::{self, DefinitionError};
use crate::plan::Mode;

/// What an attack is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// The name in tables, filters and CSV.
    pub name: String,
    #[serde(rename = "workload")]
    _workload: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of every key.
    #[serde(deserialize_with = "parse::quota")]
    pub quota: Quota,
    /// How many distinct keys attack, by mode.
    pub attackers: NumberByMode,
    /// The most keys that a store may hold, where it has a cap, by mode.
    pub cap: NumberByMode,
}

/// A number by mode.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberByMode {
    test: u32,
    quick: u32,
    default: u32,
    full: u32,
}

impl NumberByMode {
    /// That of a mode.
    pub fn of(self, mode: Mode) -> u32 {
        match mode {
            Mode::Test => self.test,
            Mode::Quick => self.quick,
            Mode::Default => self.default,
            Mode::Full => self.full,
        }
    }

    fn all(self) -> [u32; 4] {
        [self.test, self.quick, self.default, self.full]
    }
}

/// Attackers come by thousands, and something is sampled after each tenth of them.
const ATTACKERS_STEP: u32 = 10_000;

/// The most attackers: the report tells them apart from the keys before by eight digits.
const MOST_ATTACKERS: u32 = 50_000_000;

pub(super) fn read(file: &str, text: &str) -> Result<Attack, DefinitionError> {
    let attack: Attack = parse::read(file, text)?;
    let fail = |what: String| Err(DefinitionError::new(file, what));
    for attackers in attack.attackers.all() {
        let sensible = (ATTACKERS_STEP..=MOST_ATTACKERS).contains(&attackers);
        if !sensible || !attackers.is_multiple_of(ATTACKERS_STEP) {
            return fail(format!(
                "{attackers} attackers; expected a multiple of {ATTACKERS_STEP}, at most {MOST_ATTACKERS}"
            ));
        }
    }
    for (cap, attackers) in attack.cap.all().into_iter().zip(attack.attackers.all()) {
        if cap < 100 || cap > attackers / 10 {
            return fail(format!(
                "`cap` is {cap}; expected at least 100 and at most a tenth of the attackers"
            ));
        }
    }
    Ok(attack)
}
