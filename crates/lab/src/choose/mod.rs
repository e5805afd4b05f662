//! Which limiter fits a need, by what a run measured.
//!
//! | where | what |
//! |---|---|
//! | [`need`] | what is asked for |
//! | [`memory`] | what a limiter takes at given quotas |
//! | [`rank`] | who is ruled out, and the order of the others, with reasons |
//! | [`code`] | the code that builds the winner |
//! | [`text`] | all of it for a terminal |
//!
//! The command and its JSON are documented in `CHOOSE.md` of this crate.

pub mod code;
pub mod memory;
pub mod need;
pub mod rank;
mod reason;
pub mod text;

use serde::Serialize;
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_report::Run;

pub use need::Need;
pub use rank::{Figures, Place, RuledOut};

/// The name of the schema: changed whenever a field changes its meaning or goes.
pub const SCHEMA: &str = "windowpane-choose/1";

/// The answer to a need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was asked for.
    pub need: Need,
    /// The run that the figures come from.
    pub run: Source,
    /// The number of threads whose figures rank: as asked, or the nearest below that was measured.
    pub threads: usize,
    /// What to know before believing it.
    pub notes: Vec<String>,
    /// Those that fit, the best first.
    pub ranking: Vec<Place>,
    /// Those that do not.
    pub ruled_out: Vec<RuledOut>,
    /// Rust that builds the first place; empty if nobody fits.
    pub code: String,
}

/// The run behind a choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    /// Where it is.
    pub folder: String,
    /// When it began.
    pub began: String,
    /// The processor.
    pub cpu: String,
    /// Its cores.
    pub cores: usize,
    /// The revision that was measured.
    pub git_revision: String,
}

/// Ranks the limiters of a run for a need. `live_bytes` tells what is allocated now, by the
/// allocator that the program counts with.
pub fn choose(run: &Run, need: &Need, live_bytes: fn() -> u64) -> Choice {
    let threads = nearest(&run.threads(), need.threads);
    let (ranking, ruled_out) = rank::rank(run, need, threads, live_bytes);
    let code = ranking
        .first()
        .and_then(|first| TABLE.entry(&first.limiter)?.code);
    let environment = &run.environment;
    Choice {
        schema: SCHEMA,
        need: need.clone(),
        run: Source {
            folder: run.folder.display().to_string(),
            began: environment.began.clone(),
            cpu: environment.cpu.clone(),
            cores: environment.cores,
            git_revision: environment.git_revision.clone(),
        },
        threads,
        notes: notes(run, need, threads),
        ranking,
        ruled_out,
        code: code.map_or(String::new(), |code| code::fill_in(&code, need)),
    }
}

/// The largest of `measured` that is at most `asked`, or the smallest.
fn nearest(measured: &[usize], asked: usize) -> usize {
    let below = measured
        .iter()
        .copied()
        .filter(|threads| *threads <= asked)
        .max();
    below
        .or_else(|| measured.iter().copied().min())
        .unwrap_or(1)
}

/// What to know before believing it.
fn notes(run: &Run, need: &Need, threads: usize) -> Vec<String> {
    let environment = &run.environment;
    let mut notes = Vec::new();
    if !environment.partial.is_empty() {
        notes.push(format!("the run is partial: {}", environment.partial));
    }
    if threads != need.threads {
        notes.push(format!(
            "the run has no figures for {} threads; those for {threads} rank",
            need.threads
        ));
    }
    if run.is_oversubscribed(threads) {
        notes.push(format!(
            "{threads} threads ran on {} cores: oversubscribed",
            environment.cores
        ));
    }
    notes.push(match need.keys {
        1 => "speed is that of allowed decisions at a limit of 1,000".into(),
        _ => "speed is that of allowed decisions at a limit of 1,000 on one key, all threads on it: the worst case, \
              without finding the key; memory is the limiters' alone, without the map"
            .into(),
    });
    if need.costs {
        notes.push("speed was measured at cost 1; memory is that of requests that cost 1 each, the most there can be".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn threads_that_were_not_measured_take_the_nearest_below() {
        assert_eq!(nearest(&[1, 2, 4, 8], 8), 8);
        assert_eq!(nearest(&[1, 2, 4, 8], 7), 4);
        assert_eq!(nearest(&[2, 4], 1), 2);
        assert_eq!(nearest(&[], 3), 1);
    }
}
