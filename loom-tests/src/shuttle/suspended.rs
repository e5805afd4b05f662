//! One thread suspended for good, before each step of its call in turn: the others go on.

mod scheduler;
pub mod scripts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use windowpane_core::sync::steps;

use crate::interleave::sequential_outcomes;
use crate::judge::broken;
use crate::run::{Answer, Callee, Outcome, Stage};
use crate::script::{Call, Script};
use crate::subject::Subject;

use scheduler::{Ended, Others, Suspending};

/// How many steps of its own a call may take, at most.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Of one attempt, whatever it finds: helping another's record into its place is part of it.
    pub attempt: u64,
}

impl Bound {
    /// Of a call while other threads make `rivals` calls: each of them can spoil one attempt, by the
    /// one exchange that decides it.
    fn of_call(self, rivals: u64) -> u64 {
        self.attempt * (1 + rivals)
    }
}

/// The threads that are not suspended are scheduled in all these ways.
const RANDOM_WAYS: u64 = 20;

/// The limiter goes on without a thread that is suspended: see the front page.
///
/// # Panics
/// With the script, the step before which the thread was suspended, and the answers, at the first
/// schedule in which another call waits, takes more steps than `bound`, or
/// answers as no order explains.
pub fn goes_on<L: Callee, O: Callee>(
    subject: Subject<L, O>,
    bound: Bound,
    scripts: Vec<Suspension>,
) {
    let mut all = Tally::default();
    for script in &scripts {
        match suspend_everywhere(subject, bound, script, &mut all) {
            Ok(()) => {}
            Err(found) => panic!("{}, {}: {found}", subject.name, script.name),
        }
    }
    println!(
        "suspended: goes on | {} | {} scripts | {} places | {} schedules | at most {} own steps a call (bound {} an \
         attempt)",
        subject.name,
        scripts.len(),
        all.places,
        all.schedules,
        all.most,
        bound.attempt
    );
}

/// The control: with this one, suspended somewhere, the others wait for ever.
///
/// # Panics
/// If they do not.
pub fn blocks<L: Callee, O: Callee>(subject: Subject<L, O>, scripts: Vec<Suspension>) {
    // More than any call takes: it is the lock that shall stop them.
    must_fail(
        "blocks",
        "blocked",
        subject,
        Bound { attempt: 100 },
        &scripts,
    );
}

/// A mutant that waits: the others never end.
///
/// # Panics
/// If they all end within the bound.
pub fn waits<L: Callee, O: Callee>(mutant: Subject<L, O>, bound: Bound, scripts: Vec<Suspension>) {
    must_fail("waits", "own steps", mutant, bound, &scripts);
}

/// A mutant that goes on, and decides wrong.
///
/// # Panics
/// If some order explains all answers.
pub fn errs<L: Callee, O: Callee>(mutant: Subject<L, O>, bound: Bound, scripts: Vec<Suspension>) {
    must_fail("errs", "no order", mutant, bound, &scripts);
}

fn must_fail<L: Callee, O: Callee>(
    what: &str,
    why: &str,
    subject: Subject<L, O>,
    bound: Bound,
    scripts: &[Suspension],
) {
    let name = subject.name;
    let found = first_problem(subject, bound, scripts);
    let found =
        found.unwrap_or_else(|| panic!("{name} goes on, and right, without the suspended thread"));
    assert!(found.contains(why), "{name}: {found}");
    println!(
        "suspended: {what} | {name} | {}",
        found.lines().next().unwrap_or("")
    );
}

fn first_problem<L: Callee, O: Callee>(
    subject: Subject<L, O>,
    bound: Bound,
    scripts: &[Suspension],
) -> Option<String> {
    let mut all = Tally::default();
    scripts.iter().find_map(|script| {
        let problem = suspend_everywhere(subject, bound, script, &mut all).err()?;
        Some(format!("{}: {problem}", script.name))
    })
}

/// A script whose first thread is suspended.
pub struct Suspension {
    pub(crate) name: &'static str,
    pub(crate) script: Script,
}

#[derive(Default)]
struct Tally {
    places: u64,
    schedules: u64,
    most: u64,
}

