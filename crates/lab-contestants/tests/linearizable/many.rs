//! Histories of many threads, more than most machines have cores: some are suspended inside a call
//! while the others go on, the clock stands, and keys are reset.

use windowpane_lab_contestants::registry::{ORACLE, algorithms};

use crate::alone;
use crate::history::{Threads, is_linearizable};
use crate::racy::CheckThenTake;
use crate::specification::{Call, Setup};

/// Histories of a limiter and a number of threads.
const HISTORIES: u64 = 60;

/// Histories until the seeded bug must be found.
const UNTIL_FOUND: u64 = 2_000;

#[test]
fn histories_of_8_and_16_threads_are_linearizable() {
    let _alone = alone();
    for count in [8, 16] {
        let threads = Threads::start(count);
        let mut overlapping = 0;
        for algorithm in algorithms() {
            let judge = match algorithm.info.is_exact() {
                true => ORACLE,
                false => algorithm.info.name,
            };
            for seed in 0..HISTORIES {
                let setup = Setup::standing(seed, judge, count);
                // Quotas that the limiter cannot hold are another seed's.
                let Ok(limiter) = (algorithm.build)(&setup.quotas, setup.options()) else {
                    continue;
                };
                let history = threads.make(&setup.calls, move |call: Call| call.on(&*limiter));
                overlapping += u64::from(history.overlaps());
                assert!(
                    is_linearizable(&setup, &history),
                    "{} with {count} threads, seed {seed}: no order explains\n{history}",
                    algorithm.info.name
                );
            }
        }
        println!("{count} threads: {overlapping} histories with calls that overlap");
        assert!(overlapping > 0, "no calls of {count} threads overlap");
    }
}

#[test]
fn a_limiter_that_checks_then_takes_is_found_among_8_threads() {
    let _alone = alone();
    let threads = Threads::start(8);
    let found = (0..UNTIL_FOUND).find(|&seed| {
        let setup = Setup::standing(seed, ORACLE, 8);
        let limiter = CheckThenTake::new(&setup.quotas);
        let history = threads.make(&setup.calls, move |call: Call| call.on(&limiter));
        !is_linearizable(&setup, &history)
    });
    assert!(found.is_some(), "not found in {UNTIL_FOUND} histories");
}
