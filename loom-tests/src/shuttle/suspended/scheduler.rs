//! A scheduler that gives one thread a fixed number of steps.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// The thread that is suspended: the first that the main one starts.
pub(super) const VICTIM: usize = 1;

/// How those who are not suspended share the processor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Others {
    /// Each to its end.
    OneByOne,
    /// A step each.
    InTurns,
    /// By this seed.
    AtRandom(u64),
}

/// How a schedule ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ended {
    /// All but the suspended thread came to their ends.
    #[default]
    All,
    /// No thread but the suspended one could have gone on.
    Blocked,
    /// A call went on and on.
    Unbounded { thread: usize, steps: u64 },
    /// A thread panicked.
    Panicked,
}

impl Ended {
    pub(super) fn problem(self) -> Option<String> {
        match self {
            Ended::All => None,
            Ended::Blocked => Some("the others are blocked".into()),
            Ended::Unbounded { thread, steps } => Some(format!(
                "a call of thread {thread} has taken {steps} own steps and goes on, more than the bound"
            )),
            Ended::Panicked => Some("a thread panicked".into()),
        }
    }
}

/// What the scheduler counts and the threads ask: they are all on one thread of the system.
#[derive(Default)]
struct Count {
    /// How often each thread went on.
    steps: Vec<u64>,
    /// How often it had when its call began.
    begun: Vec<u64>,
    finished: bool,
}

thread_local! {
    static COUNT: RefCell<Count> = RefCell::default();
}

fn of(counts: &mut Vec<u64>, thread: usize) -> &mut u64 {
    if counts.len() <= thread {
        counts.resize(thread + 1, 0);
    }
    &mut counts[thread]
}

/// A call begins; whose.
pub(super) fn begins() -> usize {
    let me = shuttle::current::me().into();
    COUNT.with_borrow_mut(|count| {
        let so_far = *of(&mut count.steps, me);
        *of(&mut count.begun, me) = so_far;
    });
    me
}

/// The steps of a thread since its call began.
pub(super) fn own_steps(thread: usize) -> u64 {
    COUNT.with_borrow_mut(|count| *of(&mut count.steps, thread) - *of(&mut count.begun, thread))
}

/// The main thread has seen all that it waits for.
pub(super) fn finished() {
    COUNT.with_borrow_mut(|count| count.finished = true);
}

pub(super) struct Suspending {
    after: u64,
    others: Others,
    bound: u64,
    random: SmallRng,
    turn: usize,
    begun: bool,
    ended: Arc<Mutex<Ended>>,
}

impl Suspending {
    /// Suspends the victim when it has gone on `after` times: the first time it comes to its first
    /// operation, and then does one each time.
    pub(super) fn new(after: u64, others: Others, bound: u64) -> Suspending {
        let seed = match others {
            Others::AtRandom(seed) => seed,
            _ => 0,
        };
        Suspending {
            after,
            others,
            bound,
            random: SmallRng::seed_from_u64(seed),
            turn: 0,
            begun: false,
            ended: Arc::default(),
        }
    }

    /// How it ended, to be asked afterwards.
    pub(super) fn seen(&self) -> Arc<Mutex<Ended>> {
        self.ended.clone()
    }

    fn choose(&mut self, runnable: &[usize]) -> Option<usize> {
        if let Some(main) = runnable.iter().find(|thread| **thread == 0) {
            return Some(*main);
        }
        let victims = COUNT.with_borrow_mut(|count| *of(&mut count.steps, VICTIM));
        if runnable.contains(&VICTIM) && victims < self.after {
            return Some(VICTIM);
        }
        let others: Vec<usize> = runnable
            .iter()
            .copied()
            .filter(|thread| *thread != VICTIM)
            .collect();
        self.turn += 1;
        let chosen = match self.others {
            _ if others.is_empty() => None,
            Others::OneByOne => others.first(),
            Others::InTurns => others.get(self.turn % others.len()),
            Others::AtRandom(_) => others.get(self.random.random_range(0..others.len())),
        };
        if chosen.is_none() {
            let finished = COUNT.with_borrow(|count| count.finished);
            if !finished {
                *self.ended.lock().unwrap() = Ended::Blocked;
            }
        }
        let chosen = *chosen?;
        let steps = own_steps(chosen);
        if steps > self.bound {
            let thread = chosen;
            *self.ended.lock().unwrap() = Ended::Unbounded { thread, steps };
            return None;
        }
        Some(chosen)
    }
}

impl Scheduler for Suspending {
    fn new_execution(&mut self) -> Option<Schedule> {
        if std::mem::replace(&mut self.begun, true) {
            return None;
        }
        COUNT.set(Count::default());
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let runnable: Vec<usize> = runnable.iter().map(|task| task.id().into()).collect();
        let chosen = self.choose(&runnable)?;
        COUNT.with_borrow_mut(|count| *of(&mut count.steps, chosen) += 1);
        Some(chosen.into())
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
