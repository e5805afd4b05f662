//! What the lock-free limiters set out for, and what came of it.

use windowpane_lab_contestants::registry::ORACLE;
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_ground::spread::{ROUNDS_THAT_TELL, Spread, by_round};
use windowpane_lab_measure::state::State;

use super::run::Run;

/// One ratio that was set out for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    /// What is compared, in words.
    pub(super) what: String,
    /// The ratio in each round, as a spread.
    pub(super) ratio: Spread,
    /// The bound.
    pub(super) bound: f64,
    /// Whether the ratio is to be at most the bound; at least, otherwise.
    pub(super) at_most: bool,
}

impl Target {
    /// Whether the median ratio is within the bound.
    pub(super) fn is_met(&self) -> bool {
        match self.at_most {
            true => self.ratio.median <= self.bound,
            false => self.ratio.median >= self.bound,
        }
    }
}

const RIVAL: &str = "governor";
const FLOOR: &str = "clock-only";

/// The targets that the run can tell of.
pub(super) fn targets(run: &Run) -> Vec<Target> {
    let ours = || TABLE.entries().filter_map(|entry| entry.algorithm);
    let targeted = || ours().filter_map(|ours| Some((ours.info.name, ours.target?)));
    // The oracle and its variants, which differ by their mutex.
    let logs = || ours().filter(|ours| ours.info.name == ORACLE || ours.is_variant);
    let mut targets = Vec::new();
    for (name, at_most) in targeted() {
        targets.push(ratio_of_times(run, name, at_most));
    }
    for (name, _) in targeted() {
        targets.push(faster_than(run, name, RIVAL, 1.5));
        let rate = |log: &&str| {
            run.rate(log, State::Allowed, 2)
                .map_or(0.0, |rate| rate.median)
        };
        let log = logs()
            .map(|log| log.info.name)
            .max_by(|a, b| rate(a).total_cmp(&rate(b)));
        targets.push(log.and_then(|log| faster_than(run, name, log, 1.0)));
    }
    for (name, _) in targeted() {
        targets.push(scaling(run, name, 0.9));
    }
    targets.into_iter().flatten().collect()
}

/// Too few rounds tell nothing.
fn spread(ratios: Vec<(u32, f64)>) -> Option<Spread> {
    Spread::of(ratios.into_iter().map(|(_, ratio)| ratio))
        .filter(|spread| spread.rounds >= ROUNDS_THAT_TELL)
}

fn ratio_of_times(run: &Run, name: &str, bound: f64) -> Option<Target> {
    let rates = |who| run.rates(who, State::Allowed, 1);
    Some(Target {
        what: format!("allowed, 1 thread: time of {name} ÷ time of {RIVAL}"),
        // Time is the inverse of the rate.
        ratio: spread(by_round(&rates(RIVAL), &rates(name)))?,
        bound,
        at_most: true,
    })
}

fn faster_than(run: &Run, name: &str, other: &str, bound: f64) -> Option<Target> {
    let rates = |who| run.rates(who, State::Allowed, 2);
    Some(Target {
        what: format!("allowed, 2 threads: decisions a second of {name} ÷ {other}"),
        ratio: spread(by_round(&rates(name), &rates(other)))?,
        bound,
        at_most: false,
    })
}

fn scaling(run: &Run, name: &str, bound: f64) -> Option<Target> {
    let scales = |who| {
        let rates = |threads| run.rates(who, State::Denied, threads);
        by_round(&rates(2), &rates(1))
    };
    Some(Target {
        what: format!("denied, 2 threads ÷ 1 thread: scaling of {name} ÷ scaling of {FLOOR}"),
        ratio: spread(by_round(&scales(name), &scales(FLOOR)))?,
        bound,
        at_most: false,
    })
}
