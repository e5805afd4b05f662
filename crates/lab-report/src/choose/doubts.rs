//! Why the figures behind an answer may not hold.

use windowpane_lab_ground::comparison::MIN_ROUNDS;
use windowpane_lab_measure::environment::cores;

use super::candidate::cell;
use super::need::Need;
use crate::cells::Cell;
use crate::run::Run;

/// A machine whose cores others kept busier than this, in percent, was not quiet.
const QUIET: f64 = 5.0;

/// Returns why the figures of a run may not hold for a need on this machine.
pub(super) fn doubts(run: &Run, need: &Need) -> Vec<String> {
    let environment = &run.environment;
    let mut doubts = run_doubts(run);
    if environment.cores != cores() {
        doubts.push(format!(
            "measured on {} cores, this machine has {}",
            environment.cores,
            cores()
        ));
    }
    if need.machines == 1 {
        let (Cell::OneKey(_, threads) | Cell::Keys(_, threads)) = cell(run, need, need.threads);
        if threads != need.threads {
            doubts.push(format!(
                "no figures for {} threads: those of {threads} stand in",
                need.threads
            ));
        }
    }
    doubts
}

/// Returns what is known against a run: it is partial, busy, too short, or of a changed work tree.
pub(crate) fn run_doubts(run: &Run) -> Vec<String> {
    let environment = &run.environment;
    let mut doubts = Vec::new();
    if !environment.partial.is_empty() {
        doubts.push(format!("the run is partial: {}", environment.partial));
    }
    if !environment.not_quiet.is_empty() {
        doubts.push(environment.not_quiet.clone());
    } else if environment.busy_percent > QUIET {
        doubts.push(format!(
            "the machine was not quiet: others kept it {:.0} % busy just before",
            environment.busy_percent
        ));
    }
    if (environment.rounds as usize) < MIN_ROUNDS {
        doubts.push(format!(
            "{} rounds, and a comparison needs {MIN_ROUNDS}: speeds are not compared",
            environment.rounds
        ));
    }
    if environment.git_dirty != Some(false) {
        doubts.push("the work tree had changes, or it is not known".into());
    }
    doubts
}
