//! Which limiter fits a need, by its semantics first and then by what a run measured.
//!
//! | where | what |
//! |---|---|
//! | [`need`] | what is asked for |
//! | `candidate` | what holds the need, with its figures, and why the others do not |
//! | `redis` | the same for several machines |
//! | `memory` | bytes at given quotas |
//! | `rank` | the order |
//! | `doubts` | why the figures may not hold |

mod candidate;
mod doubts;
mod memory;
pub mod need;
mod rank;
mod redis;

use serde::Serialize;
use windowpane_lab_ground::comparison::{Comparison, Outcome};

pub use candidate::{Candidate, Figures, Row, RuledOut, WORKLOAD, cell};
pub(crate) use doubts::run_doubts;
pub use memory::{Source, in_bytes};
pub use need::{Accuracy, Need};
pub use rank::{LEAST_BYTES, LEAST_RATIO, RATIO_FOR_A_LOCK};

use crate::run::Run;

/// The answer to a need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What was asked for.
    pub need: Need,
    /// What holds the need, the best first.
    pub ranking: Vec<Candidate>,
    /// What the second costs or saves beside the first; absent without a second.
    pub runner_up: Option<RunnerUp>,
    /// What is not in the ranking, and why.
    pub ruled_out: Vec<RuledOut>,
    /// Other answers to needs that differ by one demand.
    pub changes: Vec<Change>,
    /// Why the figures may not hold; empty if nothing is known against them.
    pub doubts: Vec<String>,
}

/// The second of a ranking beside the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunnerUp {
    /// Its name.
    pub limiter: String,
    /// Its rate over that of the first.
    pub ratio: Option<f64>,
    /// The interval of the ratio.
    pub interval: Option<[f64; 2]>,
    /// `faster`, `slower`, `equal`, `cannot tell` or `not compared`.
    pub outcome: &'static str,
    /// The smallest ratio that the run would have shown.
    pub smallest: Option<f64>,
    /// The bytes that it takes more than the first; below 0 if less.
    pub more_bytes: Option<i64>,
}

/// Another answer to a need that differs by one demand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The demand, as an option of `lab choose`.
    pub with: &'static str,
    /// The answer then.
    pub limiter: String,
    /// The store that holds it.
    pub store: Option<String>,
    /// The bytes that it saves; below 0 if it takes more.
    pub saves_bytes: Option<i64>,
}

/// Ranks the limiters of a run for a need.
pub fn choose(run: &Run, need: &Need) -> Choice {
    let (ranking, ruled_out) = ranking(run, need);
    let runner_up = match ranking.as_slice() {
        [first, second, ..] => Some(runner_up(run, need, ranking.len(), first, second)),
        _ => None,
    };
    Choice {
        need: need.clone(),
        changes: changes(run, need, ranking.first()),
        doubts: doubts::doubts(run, need),
        ranking,
        runner_up,
        ruled_out,
    }
}

/// Returns what holds a need, the best first, and what does not.
pub(crate) fn ranking(run: &Run, need: &Need) -> (Vec<Candidate>, Vec<RuledOut>) {
    let (mut fit, mut ruled_out) = candidate::candidates(run, need);
    if need.machines > 1 {
        let (on_server, not) = redis::candidates(run, need);
        fit = on_server;
        ruled_out.extend(not);
    }
    (rank::rank(run, need, fit), ruled_out)
}

/// The word for an outcome.
pub fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Faster => "faster",
        Outcome::Slower => "slower",
        Outcome::Equal => "equal",
        Outcome::CannotTell => "cannot tell",
        Outcome::NotCompared => "not compared",
    }
}

fn runner_up(
    run: &Run,
    need: &Need,
    family: usize,
    first: &Candidate,
    second: &Candidate,
) -> RunnerUp {
    let Comparison {
        ratio,
        low,
        high,
        smallest,
        outcome,
        ..
    } = rank::compared(run, need, family, second, first);
    let is_compared = outcome != Outcome::NotCompared;
    RunnerUp {
        limiter: second.name().into(),
        ratio: ratio.is_finite().then_some(ratio),
        interval: is_compared.then_some([low, high]),
        outcome: outcome_word(outcome),
        smallest: (is_compared && smallest.is_finite()).then_some(smallest),
        more_bytes: difference(second, first),
    }
}

fn difference(a: &Candidate, b: &Candidate) -> Option<i64> {
    let bytes = |one: &Candidate| {
        one.figures
            .bytes
            .and_then(|bytes| i64::try_from(bytes).ok())
    };
    Some(bytes(a)? - bytes(b)?)
}

/// A demand that may change the answer: the option, and the need with it.
type Demand = (&'static str, fn(Need) -> Need);

/// The demands that are tried, one by one.
const DEMANDS: [Demand; 5] = [
    ("--never-over-admit", |need| Need {
        accuracy: Accuracy::NeverAbove,
        ..need
    }),
    ("--max-overshoot 100%", |need| Need {
        accuracy: Accuracy::AtMost(1.0),
        ..need
    }),
    ("--smooth", |need| Need {
        accuracy: Accuracy::Smooth,
        ..need
    }),
    ("--machines 2", |need| Need {
        machines: 2,
        ..need
    }),
    ("--cost 100", |need| Need { cost: 100, ..need }),
];

/// The demands with which another limiter comes first.
fn changes(run: &Run, need: &Need, first: Option<&Candidate>) -> Vec<Change> {
    let change = |(with, demand): &Demand| {
        let other = ranking(run, &demand(need.clone())).0.into_iter().next()?;
        let same = first
            .is_some_and(|first| (&first.limiter, &first.store) == (&other.limiter, &other.store));
        let saves_bytes = first.and_then(|first| difference(first, &other));
        (!same).then_some(Change {
            with,
            limiter: other.limiter,
            store: other.store,
            saves_bytes,
        })
    };
    DEMANDS.iter().filter_map(change).collect()
}
