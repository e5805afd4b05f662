//! Histories of calls, each with the moments at which it began and ended, and the checker.

use std::sync::Arc;

use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;

use crate::run::{Answer, Callee, Stage};
use crate::script::{Call, Script};

/// A call, its answer, whose it was, and its place in the order of all beginnings and ends.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) thread: usize,
    pub(super) call: Call,
    pub(super) answer: Answer,
    pub(super) began: u64,
    pub(super) ended: u64,
}

/// What the checker applies: inside a model, since the oracle's atomics work only there.
struct Sequential<O>(std::marker::PhantomData<O>);

struct Operation<O> {
    script: Arc<Script>,
    oracle: fn(&Script) -> O,
    call: Call,
    answer: Answer,
}

impl<O> Clone for Operation<O> {
    fn clone(&self) -> Self {
        Operation {
            script: self.script.clone(),
            oracle: self.oracle,
            call: self.call,
            answer: self.answer.clone(),
        }
    }
}

impl<O> std::fmt::Debug for Operation<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} -> {:?}", self.call, self.answer)
    }
}

impl<O: Callee> Specification for Sequential<O> {
    /// The calls so far that have changed anything.
    type State = Vec<Call>;
    type Operation = Operation<O>;

    fn init() -> Vec<Call> {
        Vec::new()
    }

    fn apply(operation: &Operation<O>, before: &Vec<Call>) -> (bool, Vec<Call>) {
        let stage = Stage::new((operation.oracle)(&operation.script));
        // The checker's own steps are no race that goes on and on.
        shuttle::current::reset_step_count();
        stage.make_all(before);
        let right = stage.make(operation.call) == operation.answer;
        let mut after = before.clone();
        if right && changes(operation.call, &operation.answer) {
            after.push(operation.call);
        }
        (right, after)
    }
}

/// Whether a call with this answer can have changed what others will be answered.
fn changes(call: Call, answer: &Answer) -> bool {
    matches!(answer, Answer::Done) || answer.charged_at(call).is_some()
}

/// Whether some order of the calls that agrees with the moments explains every answer.
pub(super) fn is_linearizable<O: Callee>(
    script: &Arc<Script>,
    oracle: fn(&Script) -> O,
    history: &[Made],
) -> bool {
    let mut actions: Vec<(u64, usize, Action<Operation<O>>)> = Vec::new();
    for made in history {
        let operation = Operation {
            script: script.clone(),
            oracle,
            call: made.call,
            answer: made.answer.clone(),
        };
        actions.push((made.began, made.thread, Action::Call(operation.clone())));
        actions.push((made.ended, made.thread, Action::Response(operation)));
    }
    actions.sort_by_key(|(at, _, _)| *at);
    let actions = actions
        .into_iter()
        .map(|(_, thread, action)| (thread, action));
    WGLChecker::<Sequential<O>>::is_linearizable(History::from_actions(actions.collect()))
}
