//! Eight threads that wait in one line, eight times each.

use std::sync::Arc;
use std::time::Instant;

use windowpane_core::sync::steps;
use windowpane_core::{Cost, Quotas};
use windowpane_mutex_log::MutexLog;

use super::random::waiting;
use super::schedule::Keeping;
use super::search::{Ran, race, replay, search};
use super::together::together;
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
    if replay("wait queue", race_of::<Q>) {
        return;
    }
    let start = Instant::now();
    let ran = search(false, race_of::<Q>);
    if let Some(found) = ran.broken {
        panic!("the line {found}");
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "pct: holds | wait queue | {} schedules of 8 threads with 8 calls | {seconds:.1} s",
        ran.schedules
    );
}

/// A mutant with a seeded bug: some schedule must break a rule.
///
/// # Panics
/// If none does.
pub fn line_finds<Q: Line>(name: &str) {
    if replay(name, race_of::<Q>) {
        return;
    }
    // That all stand still is what some of its bugs lead to, so that counts here.
    let ran = search(false, race_of::<Q>);
    let count = ran.schedules;
    let Some(found) = ran.broken else {
        panic!("{name} is not found in {count} schedules");
    };
    println!("pct: finds | {name} | at schedule {count}\n{name} {found}");
}

/// One who was served: when it came, when it went, what it got.
struct Served {
    came: u64,
    went: u64,
    at: u64,
    cost: Cost,
}

fn race_of<Q: Line>(seed: u64, keeping: Keeping) -> Ran {
    race(keeping, move |kept| {
        steps::start();
        let quotas = Quotas::parse([format!("{LIMIT}/{WINDOW}ns").as_str()]).expect("a quota");
        let line = Arc::new(Q::before(MutexLog::new(quotas), TickingClock::new()));
        let made = {
            let line = line.clone();
            together(waiting(seed), move |cost| line.wait(cost))
        };
        let served: Vec<Served> = made
            .into_iter()
            .flatten()
            .map(|timed| Served {
                came: timed.began,
                went: timed.ended,
                at: timed.answer,
                cost: timed.call,
            })
            .collect();
        kept.over();
        (steps::take(), judge(&served, line.waiting()))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_of_the_line_can_be_broken() {
        let served = |came, went, at| Served {
            came,
            went,
            at,
            cost: Cost::ONE,
        };
        let right = [
            served(0, 2, 5),
            served(1, 3, 6),
            served(4, 5, 7),
            served(6, 7, 14),
        ];
        assert_eq!(judge(&right, 0), None);
        assert!(judge(&right, 1).unwrap().contains("still has 1"));
        let early = [served(0, 1, 5), served(2, 3, 4)];
        assert!(judge(&early, 0).unwrap().contains("earlier"));
        // The fourth within one window; one nanosecond later the first would be gone.
        let over = [
            served(0, 2, 5),
            served(1, 3, 6),
            served(4, 5, 7),
            served(6, 7, 13),
        ];
        assert!(judge(&over, 0).unwrap().contains("more through"));
    }
}
