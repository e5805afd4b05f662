//! Eight threads, eight calls each, under schedules by priority.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use shuttle::scheduler::{PctScheduler, Scheduler};
use windowpane_core::sync::steps;

use super::history::{Made, is_linearizable};
use super::random::{Calls, LOOSEST};
use super::schedule::{Keeping, Kept, Replaying, Schedule, first_seed, replayed, schedules};
use crate::judge::too_many;
use crate::run::{Answer, Callee, Stage};
use crate::script::{Script, peek_of};
use crate::subject::{Counted, Subject};

/// Threads are interrupted at this many places of a schedule, less one.
const DEPTH: usize = 4;

/// How many schedules each script is tried with.
const OF_A_SCRIPT: u64 = 20;

/// The most calls whose order is looked for where quotas change: a call that changes them has so many
/// places that more would take the checker too long.
const MOST_IN_ORDER: usize = 16;

/// The structure that ships: no schedule may break a rule.
///
/// # Panics
/// With the calls, the answers and the schedule, and how to make it happen again.
pub fn pct_holds<L: Callee, O: Callee>(subject: Subject<L, O>, calls: Calls) {
    if let Some((seed, schedule)) = replayed() {
        return replay(subject, calls, seed, schedule);
    }
    let start = Instant::now();
    let (schedules, steps, found) = search(subject, calls, schedules(), false);
    if let Some(found) = found {
        panic!("{} {found}", subject.name);
    }
    println!(
        "pct: holds | {} | {schedules} schedules of 8 threads with 8 calls | {} steps a schedule | {:.1} s",
        subject.name,
        steps / schedules.max(1),
        start.elapsed().as_secs_f64()
    );
}

/// A twin with a seeded bug: some schedule must break a rule.
///
/// # Panics
/// If none does, but for panics, which do not count as found.
pub fn pct_finds<L: Callee, O: Callee>(twin: Subject<L, O>, calls: Calls) {
    if let Some((seed, schedule)) = replayed() {
        return replay(twin, calls, seed, schedule);
    }
    let (schedules, _, found) = search(twin, calls, schedules(), true);
    let Some(found) = found else {
        panic!("{} is not found in {schedules} schedules", twin.name);
    };
    println!("pct: finds | {} | at schedule {schedules}", twin.name);
    println!("{} {found}", twin.name);
}

/// Scripts from seeds, each under so many schedules: how many there were, with how many steps, and
/// what the first that broke a rule was.
fn search<L: Callee, O: Callee>(
    subject: Subject<L, O>,
    calls: Calls,
    most: u64,
    rules_only: bool,
) -> (u64, u64, Option<String>) {
    let (mut schedules, mut steps) = (0, 0);
    let mut seed = first_seed();
    while schedules < most {
        let kept = Kept::default();
        // The first of each is no race: it tells the scheduler how long one is.
        let by_priority = PctScheduler::new_from_seed(seed, DEPTH, OF_A_SCRIPT as usize + 1);
        let ran = race(
            subject,
            calls(seed),
            Keeping::new(by_priority, kept.clone()),
            &kept,
        );
        schedules += ran.schedules;
        steps += ran.steps;
        // A twin that panics, or spins for ever in what another has broken, is not found by a rule.
        if ran.stands_still && rules_only {
            seed += 1;
            continue;
        }
        if let Some(broken) = ran.broken {
            let schedule = kept.schedule();
            let told = format!("{broken}\nto see it again: --replay '{seed}:{schedule}'");
            return (schedules, steps, Some(told));
        }
        seed += 1;
    }
    (schedules, steps, None)
}

/// One schedule again, with all its steps.
fn replay<L: Callee, O: Callee>(
    subject: Subject<L, O>,
    calls: Calls,
    seed: u64,
    schedule: Schedule,
) {
    let kept = Kept::default();
    let ran = race(
        subject,
        calls(seed),
        Keeping::new(Replaying::new(schedule), kept.clone()),
        &kept,
    );
    println!("pct: replayed | {} | {}", subject.name, ran.told);
    println!("{}", ran.last_steps);
    if let Some(broken) = ran.broken {
        println!("{broken}");
    }
}

struct Ran {
    schedules: u64,
    steps: u64,
    broken: Option<String>,
    told: &'static str,
    last_steps: String,
    stands_still: bool,
}

