//! Linearizability with real threads: what a limiter answered to calls that overlapped must be what
//! some order of the calls explains, an order that agrees with real time.
//!
//! Threads make short histories of calls on one limiter and note when each call began and ended. An
//! established checker (Wing and Gong's algorithm with Lowe's improvements, from `todc-utils`) then
//! looks for an order in which each call answers as the sequential limiter would: the oracle for the
//! exact ones, the limiter's own sequential self for the approximate ones, which the property tests
//! compare with the oracle. loom explores all schedules of a few calls; this samples those that the
//! machine makes, of more calls, with compiled code and the real memory model of this processor.
//!
//! Stores of keys are judged key by key: see `keyed.rs`. Eight and sixteen threads: see `many.rs`.
//!
//! `WINDOWPANE_HISTORIES=100000 cargo test -p windowpane-lab-contestants --test linearizable -- --nocapture`
//! makes so many a limiter and a store.

mod history;
mod keyed;
mod many;
mod racy;
mod specification;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use windowpane_core::RateLimiter;
use windowpane_lab_contestants::registry::{ORACLE, algorithms};

use history::{Threads, is_linearizable};
use racy::CheckThenTake;
use specification::{Call, Setup};

/// Histories with calls that overlap, a limiter, unless told otherwise.
const HISTORIES: u64 = 1_000;

/// On a machine with other work, most histories have none: how long to go on for all of them, a
/// limiter,
const PATIENCE: Duration = Duration::from_secs(20);

/// and how long for the few without which nothing is proved.
const LAST: Duration = Duration::from_secs(180);

/// Tests whose threads would take each other's processors: one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// To be held while threads make histories. A test that failed has let go of nothing else.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// More threads than processors would only wait for each other.
const THREADS: usize = 2;

fn histories() -> u64 {
    match std::env::var("WINDOWPANE_HISTORIES") {
        Err(_) => HISTORIES,
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("WINDOWPANE_HISTORIES={text}: expected a whole number")),
    }
}

/// How many must have calls that overlap: threads that never met would prove nothing.
fn least() -> u64 {
    histories().div_ceil(20)
}

/// Whether to make another history, after so many in so long.
fn go_on(made: u64, overlapping: u64, since: Duration) -> bool {
    let patience = if overlapping < least() {
        LAST
    } else {
        PATIENCE
    };
    overlapping < histories() && (made < histories() || since < patience)
}

/// Makes histories on limiters that `build` builds; the first that no order explains, and how many
/// had calls that overlapped.
fn first_unexplained(
    threads: usize,
    judge: &'static str,
    mut build: impl FnMut(&Setup) -> Option<Box<dyn RateLimiter>>,
) -> (Option<String>, u64, u64) {
    let threads = Threads::start(threads);
    let (mut made, mut overlapping) = (0, 0);
    let start = Instant::now();
    for seed in 0.. {
        // One thread's calls never overlap: there is nothing to wait for.
        let enough = match threads.count() {
            1 => made >= histories(),
            _ => !go_on(made, overlapping, start.elapsed()),
        };
        if enough {
            break;
        }
        let setup = Setup::random(seed, judge, threads.count());
        // Quotas that the limiter cannot hold are another seed's.
        let Some(limiter) = build(&setup) else {
            continue;
        };
        let history = threads.make(&setup.calls, move |call: Call| call.on(&*limiter));
        made += 1;
        overlapping += u64::from(history.overlaps());
        if !is_linearizable(&setup, &history) {
            return (
                Some(format!("seed {seed}: {setup:?}\n{history}")),
                made,
                overlapping,
            );
        }
    }
    (None, made, overlapping)
}

#[test]
fn every_limiter_is_linearizable() {
    let _alone = alone();
    for algorithm in algorithms() {
        let judge = match algorithm.info.is_exact() {
            true => ORACLE,
            false => algorithm.info.name,
        };
        let (unexplained, made, overlapping) = first_unexplained(THREADS, judge, |setup| {
            (algorithm.build)(&setup.quotas, setup.options()).ok()
        });
        println!(
            "{}: {made} histories, {overlapping} of them with calls that overlap",
            algorithm.info.name
        );
        if let Some(history) = unexplained {
            panic!("{}: no order explains\n{history}", algorithm.info.name);
        }
        assert!(
            overlapping >= least(),
            "{}: only {overlapping} of {made} histories have calls that overlap: is the machine \
             too busy, or of one processor?",
            algorithm.info.name
        );
    }
}

/// The seeded bug: looks, and takes afterwards. The checker must reject it.
#[test]
fn a_limiter_that_checks_then_takes_is_found_out() {
    let _alone = alone();
    let (unexplained, made, _) = first_unexplained(THREADS, ORACLE, |setup| {
        Some(Box::new(CheckThenTake::new(&setup.quotas)))
    });
    let history = unexplained.unwrap_or_else(|| panic!("not found out in {made} histories"));
    println!("found out at history {made}, {history}");
}

/// And only for its race: called in order, it is right.
#[test]
fn a_limiter_that_checks_then_takes_is_right_in_order() {
    let mut checked = 0;
    let (unexplained, _, _) = first_unexplained(1, ORACLE, |setup| {
        checked += 1;
        Some(Box::new(CheckThenTake::new(&setup.quotas)))
    });
    assert_eq!(unexplained, None, "after {checked} histories");
}
