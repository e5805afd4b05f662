//! The checker: all states of a model, breadth first, and two questions of each.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A protocol of several threads, as steps between states.
pub trait Model {
    /// All there is: shared words, and where each thread stands.
    type State: Clone + Hash;

    /// The state before the first step.
    fn first(&self) -> Self::State;

    /// Every step that some thread, or the clock, can take.
    fn steps(&self, state: &Self::State) -> Vec<Step<Self::State>>;

    /// One line for a trace: the step that `actor` takes in `state`.
    fn describe(&self, state: &Self::State, actor: Option<usize>) -> String;

    /// The number of threads that are inside a call, equal ones counted once.
    fn in_calls(&self, state: &Self::State) -> usize;
}

/// One atomic step.
#[derive(Clone, Debug)]
pub struct Step<S> {
    /// A thread in a call takes it. `false` of the clock, and of the beginning of a call.
    pub in_call: bool,
    /// A call ends by it.
    pub ends: bool,
    /// The thread that takes it; `None` of the clock.
    pub actor: Option<usize>,
    /// What is wrong with it, if anything.
    pub wrong: Option<String>,
    /// The state after it.
    pub state: S,
}

/// What was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// The number of states.
    pub states: usize,
    /// The number of steps between them.
    pub steps: usize,
}

/// A fault, with the steps that lead to it.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which.
    pub kind: Kind,
    /// The shortest way there.
    pub trace: Vec<String>,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer that the specification does not give.
    Wrong(String),
    /// A thread inside a call that can take no step while the others rest.
    Blocked,
    /// Calls can go on for ever, and none of them ends.
    Endless,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}, after {} steps:", self.kind, self.trace.len())?;
        self.trace
            .iter()
            .try_for_each(|step| writeln!(f, "  {step}"))
    }
}

/// Explores all states of `model`, at most `most`.
///
/// Each step must be right by the model's own word, and each thread inside a call must have a step.
/// Then every run of steps without the end of a call must be finite: that is lock-freedom, also where
/// any threads rest for ever. States are known by 128 bits of hash.
///
/// # Errors
/// The first fault found.
///
/// # Panics
/// If there are more than `most` states: then nothing was shown.
pub fn explore<M: Model>(model: &M, most: usize) -> Result<Explored, Box<Fault>> {
    let mut known: HashMap<u128, u32> = HashMap::new();
    // Of each state: the state before it, and which of the steps from there.
    let mut origins: Vec<(u32, u32)> = vec![(0, 0)];
    // The steps by which no call ends.
    let mut going_on: Vec<(u32, u32)> = Vec::new();
    let mut steps = 0;
    let first = model.first();
    known.insert(fingerprint(&first), 0);
    let mut queue = VecDeque::from([(0_u32, first)]);
    while let Some((from, state)) = queue.pop_front() {
        let next = model.steps(&state);
        if next.iter().filter(|step| step.in_call).count() < model.in_calls(&state) {
            return Err(Box::new(Fault {
                kind: Kind::Blocked,
                trace: trace(model, &origins, from),
            }));
        }
        for (index, step) in next.iter().enumerate() {
            steps += 1;
            if let Some(wrong) = &step.wrong {
                let mut trace = trace(model, &origins, from);
                trace.push(model.describe(&state, step.actor));
                let kind = Kind::Wrong(wrong.clone());
                return Err(Box::new(Fault { kind, trace }));
            }
            let count = number(known.len());
            let to = match known.entry(fingerprint(&step.state)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(count),
            };
            if to == count {
                assert!(known.len() <= most, "more than {most} states");
                origins.push((from, number(index)));
                queue.push_back((to, step.state.clone()));
            }
            if !step.ends {
                going_on.push((from, to));
            }
        }
    }
    let explored = Explored {
        states: known.len(),
        steps,
    };
    match on_a_cycle(explored.states, &going_on) {
        None => Ok(explored),
        Some(state) => Err(Box::new(Fault {
            kind: Kind::Endless,
            trace: trace(model, &origins, state),
        })),
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("far fewer states than 2^32")
}

fn fingerprint(state: &impl Hash) -> u128 {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        state.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// The steps from the first state to `state`.
fn trace<M: Model>(model: &M, origins: &[(u32, u32)], state: u32) -> Vec<String> {
    let mut choices = Vec::new();
    let mut at = state;
    while at != 0 {
        let (from, step) = origins[at as usize];
        choices.push(step);
        at = from;
    }
    let mut state = model.first();
    let mut trace = Vec::new();
    for choice in choices.into_iter().rev() {
        let step = model.steps(&state).swap_remove(choice as usize);
        trace.push(model.describe(&state, step.actor));
        state = step.state;
    }
    trace
}

/// A state on a cycle of `edges`, if there is any.
fn on_a_cycle(states: usize, edges: &[(u32, u32)]) -> Option<u32> {
    let mut sorted = edges.to_vec();
    sorted.sort_unstable();
    let mut entries = vec![0_u32; states];
    for &(_, to) in edges {
        entries[to as usize] += 1;
    }
    // States that no edge enters are on no cycle; without their edges, more become so.
    let mut free: Vec<u32> = (0..number(states))
        .filter(|&state| entries[state as usize] == 0)
        .collect();
    let mut left = states;
    while let Some(state) = free.pop() {
        left -= 1;
        let begin = sorted.partition_point(|&(from, _)| from < state);
        for &(_, to) in sorted[begin..].iter().take_while(|edge| edge.0 == state) {
            entries[to as usize] -= 1;
            if entries[to as usize] == 0 {
                free.push(to);
            }
        }
    }
    if left == 0 {
        return None;
    }
    // Each state that is left has a state before it that is left: the way back leads into a cycle.
    let mut before: HashMap<u32, u32> = HashMap::new();
    for &(from, to) in edges {
        if entries[from as usize] > 0 && entries[to as usize] > 0 {
            before.insert(to, from);
        }
    }
    let mut state = *before.keys().min()?;
    for _ in 0..left {
        state = before[&state];
    }
    Some(state)
}