fn race<L: Callee, O: Callee>(
    subject: Subject<L, O>,
    script: Script,
    scheduler: impl Scheduler + 'static,
    kept: &Kept,
) -> Ran {
    let ran = Arc::new(Mutex::new(Ran {
        schedules: 0,
        steps: 0,
        broken: None,
        told: "no rule is broken",
        last_steps: String::new(),
        stands_still: false,
    }));
    let (inside, kept, script) = (ran.clone(), kept.clone(), Arc::new(script));
    let of_script = script.clone();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        super::run(scheduler, move || {
            steps::start();
            let stage = Arc::new(Stage::new((subject.build)(&of_script)));
            let history = play(&of_script, &stage);
            let after = finally(&of_script, &stage);
            kept.over();
            let steps = steps::take();
            let broken = judge(subject, &of_script, &history, &after);
            let mut ran = inside.lock().unwrap();
            ran.schedules += 1;
            ran.steps += steps.len() as u64;
            if broken.is_some() || super::schedule::replayed().is_some() {
                ran.last_steps = steps.iter().map(|step| format!("    {step}\n")).collect();
            }
            if let Some(rule) = broken {
                ran.told = "a rule is broken";
                ran.broken = Some(tell(&rule, &history));
                kept.enough();
            }
        });
    }));
    let mut told = std::mem::replace(
        &mut *ran
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner),
        Ran {
            schedules: 0,
            steps: 0,
            broken: None,
            told: "",
            last_steps: String::new(),
            stands_still: false,
        },
    );
    if ended.is_err() {
        told.broken = Some("panics or stands still: see above".into());
        told.stands_still = true;
        told.told = "panics or stands still";
        told.schedules += 1;
    }
    told
}

/// The race itself.
fn play<L: Callee>(script: &Arc<Script>, stage: &Arc<Stage<L>>) -> Vec<Made> {
    let order = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..script.threads.len())
        .map(|thread| {
            let (script, stage, order) = (script.clone(), stage.clone(), order.clone());
            shuttle::thread::spawn(move || {
                let calls = script.threads[thread].iter();
                let made = calls.map(|&call| {
                    let began = order.fetch_add(1, Ordering::SeqCst);
                    let answer = stage.make(call);
                    let ended = order.fetch_add(1, Ordering::SeqCst);
                    Made {
                        thread,
                        call,
                        answer,
                        began,
                        ended,
                    }
                });
                made.collect::<Vec<_>>()
            })
        })
        .collect();
    let made = threads
        .into_iter()
        .map(|thread| thread.join().expect("no call panics"));
    made.flatten().collect()
}

/// In a store, what is left of each key in the end: at the latest reading of all calls.
fn finally<L: Callee>(script: &Script, stage: &Stage<L>) -> Vec<(u64, u64, Answer)> {
    let keys: std::collections::BTreeSet<u64> =
        script.calls().filter_map(|(_, call)| call.key()).collect();
    let latest = script
        .calls()
        .filter_map(|(_, call)| call.reading())
        .max()
        .unwrap_or(0);
    let look = |key| (key, latest, stage.make(peek_of(key, latest)));
    keys.into_iter().map(look).collect()
}

fn judge<L, O: Callee>(
    subject: Subject<L, O>,
    script: &Arc<Script>,
    history: &[Made],
    after: &[(u64, u64, Answer)],
) -> Option<String> {
    let answers = history.iter().map(|made| made.answer.clone()).collect();
    // While quotas change, all that is sure by times alone is the loosest of them.
    let (counting, counted) = match script.changes() {
        true => (script.limited_to(LOOSEST), Counted::All),
        false => ((**script).clone(), subject.counted),
    };
    if counted != Counted::None
        && !script.resets()
        && let Some(broken) = too_many(&counting, &answers, counted)
    {
        return Some(broken.to_string());
    }
    if script.changes() && history.len() > MOST_IN_ORDER {
        return None;
    }
    if after.is_empty() {
        let ordered = is_linearizable(script, subject.oracle, history);
        return (!ordered)
            .then(|| "no order that agrees with real time explains the answers".into());
    }
    after
        .iter()
        .find_map(|(key, at, look)| what_is_left(script, history, *key, *at, look))
}

/// The sum of what was allowed to a key in its last window, and what the store says is left: a charge
/// that went to another key, or to a limiter that is the key's no more, is missing.
fn what_is_left(
    script: &Script,
    history: &[Made],
    key: u64,
    at: u64,
    look: &Answer,
) -> Option<String> {
    let quota = script.quotas[0];
    // A look that is allowed tells what would be left after it; without room to look, the key has no
    // entry, so nothing that counts may have been allowed to it.
    let told = match look {
        Answer::LookAtKey(Ok(look)) => look.remaining() + u64::from(look.is_allowed()),
        _ => quota.limit(),
    };
    let charged = history.iter().filter(|made| made.call.key() == Some(key));
    let charged = charged.filter_map(|made| {
        let when = made.answer.charged_at(made.call)?;
        (when / quota.window() == at / quota.window()).then(|| made.call.cost())?
    });
    let used: u64 = charged.map(|cost| quota.charge(cost)).sum();
    let left = quota.limit() - used.min(quota.limit());
    (told != left).then(|| {
        format!("key {key} was allowed {used} in the window of {at}, of {quota:?}, and {told} are told to be left")
    })
}

fn tell(rule: &str, history: &[Made]) -> String {
    let mut text = format!("breaks a rule: {rule}\n");
    for Made {
        thread,
        call,
        answer,
        began,
        ended,
    } in history
    {
        writeln!(
            text,
            "  thread {}, {began} to {ended}: {call:?} -> {answer:?}",
            thread + 1
        )
        .unwrap();
    }
    text
}
