//! Eight threads that wait in one line, eight times each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use shuttle::scheduler::{PctScheduler, Scheduler};
use windowpane_core::{Cost, Quotas};
use windowpane_mutex_log::MutexLog;

use super::random::waiting;
use super::schedule::{Keeping, Kept, Replaying, first_seed, replayed, schedules};
use crate::line::Line;
use crate::run::TickingClock;

const LIMIT: u64 = 3;
const WINDOW: u64 = 9;

/// The line that ships: under every schedule all are served, none before one who was served before he
/// came, and the limiter behind it is not passed by.
///
/// # Panics
/// With the schedule that breaks a rule.
pub fn line_holds<Q: Line>() {
    let start = Instant::now();
    let (count, found) = search::<Q>();
    if let Some(found) = found {
        panic!("the line {found}");
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "pct: holds | wait queue | {count} schedules of 8 threads with 8 calls | {seconds:.1} s"
    );
}

/// A twin with a seeded bug: some schedule must break a rule.
///
/// # Panics
/// If none does.
pub fn line_finds<Q: Line>(name: &str) {
    let (count, found) = search::<Q>();
    let Some(found) = found else {
        panic!("{name} is not found in {count} schedules");
    };
    println!("pct: finds | {name} | at schedule {count}\n{name} {found}");
}

fn search<Q: Line>() -> (u64, Option<String>) {
    if let Some((seed, schedule)) = replayed() {
        let kept = Kept::default();
        let (count, broken) = race::<Q>(
            seed,
            Keeping::new(Replaying::new(schedule), kept.clone()),
            &kept,
        );
        return (count, broken);
    }
    let (mut count, mut seed) = (0, first_seed());
    while count < schedules() {
        let kept = Kept::default();
        let by_priority = PctScheduler::new_from_seed(seed, 4, 21);
        let (more, broken) = race::<Q>(seed, Keeping::new(by_priority, kept.clone()), &kept);
        count += more;
        if let Some(broken) = broken {
            let schedule = kept.schedule();
            return (
                count,
                Some(format!(
                    "{broken}\nto see it again: --replay '{seed}:{schedule}'"
                )),
            );
        }
        seed += 1;
    }
    (count, None)
}

/// One who was served: when it came, when it went, what it got.
struct Served {
    came: u64,
    went: u64,
    at: u64,
    cost: Cost,
}

fn race<Q: Line>(
    seed: u64,
    scheduler: impl Scheduler + 'static,
    kept: &Kept,
) -> (u64, Option<String>) {
    let ran = Arc::new(Mutex::new((0, None)));
    let (inside, kept) = (ran.clone(), kept.clone());
    let ended = catch_unwind(AssertUnwindSafe(|| {
        super::run(scheduler, move || {
            let quotas = Quotas::parse([format!("{LIMIT}/{WINDOW}ns").as_str()]).expect("a quota");
            let line = Arc::new(Q::before(MutexLog::new(quotas), TickingClock::new()));
            let order = Arc::new(AtomicU64::new(0));
            let threads: Vec<_> = waiting(seed)
                .into_iter()
                .map(|costs| {
                    let (line, order) = (line.clone(), order.clone());
                    shuttle::thread::spawn(move || {
                        let served = costs.into_iter().map(|cost| {
                            let came = order.fetch_add(1, Ordering::SeqCst);
                            let at = line.wait(cost);
                            let went = order.fetch_add(1, Ordering::SeqCst);
                            Served {
                                came,
                                went,
                                at,
                                cost,
                            }
                        });
                        served.collect::<Vec<_>>()
                    })
                })
                .collect();
            let served = threads
                .into_iter()
                .map(|thread| thread.join().expect("no call panics"));
            let served: Vec<Served> = served.flatten().collect();
            kept.over();
            let broken = judge(&served, line.waiting());
            let mut ran = inside.lock().unwrap();
            ran.0 += 1;
            if broken.is_some() {
                ran.1 = broken;
                kept.enough();
            }
        });
    }));
    let (count, broken) = std::mem::take(&mut *ran.lock().unwrap_or_else(PoisonError::into_inner));
    match ended {
        Ok(()) => (count, broken),
        Err(_) => (count + 1, Some("panics or stands still: see above".into())),
    }
}

fn judge(served: &[Served], waiting: usize) -> Option<String> {
    if waiting > 0 {
        return Some(format!("still has {waiting} in it when all are served"));
    }
    let overtaken = served
        .iter()
        .any(|a| served.iter().any(|b| a.went < b.came && b.at < a.at));
    if overtaken {
        return Some("served one earlier than one who had gone before it came".into());
    }
    let over = served.iter().any(|last| {
        let inside = served
            .iter()
            .filter(|one| one.at <= last.at && last.at - one.at < WINDOW);
        inside.map(|one| one.cost.get()).sum::<u64>() > LIMIT
    });
    over.then(|| "lets more through than the quota in one window".into())
}
