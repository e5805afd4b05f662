//! `workload = "keyed"`: decisions a second over many keys.

use serde::Deserialize;
use windowpane_core::Quota;
use windowpane_lab_contestants::keyed::KeyType;

use super::parse::{self, DefinitionError};
use super::speed::{ByMode, Share};
use crate::plan::Mode;

/// What a workload of many keys is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyed {
    /// The name in tables, filters and CSV.
    pub name: String,
    #[serde(rename = "workload")]
    _workload: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of every key.
    #[serde(deserialize_with = "parse::quota")]
    pub quota: Quota,
    /// How many times as fast as real time everybody's clock runs.
    pub clock: u64,
    /// Whether each key's quota is used up before.
    #[serde(default)]
    pub used_up: bool,
    /// How many keys there are.
    pub keys: u32,
    /// The most keys that a store may hold, where it has a cap; all of them unless told.
    pub cap: Option<u32>,
    /// Whose requests come.
    pub pick: Pick,
    /// The exponent of Zipf's law, where requests fall to keys by it.
    pub zipf: Option<f64>,
    /// Which keys, by mode: none where it is not measured.
    pub key_types: KeysByMode,
    /// Threads, by mode.
    pub threads: ByMode,
    /// Rounds of each launch at most, by mode.
    pub rounds: RoundsByMode,
    /// What must come out.
    pub expected: Share,
}

/// Whose requests come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// All keys alike, known before.
    Uniform,
    /// By Zipf's law, known before.
    Zipf,
    /// Each key once: all are unknown.
    New,
    /// Half by Zipf's law among known keys, a tenth of the cap; half new ones.
    Flood,
}

/// Types of keys by mode.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeysByMode {
    #[serde(default)]
    test: Vec<KeyType>,
    #[serde(default)]
    quick: Vec<KeyType>,
    #[serde(default)]
    default: Vec<KeyType>,
    #[serde(default)]
    full: Vec<KeyType>,
}

impl KeysByMode {
    /// Those of a mode.
    pub fn of(&self, mode: Mode) -> &[KeyType] {
        match mode {
            Mode::Test => &self.test,
            Mode::Quick => &self.quick,
            Mode::Default => &self.default,
            Mode::Full => &self.full,
        }
    }
}

/// Rounds by mode.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundsByMode {
    #[serde(default)]
    quick: u32,
    #[serde(default)]
    default: u32,
    #[serde(default)]
    full: u32,
}

impl RoundsByMode {
    /// That of a mode.
    pub fn of(self, mode: Mode) -> u32 {
        match mode {
            Mode::Test => 1,
            Mode::Quick => self.quick,
            Mode::Default => self.default,
            Mode::Full => self.full,
        }
    }
}

impl Keyed {
    /// How many of the keys a store is to hold: all, up to the cap.
    pub fn held(&self) -> u32 {
        self.cap.map_or(self.keys, |cap| cap.min(self.keys))
    }
}

/// The most keys: they are held in memory.
const MOST_KEYS: u32 = 10_000_000;

pub(super) fn read(file: &str, text: &str) -> Result<Keyed, DefinitionError> {
    let keyed: Keyed = parse::read(file, text)?;
    let fail = |what: String| Err(DefinitionError::new(file, what));
    if !(1..=MOST_KEYS).contains(&keyed.keys) {
        return fail(format!("{} keys; expected 1 to {MOST_KEYS}", keyed.keys));
    }
    if keyed.cap == Some(0) {
        return fail("`cap` is 0; expected at least 1".into());
    }
    if !(1..=1_000).contains(&keyed.clock) {
        return fail(format!("`clock` is {}; expected 1 to 1000", keyed.clock));
    }
    let by_law = matches!(keyed.pick, Pick::Zipf | Pick::Flood);
    let sensible = |exponent: f64| (0.0..=10.0).contains(&exponent);
    if by_law != keyed.zipf.is_some() || !keyed.zipf.is_none_or(sensible) {
        return fail(
            "expected `zipf` from 0 to 10 where `pick` is `zipf` or `flood`, and nowhere else"
                .into(),
        );
    }
    let new = matches!(keyed.pick, Pick::New | Pick::Flood);
    if new && (keyed.used_up || keyed.keys < 100) {
        return fail("new keys need at least 100 keys and no quota that is used up before".into());
    }
    if let Some(threads) = keyed.threads.senseless() {
        return fail(format!("{threads} threads; expected 1 to 1024"));
    }
    Ok(keyed)
}
