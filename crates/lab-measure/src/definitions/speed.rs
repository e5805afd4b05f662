//! `workload = "speed"`: a state that decisions are measured in.

use serde::Deserialize;
use windowpane_core::Quota;

use super::parse::{self, DefinitionError};
use crate::plan::Mode;
use crate::state::State;

/// What a state is: the quota, the clock, the threads, and the share that must be allowed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speed {
    /// The state; its word is the definition's name.
    #[serde(rename = "name")]
    pub state: State,
    #[serde(rename = "workload")]
    _workload: String,
    /// The quota and the clock in words, for the report.
    pub about: String,
    /// The quota, the same for everyone.
    #[serde(deserialize_with = "parse::quota")]
    pub quota: Quota,
    /// How many times as fast as real time everybody's clock runs; `None`: at the pace at which
    /// twice its quota is offered to each.
    pub clock: Option<u64>,
    /// Whether the quota is used up before.
    #[serde(default)]
    pub used_up: bool,
    /// Threads of each measurement, by mode.
    pub threads: Threads,
    /// What must come out.
    pub expected: Share,
}

/// The threads of each kind of measurement.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threads {
    /// Of throughput.
    #[serde(default)]
    pub throughput: ByMode,
    /// Of service time.
    #[serde(default)]
    pub service: ByMode,
    /// Of response time.
    #[serde(default)]
    pub response: ByMode,
}

/// Numbers of threads by mode; nothing is measured where none is told.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByMode {
    #[serde(default)]
    test: Vec<usize>,
    #[serde(default)]
    quick: Vec<usize>,
    #[serde(default)]
    default: Vec<usize>,
    #[serde(default)]
    full: Vec<usize>,
}

impl ByMode {
    /// Those of a mode.
    pub fn of(&self, mode: Mode) -> &[usize] {
        match mode {
            Mode::Test => &self.test,
            Mode::Quick => &self.quick,
            Mode::Default => &self.default,
            Mode::Full => &self.full,
        }
    }

    /// A number of threads that makes no sense, if there is one.
    pub(super) fn senseless(&self) -> Option<usize> {
        let all = [&self.test, &self.quick, &self.default, &self.full];
        let mut numbers = all.into_iter().flatten().copied();
        numbers.find(|threads| !(1..=1_024).contains(threads))
    }
}

/// What must come out of a measurement of speed.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The least and the largest share of decisions that may be allowed.
    pub allowed_share: [f64; 2],
}

pub(super) fn read(file: &str, text: &str) -> Result<Speed, DefinitionError> {
    let speed: Speed = parse::read(file, text)?;
    let fail = |what: String| Err(DefinitionError::new(file, what));
    if !speed.clock.is_none_or(|times| (1..=1_000).contains(&times)) {
        return fail("`clock` is out of range; expected 1 to 1000".into());
    }
    let [least, most] = speed.expected.allowed_share;
    if !(0.0 <= least && least <= most && most <= 1.0) {
        return fail(format!(
            "`allowed_share` is [{least}, {most}]; expected the least and the largest share, 0 to 1"
        ));
    }
    let threads = &speed.threads;
    for by_mode in [&threads.throughput, &threads.service, &threads.response] {
        if let Some(threads) = by_mode.senseless() {
            return fail(format!("{threads} threads; expected 1 to 1024"));
        }
    }
    Ok(speed)
}
