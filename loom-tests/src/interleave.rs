//! Every order in which a script's calls could have been made one after another.

use std::sync::{Arc, Mutex};

use crate::run::{Answer, Callee, Outcome, Stage};
use crate::script::Script;
#[cfg(windowpane_shuttle)]
use crate::shuttle::alone;

/// All sequences that take each thread's calls in their order: in each, whose turn it is.
pub(crate) fn interleavings(calls_of: &[usize]) -> Vec<Vec<usize>> {
    if calls_of.iter().all(|calls| *calls == 0) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for thread in 0..calls_of.len() {
        if calls_of[thread] > 0 {
            let mut rest = calls_of.to_vec();
            rest[thread] -= 1;
            all.extend(interleavings(&rest).into_iter().map(|mut turns| {
                turns.insert(0, thread);
                turns
            }));
        }
    }
    all
}

/// The distinct outcomes of all sequential orders, by the oracle.
///
/// A model checker's atomics work only inside a model, so each order is a model of one thread: one schedule.
pub(crate) fn sequential_outcomes<O: Callee>(
    script: &Arc<Script>,
    oracle: fn(&Script) -> O,
) -> Vec<Outcome> {
    let calls_of: Vec<usize> = script.threads.iter().map(Vec::len).collect();
    let mut outcomes = Vec::new();
    for turns in interleavings(&calls_of) {
        let played = Arc::new(Mutex::new(Outcome::new()));
        let (inside, script) = (played.clone(), script.clone());
        alone(move || {
            *inside.lock().unwrap() = play(&script, &turns, oracle(&script));
        });
        let outcome = std::mem::take(&mut *played.lock().unwrap());
        if !outcomes.contains(&outcome) {
            outcomes.push(outcome);
        }
    }
    outcomes
}

/// Plays the script in one order, the answers in the order of [`Script::calls`].
fn play(script: &Script, turns: &[usize], limiter: impl Callee) -> Outcome {
    let stage = Stage::new(limiter);
    let mut outcome: Outcome = script.before.iter().map(|call| stage.make(*call)).collect();
    let mut of_thread: Vec<Vec<Answer>> = vec![Vec::new(); script.threads.len()];
    for &thread in turns {
        let call = script.threads[thread][of_thread[thread].len()];
        of_thread[thread].push(stage.make(call));
    }
    outcome.extend(of_thread.into_iter().flatten());
    outcome.extend(script.after.iter().map(|call| stage.make(*call)));
    outcome
}

/// Runs a model of one thread.
#[cfg(windowpane_loom)]
fn alone(model: impl Fn() + Send + Sync + 'static) {
    loom::model::Builder::new().check(model);
}
