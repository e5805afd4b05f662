//! Eight threads, eight calls each, under schedules by priority.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use windowpane_core::sync::steps;

use super::history::{Made, is_linearizable};
use super::random::{Calls, LOOSEST};
use super::schedule::Keeping;
use super::search::{Ran, race, replay, search};
use super::together::{Timed, together};
use crate::judge::too_many;
use crate::run::{Answer, Callee, Stage};
use crate::script::{Call, Script, peek_of};
use crate::subject::{Counted, Subject};

/// The most calls whose order is looked for where quotas change: a call that changes them has many
/// places that more would take the checker too long.
const MOST_IN_ORDER: usize = 16;

/// The structure that ships: no schedule may break a rule.
///
/// # Panics
/// With the calls, the answers and the schedule, and how to make it happen again.
pub fn pct_holds<L: Callee, O: Callee>(subject: Subject<L, O>, calls: Calls) {
    let of_script = |seed, keeping| race_of(subject, calls(seed), keeping);
    if replay(subject.name, of_script) {
        return;
    }
    let start = Instant::now();
    let ran = search(false, of_script);
    if let Some(found) = ran.broken {
        panic!("{} {found}", subject.name);
    }
    println!(
        "pct: holds | {} | {} schedules of 8 threads with 8 calls | {} steps a schedule | {:.1} s",
        subject.name,
        ran.schedules,
        ran.steps / ran.schedules.max(1),
        start.elapsed().as_secs_f64()
    );
}

/// A mutant with a seeded bug: some schedule must break a rule.
///
/// # Panics
/// If none does, but for panics, which do not count as found.
pub fn pct_finds<L: Callee, O: Callee>(mutant: Subject<L, O>, calls: Calls) {
    let of_script = |seed, keeping| race_of(mutant, calls(seed), keeping);
    if replay(mutant.name, of_script) {
        return;
    }
    let Ran {
        schedules, broken, ..
    } = search(true, of_script);
    let Some(found) = broken else {
        panic!("{} is not found in {schedules} schedules", mutant.name);
    };
    println!("pct: finds | {} | at schedule {schedules}", mutant.name);
    println!("{} {found}", mutant.name);
}

fn race_of<L: Callee, O: Callee>(subject: Subject<L, O>, script: Script, keeping: Keeping) -> Ran {
    let script = Arc::new(script);
    race(keeping, move |kept| {
        steps::start();
        let stage = Arc::new(Stage::new((subject.build)(&script)));
        let history = play(&script, &stage);
        let after = finally(&script, &stage);
        kept.over();
        let steps = steps::take();
        let broken = judge(subject, &script, &history, &after);
        (steps, broken.map(|rule| tell(&rule, &history)))
    })
}

/// The race itself.
fn play<L: Callee>(script: &Script, stage: &Arc<Stage<L>>) -> Vec<Made> {
    let stage = stage.clone();
    let made = together(script.threads.clone(), move |call| stage.make(call));
    let of_thread = |(thread, made): (usize, Vec<Timed<Call, Answer>>)| {
        made.into_iter().map(move |timed| Made {
            thread,
            call: timed.call,
            answer: timed.answer,
            began: timed.began,
            ended: timed.ended,
        })
    };
    made.into_iter().enumerate().flat_map(of_thread).collect()
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
    let clears = script.clears();
    // While quotas change, all that is sure by times alone is the loosest of them. Each call that
    // forgets all keys gives each of them one more allowance.
    let (counting, counted) = match script.quotas[0] {
        _ if script.changes() => (script.limited_to(LOOSEST), Counted::All),
        quota if clears > 0 => {
            let (limit, window) = (quota.limit() * (1 + clears), quota.window());
            let limited = script.limited_to(&format!("{limit}/{window}ns"));
            (limited, subject.counted)
        }
        _ => ((**script).clone(), subject.counted),
    };
    if counted != Counted::None
        && !script.resets()
        && let Some(broken) = too_many(&counting, &answers, counted)
    {
        return Some(broken.to_string());
    }
    if clears > 0 || script.changes() && history.len() > MOST_IN_ORDER {
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
