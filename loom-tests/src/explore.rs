//! Lets loom try every schedule of a script and judges each outcome.

use std::any::Any;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use windowpane_core::RateLimiter;
use windowpane_core::sync::steps::{self, Step};

use crate::interleave::sequential_outcomes;
use crate::judge::{Broken, broken};
use crate::run::{Outcome, race};
use crate::script::Script;
use crate::subject::Subject;

/// loom keeps its state in statics and in thread-locals: one model at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What a broken rule panics with inside the model, where the stack is too small to say more.
const BROKEN: &str = "an outcome that must not be";

/// The shipped limiter: no schedule may break a rule.
///
/// # Panics
/// With the calls, the answers and the steps of the first schedule that breaks one; or if loom did
/// not get to see every outcome that a sequential order has, for then the model shows less than it
/// says.
pub fn holds<L, O>(model: &str, script: Script, subject: Subject<L, O>)
where
    L: RateLimiter + 'static,
    O: RateLimiter + 'static,
{
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let explored = Explored::by(&Arc::new(script), subject);
    let name = subject.name;
    if let Some(violation) = &explored.violation {
        panic!("{name} breaks {model}: {}", explored.tell(violation));
    }
    println!("loom: holds | {name} | {model} | {}", explored.summary());
    assert_eq!(
        explored.seen.len(),
        explored.possible.len(),
        "{model} of {name} is vacuous: loom did not see every outcome of a sequential order"
    );
}

/// A twin with a seeded bug: some schedule must break a rule.
///
/// # Panics
/// If none does, or if the twin fails in another way, which does not count as found.
pub fn finds<L, O>(model: &str, script: Script, twin: Subject<L, O>)
where
    L: RateLimiter + 'static,
    O: RateLimiter + 'static,
{
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let explored = Explored::by(&Arc::new(script), twin);
    let (name, summary) = (twin.name, explored.summary());
    let Some(violation) = &explored.violation else {
        panic!("loom does not find what is wrong with {name} by {model}: {summary}");
    };
    println!("loom: finds | {name} | {model} | {summary}");
    println!("{}", explored.tell(violation));
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
    fn by<L, O>(script: &Arc<Script>, subject: Subject<L, O>) -> Explored
    where
        L: RateLimiter + 'static,
        O: RateLimiter + 'static,
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
                let holds = inside.lock().unwrap().judge(outcome, subject.exact);
                assert!(holds, "{BROKEN}");
            });
        }));
        match ended {
            Err(panic) if !is_ours(&*panic) => resume_unwind(panic),
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
    fn judge(&mut self, outcome: Outcome, exact: bool) -> bool {
        self.schedules += 1;
        if self.seen.contains(&outcome) {
            return true;
        }
        if let Some(broken) = broken(&self.script, &outcome, &self.possible, exact) {
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

    fn summary(&self) -> String {
        let bound = match self.preemptions {
            None => "exhaustive".into(),
            Some(bound) => format!("at most {bound} preemptions"),
        };
        format!(
            "{bound} | {} schedules | {} of {} outcomes | {:.2} s",
            self.schedules,
            self.seen.len(),
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

fn is_ours(panic: &(dyn Any + Send)) -> bool {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)) == Some(BROKEN)
}
