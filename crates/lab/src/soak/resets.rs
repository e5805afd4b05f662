//! Resets of one key by many threads while the clock stands.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use windowpane_core::{Clock, Cost};
use windowpane_lab_contestants::soaked::{Promise, RoundClock, Subject};

use super::{Round, Tally, watched};

/// The time after which a call counts as one that never ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// Threads: more than most machines have cores, so that some are always suspended.
const THREADS: u64 = 8;

/// Calls of a thread.
const CALLS: u64 = 40_000;

/// Resets a key and asks for it from many threads, and checks what it has afterwards.
///
/// # Errors
/// What was promised and did not come. A call that never ends ends the process.
pub(super) fn run(
    round: &Round,
    name: &str,
    subject: &dyn Subject,
    clock: &RoundClock,
    promise: &Promise,
    tally: &mut Tally,
) -> Result<(), String> {
    watched(name, round.seed, PATIENCE, || {
        let counts = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|thread| scope.spawn(move || ask(round, thread, subject, clock)))
                .collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.collect::<Result<Vec<_>, _>>()
        });
        let counts = counts.map_err(|_| "a thread panicked".to_string())?;
        for (allowed, resets) in counts {
            tally.decisions += CALLS - resets;
            tally.allowed += allowed;
            tally.resets += resets;
        }
        has_its_quota(round, subject, clock, promise)
    })
}

/// Asks for key 0 and resets it; returns how many requests were allowed, and the resets.
fn ask(round: &Round, thread: u64, subject: &dyn Subject, clock: &RoundClock) -> (u64, u64) {
    let mut random = SmallRng::seed_from_u64(round.seed ^ thread.rotate_left(40));
    let (mut allowed, mut resets) = (0, 0);
    for _ in 0..CALLS {
        if random.random_ratio(1, 3) {
            subject.reset(0);
            resets += 1;
            continue;
        }
        // A coarse clock: it stands for thousands of calls.
        let step = match random.random_ratio(1, 5_000) {
            true => random.random_range(1..=round.quotas.longest_window()),
            false => 0,
        };
        let now = clock.step(step);
        let cost = Cost::new(random.random_range(1..=3)).expect("at least 1");
        allowed += u64::from(subject.decide_at(0, now, cost).is_some());
    }
    (allowed, resets)
}

/// After a reset the key has its quota, once; and again after an idle time.
fn has_its_quota(
    round: &Round,
    subject: &dyn Subject,
    clock: &RoundClock,
    promise: &Promise,
) -> Result<(), String> {
    let quotas = &round.quotas;
    let least = quotas.iter().map(|quota| quota.limit()).min().unwrap_or(0);
    let all = Cost::new(least).expect("limits are above 0");
    subject.reset(0);
    // Later than all readings before: a store that forgot a key decides no earlier.
    let now = clock.now() + 2 * quotas.longest_window();
    if subject.decide_at(0, now, all).is_none() {
        return Err(format!(
            "after a reset a cost of {least} under {quotas} is denied"
        ));
    }
    if subject.decide_at(0, now, Cost::ONE).is_some() {
        return Err(format!(
            "after a reset more than {least} permits under {quotas} are allowed"
        ));
    }
    subject.has_all_at(now + promise.idle_after * quotas.longest_window())
}
