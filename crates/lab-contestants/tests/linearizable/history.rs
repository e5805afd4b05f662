//! Histories of calls that real threads make.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History as Checked};

use crate::specification::{Answer, Answered, Call, Sequential, Setup};

/// A call with its answer, and its place in the order of all beginnings and ends.
struct Made<C> {
    thread: usize,
    call: C,
    answer: Answer,
    began: u64,
    ended: u64,
}

/// What the threads did.
pub(crate) struct History<C = Call>(Vec<Made<C>>);

impl<C> History<C> {
    /// Whether any two calls overlapped.
    pub(crate) fn overlaps(&self) -> bool {
        let calls = &self.0;
        calls.iter().enumerate().any(|(i, a)| {
            calls[..i]
                .iter()
                .any(|b| a.began < b.ended && b.began < a.ended)
        })
    }
}

impl History<(u64, Call)> {
    /// What was done to each key, apart.
    pub(crate) fn by_key(self) -> BTreeMap<u64, History> {
        let mut keys: BTreeMap<u64, History> = BTreeMap::new();
        for made in self.0 {
            let (key, call) = made.call;
            let of_key = keys.entry(key).or_insert_with(|| History(Vec::new()));
            of_key.0.push(Made {
                thread: made.thread,
                call,
                answer: made.answer,
                began: made.began,
                ended: made.ended,
            });
        }
        keys
    }
}

impl<C: fmt::Debug> fmt::Display for History<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for made in &self.0 {
            writeln!(
                f,
                "thread {} from {} to {}: {:?} -> {:?}",
                made.thread, made.began, made.ended, made.call, made.answer
            )?;
        }
        Ok(())
    }
}

/// What a thread is given to do.
struct Task<C> {
    calls: Vec<C>,
    make: Arc<dyn Fn(C) -> Answer + Send + Sync>,
    /// The order of all beginnings and ends.
    order: Arc<AtomicU64>,
}

/// Where threads meet before each history. They spin: a thread that is woken comes later than the
/// others end.
struct Rendezvous {
    count: u64,
    arrived: AtomicU64,
}

impl Rendezvous {
    fn of(count: usize) -> Rendezvous {
        Rendezvous {
            count: count as u64,
            arrived: AtomicU64::new(0),
        }
    }

    fn meet(&self) {
        let arrived = self.arrived.fetch_add(1, Ordering::SeqCst);
        let all = (arrived / self.count + 1) * self.count;
        let mut spins = 0u32;
        while self.arrived.load(Ordering::SeqCst) < all {
            spins += 1;
            // On a busy machine the others may wait for this processor.
            match spins.is_multiple_of(10_000) {
                true => thread::yield_now(),
                false => std::hint::spin_loop(),
            }
        }
    }
}

/// Threads that stay: a history is shorter than the start of a thread.
pub(crate) struct Threads<C = Call> {
    tasks: Vec<mpsc::Sender<Task<C>>>,
    made: mpsc::Receiver<Vec<Made<C>>>,
}

impl<C: Copy + Send + 'static> Threads<C> {
    /// `count` threads that begin each history together.
    pub(crate) fn start(count: usize) -> Threads<C> {
        let together = Arc::new(Rendezvous::of(count));
        let (done, made) = mpsc::channel();
        let tasks = (0..count)
            .map(|thread| {
                let (tasks, given) = mpsc::channel::<Task<C>>();
                let (together, done) = (together.clone(), done.clone());
                thread::spawn(move || {
                    for task in given {
                        together.meet();
                        let made = task.run(thread);
                        if done.send(made).is_err() {
                            break;
                        }
                    }
                });
                tasks
            })
            .collect();
        Threads { tasks, made }
    }

    pub(crate) fn count(&self) -> usize {
        self.tasks.len()
    }

    /// Has the threads make their calls by `make`.
    pub(crate) fn make(
        &self,
        calls: &[Vec<C>],
        make: impl Fn(C) -> Answer + Send + Sync + 'static,
    ) -> History<C> {
        let make: Arc<dyn Fn(C) -> Answer + Send + Sync> = Arc::new(make);
        let order = Arc::new(AtomicU64::new(0));
        for (tasks, calls) in self.tasks.iter().zip(calls) {
            let task = Task {
                calls: calls.clone(),
                make: make.clone(),
                order: order.clone(),
            };
            tasks.send(task).expect("the threads stay");
        }
        let mut all: Vec<Made<C>> = self
            .tasks
            .iter()
            .flat_map(|_| self.made.recv().expect("a thread panicked"))
            .collect();
        all.sort_by_key(|made| made.began);
        History(all)
    }
}

impl<C: Copy> Task<C> {
    fn run(self, thread: usize) -> Vec<Made<C>> {
        self.calls
            .iter()
            .map(|&call| {
                let began = self.order.fetch_add(1, Ordering::SeqCst);
                let answer = (self.make)(call);
                let ended = self.order.fetch_add(1, Ordering::SeqCst);
                Made {
                    thread,
                    call,
                    answer,
                    began,
                    ended,
                }
            })
            .collect()
    }
}

/// Whether some order of the calls that agrees with real time explains every answer.
pub(crate) fn is_linearizable(setup: &Setup, history: &History) -> bool {
    let setup = Arc::new(setup.clone());
    let mut actions: Vec<(u64, usize, Action<Answered>)> = Vec::new();
    for made in &history.0 {
        let answered = Answered {
            setup: setup.clone(),
            call: made.call,
            answer: made.answer.clone(),
        };
        actions.push((made.began, made.thread, Action::Call(answered.clone())));
        actions.push((made.ended, made.thread, Action::Response(answered)));
    }
    actions.sort_by_key(|(at, _, _)| *at);
    let actions = actions
        .into_iter()
        .map(|(_, thread, action)| (thread, action))
        .collect();
    WGLChecker::<Sequential>::is_linearizable(Checked::from_actions(actions))
}
