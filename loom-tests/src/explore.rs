//! Lets loom try every schedule of a script and judges each outcome.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use windowpane_core::sync::steps::{self, Step};

use crate::interleave::sequential_outcomes;
use crate::judge::{Broken, broken};
use crate::run::{Callee, Outcome, race};
use crate::script::Script;
use crate::subject::{Counted, Subject};

/// loom keeps its state in statics and in thread-locals: one model at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What unwinds from inside a model to end its exploration: a rule is broken, or there were as many
/// schedules as were wanted. What to tell travels beside it: the stack inside is small.
struct Enough;

/// How many schedules of one random script are tried at most.
const RANDOM_SCHEDULES: u64 = 20_000;

/// The shipped limiter: no schedule may break a rule.
///
/// # Panics
/// With the calls, the answers and the steps of the first schedule that breaks one; or if loom did
/// not get to see every outcome that a sequential order has, for then the model shows less than it
/// says.
pub fn holds<L, O>(model: &str, script: Script, subject: Subject<L, O>)
where
    L: Callee,
    O: Callee,
{
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let explored = Explored::by(&Arc::new(script), subject, u64::MAX);
    let name = subject.name;
    if let Some(violation) = &explored.violation {
        panic!("{name} breaks {model}: {}", explored.tell(violation));
    }
    println!("loom: holds | {name} | {model} | {}", explored.summary());
    assert_eq!(
        explored.possible_seen(),
        explored.possible.len(),
        "{model} of {name} is vacuous: loom did not see every outcome of a sequential order"
    );
}

/// A mutant with a seeded bug: some schedule must break a rule.
///
/// # Panics
/// If none does, or if the mutant fails in another way, which does not count as found.
pub fn finds<L, O>(model: &str, script: Script, mutant: Subject<L, O>)
where
    L: Callee,
    O: Callee,
{
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let explored = Explored::by(&Arc::new(script), mutant, u64::MAX);
    let (name, summary) = (mutant.name, explored.summary());
    let Some(violation) = &explored.violation else {
        panic!("loom does not find what is wrong with {name} by {model}: {summary}");
    };
    println!("loom: finds | {name} | {model} | {summary}");
    println!("{}", explored.tell(violation));
}

/// The shipped limiter under random scripts, made from seeds: no schedule may break a rule. Long
/// explorations are cut short, and the report says how many were.
///
/// `WINDOWPANE_LOOM_RANDOM=N` asks for `N` scripts, `WINDOWPANE_LOOM_SEED=S` for those from seed `S`
/// on.
///
/// # Panics
/// With the seed, and as [`holds`].
pub fn holds_at_random<L, O>(random: impl Fn(u64) -> Script, subject: Subject<L, O>)
where
    L: Callee,
    O: Callee,
{
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let first = number("WINDOWPANE_LOOM_SEED", 0);
    let last = first + number("WINDOWPANE_LOOM_RANDOM", 40).saturating_sub(1);
    let (start, name) = (Instant::now(), subject.name);
    let (mut schedules, mut seen, mut possible, mut cut) = (0, 0, 0, 0);
    for seed in first..=last {
        let script = Arc::new(random(seed));
        let explored = Explored::by(&script, subject, RANDOM_SCHEDULES);
        if let Some(violation) = &explored.violation {
            let told = explored.tell(violation);
            panic!("{name} breaks the random script of seed {seed}, {script:?}: {told}");
        }
        schedules += explored.schedules;
        seen += explored.possible_seen();
        possible += explored.possible.len();
        cut += u64::from(explored.schedules == RANDOM_SCHEDULES);
    }
    println!(
        "loom: holds | {name} | random {first} to {last} | {cut} cut short | {schedules} schedules | {seen} of \
         {possible} outcomes | {:.2} s",
        start.elapsed().as_secs_f64()
    );
}

/// A number from the environment.
fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Err(_) => otherwise,
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is `{text}`: expected a number")),
    }
}