fn suspend_everywhere<L: Callee, O: Callee>(
    subject: Subject<L, O>,
    bound: Bound,
    suspension: &Suspension,
    all: &mut Tally,
) -> Result<(), String> {
    let whole = Arc::new(suspension.script.clone());
    let mut without = suspension.script.clone();
    without.threads[0].clear();
    let without = Arc::new(without);
    // The suspended call has been done, at any moment, or it has not been.
    let (before, victims) = (whole.before.len(), whole.threads[0].len());
    let mut possible = sequential_outcomes(&whole, subject.oracle);
    for outcome in &mut possible {
        outcome.drain(before..before + victims);
    }
    possible.extend(sequential_outcomes(&without, subject.oracle));
    let calls: u64 = whole.threads.iter().map(|calls| calls.len() as u64).sum();
    let mut after = 1;
    loop {
        let mut suspended = false;
        let ways = [Others::OneByOne, Others::InTurns].into_iter();
        for others in ways.chain((0..RANDOM_WAYS).map(Others::AtRandom)) {
            let ran = run(subject, bound.of_call(calls - 1), &whole, after, others);
            let at = format!("suspended before step {after} of its call, the others {others:?}");
            if let Some(problem) = ran.ended.problem() {
                return Err(format!("{problem}; {at}\n{}", ran.steps));
            }
            if ran.done {
                break;
            }
            suspended = true;
            all.schedules += 1;
            all.most = all.most.max(ran.most);
            if let Some(broken) = broken(&without, &ran.outcome, &possible, subject.counted) {
                let calls = without.calls().zip(&ran.outcome);
                let told: Vec<_> = calls
                    .map(|(call, answer)| format!("{call:?} -> {answer:?}"))
                    .collect();
                return Err(format!(
                    "{broken}; {at}\n{}\n{}",
                    told.join("\n"),
                    ran.steps
                ));
            }
        }
        if !suspended {
            return Ok(());
        }
        all.places += 1;
        after += 1;
    }
}

/// One schedule.
#[derive(Default)]
struct Ran {
    ended: Ended,
    /// The call that was to be suspended had fewer steps.
    done: bool,
    /// Without the suspended thread's answers.
    outcome: Outcome,
    /// The most steps of its own that a call took.
    most: u64,
    steps: String,
}

fn run<L: Callee, O: Callee>(
    subject: Subject<L, O>,
    bound: u64,
    script: &Arc<Script>,
    after: u64,
    others: Others,
) -> Ran {
    let scheduler = Suspending::new(after, others, bound);
    let seen = scheduler.seen();
    let ran = Arc::new(Mutex::new(Ran::default()));
    let (inside, script) = (ran.clone(), script.clone());
    let ended = catch_unwind(AssertUnwindSafe(|| {
        super::run(scheduler, move || {
            steps::start();
            let stage = Arc::new(Stage::new((subject.build)(&script)));
            let before = stage.make_all(&script.before);
            let threads = 0..script.threads.len();
            let mut threads: Vec<_> = threads
                .map(|thread| {
                    let (script, stage, ran) = (script.clone(), stage.clone(), inside.clone());
                    shuttle::thread::spawn(move || {
                        let calls = script.threads[thread].iter();
                        let answers: Outcome =
                            calls.map(|call| make(&stage, *call, &ran)).collect();
                        if thread == 0 {
                            ran.lock().unwrap().done = true;
                        }
                        answers
                    })
                })
                .collect();
            // No thread waits for the first one.
            drop(threads.remove(0));
            let mut outcome = before;
            for thread in threads {
                outcome.extend(thread.join().expect("no call panics"));
            }
            outcome.extend(stage.make_all(&script.after));
            scheduler::finished();
            inside.lock().unwrap().outcome = outcome;
        });
    }));
    let mut ran = std::mem::take(&mut *ran.lock().unwrap());
    ran.ended = match ended {
        Ok(()) => *seen.lock().unwrap(),
        Err(_) => Ended::Panicked,
    };
    ran.steps = steps::take()
        .iter()
        .map(|step| format!("    {step}\n"))
        .collect();
    ran
}

/// Makes a call and counts its steps.
fn make<L: Callee>(stage: &Stage<L>, call: Call, ran: &Mutex<Ran>) -> Answer {
    let me = scheduler::begins();
    let answer = stage.make(call);
    let own = scheduler::own_steps(me);
    let mut ran = ran.lock().unwrap();
    // What the suspended thread takes is not counted: its stop is fixed.
    if me != scheduler::VICTIM {
        ran.most = ran.most.max(own);
    }
    answer
}
