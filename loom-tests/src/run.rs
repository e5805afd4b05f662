//! Makes the calls of a script and keeps the answers.

#[cfg(windowpane_loom)]
use std::sync::Arc;

use windowpane_core::sync::{Atomic, Ordering};
use windowpane_core::{Clock, Decision, Detailed, Nanos, RateLimiter, RequestError, StoreError};

use crate::script::Call;
#[cfg(windowpane_loom)]
use crate::script::Script;

/// What a call answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To `acquire`.
    Decision(Result<Decision, RequestError>),
    /// To `decide_detailed` and `peek`.
    Detailed(Result<Detailed, RequestError>),
    /// To `acquire`, by a store.
    OfKey(Result<Decision, StoreError>),
    /// To `peek`, by a store.
    LookAtKey(Result<Detailed, StoreError>),
    /// To what answers nothing that calls in another order would not.
    Done,
}

/// What the calls of a script are made to.
pub trait Callee: Send + Sync + 'static {
    /// Makes a call.
    ///
    /// # Panics
    /// If it is none of its calls: a mistake in a script.
    fn make(&self, call: Call, clock: &TickingClock) -> Answer;
}

impl Answer {
    /// When the charge was recorded, if there was one. A peek charges nothing.
    pub(crate) fn charged_at(&self, call: Call) -> Option<Nanos> {
        let decision = match (call, self) {
            (Call::Peek { .. }, _) => return None,
            (_, Answer::Decision(Ok(decision))) => *decision,
            (_, Answer::Detailed(Ok(detailed))) => detailed.decision(),
            (_, Answer::OfKey(Ok(decision))) => *decision,
            _ => return None,
        };
        match decision {
            Decision::Allowed { at } => Some(at),
            Decision::Denied(_) => None,
        }
    }
}

#[cfg(windowpane_shuttle)]
impl Answer {
    /// Whether the call was denied, or only looked. (One for an unknown key of a store may have made
    /// room for it by then.)
    pub(crate) fn is_denial_or_look(&self, call: Call) -> bool {
        match self {
            Answer::Decision(Ok(decision)) => !decision.is_allowed(),
            Answer::OfKey(Ok(decision)) => !decision.is_allowed(),
            Answer::Detailed(Ok(detailed)) => {
                matches!(call, Call::Peek { .. }) || !detailed.is_allowed()
            }
            Answer::LookAtKey(_) => true,
            _ => false,
        }
    }
}

/// The answers to all calls of a script, in the order of [`Script::calls`].
pub(crate) type Outcome = Vec<Answer>;

/// A limiter and a clock that ticks.
pub(crate) struct Stage<L> {
    limiter: L,
    clock: TickingClock,
}

impl<L: RateLimiter + 'static> Callee for L {
    fn make(&self, call: Call, clock: &TickingClock) -> Answer {
        match call {
            Call::Acquire { now, cost } => Answer::Decision(self.decide_at(now, cost)),
            Call::Now { cost } => Answer::Decision(self.decide_with(clock, cost)),
            Call::Detailed { now, cost } => Answer::Detailed(self.decide_detailed_at(now, cost)),
            Call::Peek { now, cost } => Answer::Detailed(self.peek_at(now, cost)),
            Call::Reset => {
                self.reset();
                Answer::Done
            }
            _ => panic!("{call:?} is not a call to every limiter"),
        }
    }
}

impl<L: Callee> Stage<L> {
    pub(crate) fn new(limiter: L) -> Stage<L> {
        let clock = TickingClock::new();
        Stage { limiter, clock }
    }

    pub(crate) fn make(&self, call: Call) -> Answer {
        self.limiter.make(call, &self.clock)
    }

    pub(crate) fn make_all(&self, calls: &[Call]) -> Outcome {
        calls.iter().map(|call| self.make(*call)).collect()
    }
}

/// Each reading is one nanosecond after the one before, in any thread.
pub struct TickingClock(Atomic<u64>);

impl TickingClock {
    /// One that begins at 0.
    #[allow(clippy::new_without_default)]
    pub fn new() -> TickingClock {
        TickingClock(Atomic::new(0))
    }
}

impl Clock for TickingClock {
    fn now(&self) -> Nanos {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Plays the script inside a loom model: its first thread on the model's own thread, the others
/// beside it.
///
/// The threads share the limiter through std's `Arc`, which loom does not see: it adds no order
/// between them. Answers travel by return value.
#[cfg(windowpane_loom)]
pub(crate) fn race<L: Callee>(script: &Arc<Script>, limiter: L) -> Outcome {
    let stage = Arc::new(Stage::new(limiter));
    let mut outcome = stage.make_all(&script.before);
    let others: Vec<_> = (1..script.threads.len())
        .map(|thread| {
            let (script, stage) = (script.clone(), stage.clone());
            loom::thread::spawn(move || stage.make_all(&script.threads[thread]))
        })
        .collect();
    outcome.extend(stage.make_all(&script.threads[0]));
    for other in others {
        outcome.extend(other.join().expect("a panic ends the model before"));
    }
    outcome.extend(stage.make_all(&script.after));
    outcome
}
