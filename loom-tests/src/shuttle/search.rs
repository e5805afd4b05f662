//! The search for a schedule by priority that breaks a rule.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use shuttle::scheduler::PctScheduler;
use windowpane_core::sync::steps::Step;

use super::schedule::{Keeping, Kept, Replaying, first_seed, replayed, schedules};

/// Threads are interrupted at this many places of a schedule, less one.
const DEPTH: usize = 4;

/// How many schedules each script is tried with.
const OF_A_SCRIPT: usize = 20;

/// What came of some schedules.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) schedules: u64,
    pub(super) steps: u64,
    /// The rule that is broken, and how.
    pub(super) broken: Option<String>,
    /// It is broken by a panic, or by threads that never end.
    stands_still: bool,
    /// Of the last schedule.
    last_steps: Vec<Step>,
}

/// Runs `one` under every schedule of `keeping` until a rule is broken. It plays the race, says when
/// that is over, and answers with the steps and the rule that they break, if they break one.
pub(super) fn race(
    keeping: Keeping,
    one: impl Fn(&Kept) -> (Vec<Step>, Option<String>) + Send + Sync + 'static,
) -> Ran {
    let kept = keeping.kept();
    let ran = Arc::new(Mutex::new(Ran::default()));
    let inside = ran.clone();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        super::run(keeping, move || {
            let (steps, broken) = one(&kept);
            let mut ran = inside.lock().unwrap();
            ran.schedules += 1;
            ran.steps += steps.len() as u64;
            ran.last_steps = steps;
            if broken.is_some() {
                ran.broken = broken;
                kept.enough();
            }
        });
    }));
    let mut ran = std::mem::take(&mut *ran.lock().unwrap_or_else(PoisonError::into_inner));
    if ended.is_err() {
        ran.schedules += 1;
        ran.broken = Some("panics or stands still: see above".into());
        ran.stands_still = true;
    }
    ran
}

/// Scripts from seeds, each under a number of schedules, until a rule is broken. With `rules_only` a panic,
/// or threads that spin for ever in what others have broken, are passed over.
pub(super) fn search(rules_only: bool, of_script: impl Fn(u64, Keeping) -> Ran) -> Ran {
    let mut all = Ran::default();
    let mut seed = first_seed();
    while all.schedules < schedules() {
        // The first of each is no race: it tells the scheduler how long one is.
        let by_priority = PctScheduler::new_from_seed(seed, DEPTH, OF_A_SCRIPT + 1);
        let keeping = Keeping::new(by_priority);
        let kept = keeping.kept();
        let ran = of_script(seed, keeping);
        all.schedules += ran.schedules;
        all.steps += ran.steps;
        if let Some(broken) = ran.broken
            && !(ran.stands_still && rules_only)
        {
            let schedule = kept.schedule();
            let again = format!("{broken}\nto see it again: --replay '{seed}:{schedule}'");
            all.broken = Some(again);
            break;
        }
        seed += 1;
    }
    all
}

/// Makes the schedule that was asked for happen again, with all its steps; whether one was.
pub(super) fn replay(name: &str, of_script: impl Fn(u64, Keeping) -> Ran) -> bool {
    let Some((seed, schedule)) = replayed() else {
        return false;
    };
    let ran = of_script(seed, Keeping::new(Replaying::new(schedule)));
    let told = match &ran.broken {
        None => "no rule is broken",
        Some(_) if ran.stands_still => "panics or stands still",
        Some(_) => "a rule is broken",
    };
    println!("pct: replayed | {name} | {told}");
    for step in &ran.last_steps {
        println!("    {step}");
    }
    if let Some(broken) = ran.broken {
        println!("\n{broken}");
    }
    true
}