/// How far loom got, and what it saw.
struct Explored {
    script: Arc<Script>,
    preemptions: Option<usize>,
    possible: Vec<Outcome>,
    schedules: u64,
    seen: Vec<Outcome>,
    violation: Option<Violation>,
    took: Duration,
}

/// The schedule that broke a rule.
struct Violation {
    broken: Broken,
    outcome: Outcome,
    steps: Vec<Step>,
}

impl Explored {
    /// Explores until a rule is broken, loom is through, or there were `most` schedules.
    fn by<L, O>(script: &Arc<Script>, subject: Subject<L, O>, most: u64) -> Explored
    where
        L: Callee,
        O: Callee,
    {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = preemptions(script, subject.bounded);
        builder.max_branches = 10_000;
        // Both would end the exploration silently, as if it had been complete.
        builder.max_permutations = None;
        builder.max_duration = None;
        let explored = Arc::new(Mutex::new(Explored {
            script: script.clone(),
            preemptions: builder.preemption_bound,
            possible: sequential_outcomes(script, subject.oracle),
            schedules: 0,
            seen: Vec::new(),
            violation: None,
            took: Duration::ZERO,
        }));
        let (start, inside) = (Instant::now(), explored.clone());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                let script = inside.lock().unwrap().script.clone();
                steps::start();
                let outcome = race(&script, (subject.build)(&script));
                let mut explored = inside.lock().unwrap();
                let goes_on = explored.judge(outcome, subject.counted) && explored.schedules < most;
                drop(explored);
                if !goes_on {
                    resume_unwind(Box::new(Enough));
                }
            });
        }));
        match ended {
            Err(panic) if !panic.is::<Enough>() => resume_unwind(panic),
            _ => {}
        }
        let explored = Arc::into_inner(explored).expect("loom has let go of the model");
        let mut explored = explored
            .into_inner()
            .expect("not poisoned: it panics outside");
        explored.took = start.elapsed();
        explored
    }

    /// Whether an outcome may be.
    fn judge(&mut self, outcome: Outcome, counted: Counted) -> bool {
        self.schedules += 1;
        if self.seen.contains(&outcome) {
            return true;
        }
        if let Some(broken) = broken(&self.script, &outcome, &self.possible, counted) {
            let steps = steps::take();
            self.violation = Some(Violation {
                broken,
                outcome,
                steps,
            });
            return false;
        }
        self.seen.push(outcome);
        true
    }

    /// How many of the outcomes of sequential orders were seen.
    fn possible_seen(&self) -> usize {
        let possible = self.possible.iter();
        possible.filter(|order| self.seen.contains(order)).count()
    }

    fn summary(&self) -> String {
        let bound = match self.preemptions {
            None => "exhaustive".into(),
            Some(bound) => format!("at most {bound} preemptions"),
        };
        format!(
            "{bound} | {} schedules | {} of {} outcomes | {:.2} s",
            self.schedules,
            self.possible_seen(),
            self.possible.len(),
            self.took.as_secs_f64()
        )
    }

    fn tell(&self, violation: &Violation) -> String {
        let mut text = format!("{}, in schedule {}\n", violation.broken, self.schedules);
        for ((caller, call), answer) in self.script.calls().zip(&violation.outcome) {
            writeln!(text, "  {caller:?}: {call:?} -> {answer:?}").unwrap();
        }
        for step in &violation.steps {
            writeln!(text, "    {step}").unwrap();
        }
        text
    }
}

/// The bound on preemptions. `WINDOWPANE_LOOM_DEEP` raises it: by a number, or to `all`.
fn preemptions(script: &Script, bounded: bool) -> Option<usize> {
    let bound = script.preemptions.filter(|_| bounded)?;
    match std::env::var("WINDOWPANE_LOOM_DEEP").as_deref() {
        Err(_) | Ok("") => Some(bound),
        Ok("all") => None,
        Ok(more) => match more.parse::<usize>() {
            Ok(more) => Some(bound + more),
            Err(_) => panic!(
                "WINDOWPANE_LOOM_DEEP is `{more}`: expected how many preemptions more, such as 1, or `all`"
            ),
        },
    }
}
