//! Threads suspended at random instructions while another makes whole laps of the limiter's tags.
//!
//! A *claimer* asks and resets without a pause. A *visitor* on the same core wakes every few
//! microseconds, which suspends the claimer wherever it is, also between its claim and the write of its
//! record. The visitor resets and claims as often as brings the tag of a slot back, or near it, and sleeps
//! again; the clock stands. A late write that is taken for one of its time shows then: as a call that never
//! ends, or as a quota that is not what it was.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use windowpane_core::{Cost, Nanos, Quota, Quotas, RateLimiter, Unit};
use windowpane_lab_contestants::registry::{Algorithm, BuildOptions};

use super::{Tally, watched};

/// How long one limiter is used in a round.
const TIME: Duration = Duration::from_millis(60);

/// The time after which a call counts as one that never ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// Laps of a slot after which its tag is the same.
const LAP_TAGS: u64 = 256;

const WINDOW: Nanos = 1_000_000;

/// The quotas of a round: so few permits that a lap is one or two claims.
pub(super) fn quotas(seed: u64) -> Quotas {
    let limit = 1 + seed % 2;
    Quota::from_nanos(limit, WINDOW, Unit::Permits)
        .expect("a sensible quota")
        .into()
}

/// Uses one limiter for a while, and checks that it has its quota afterwards.
///
/// # Errors
/// What was promised and did not come. A call that never ends ends the process.
pub(super) fn run(algorithm: &Algorithm, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let quotas = quotas(seed);
    let Ok(limiter) = (algorithm.build)(&quotas, BuildOptions::default()) else {
        return Ok(());
    };
    let limit = quotas.largest_limit();
    let core = core(seed);
    watched(algorithm.info.name, seed, PATIENCE, || {
        let is_over = AtomicBool::new(false);
        let counts = std::thread::scope(|scope| {
            let claimer = scope.spawn(|| {
                pin(core);
                claim(&*limiter, seed, &is_over)
            });
            let visitor = scope.spawn(|| {
                pin(core);
                visit(&*limiter, seed, limit, &is_over)
            });
            [claimer.join(), visitor.join()]
        });
        for count in counts {
            let count = count.map_err(|_| "a thread panicked".to_string())?;
            tally.decisions += count.decisions;
            tally.allowed += count.allowed;
            tally.resets += count.resets;
        }
        has_its_quota(&*limiter, limit)
    })
}

/// A core, if they can be told apart; another one for each seed.
fn core(seed: u64) -> Option<core_affinity::CoreId> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let index = seed as usize % cores.len().max(1);
    cores.get(index).copied()
}

/// Without a core the two threads still meet, more seldom.
fn pin(core: Option<core_affinity::CoreId>) {
    let _ = core.map(core_affinity::set_for_current);
}

#[derive(Default)]
struct Count {
    decisions: u64,
    allowed: u64,
    resets: u64,
}

impl Count {
    fn ask(&mut self, limiter: &dyn RateLimiter, now: Nanos) {
        let decision = limiter.decide_at(now, Cost::ONE);
        self.decisions += 1;
        self.allowed += u64::from(decision.is_ok_and(|decision| decision.is_allowed()));
    }

    fn reset(&mut self, limiter: &dyn RateLimiter) {
        limiter.reset();
        self.resets += 1;
    }
}

/// The time of a round, which stands.
fn now(seed: u64) -> Nanos {
    seed % 7 * WINDOW
}

fn claim(limiter: &dyn RateLimiter, seed: u64, is_over: &AtomicBool) -> Count {
    let mut count = Count::default();
    while !is_over.load(Ordering::Relaxed) {
        count.reset(limiter);
        count.ask(limiter, now(seed));
    }
    count
}

fn visit(limiter: &dyn RateLimiter, seed: u64, limit: u64, is_over: &AtomicBool) -> Count {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut count = Count::default();
    let start = Instant::now();
    while start.elapsed() < TIME {
        std::thread::sleep(Duration::from_micros(random.random_range(1..40)));
        // The claimer's own claim is one of the lap.
        let lap = LAP_TAGS * limit - 1;
        let claims = match random.random_range(0..4) {
            0 => random.random_range(1..=2 * lap),
            1 => lap + 1,
            _ => lap,
        };
        for nth in 0..claims {
            if nth.is_multiple_of(limit) {
                count.reset(limiter);
            }
            count.ask(limiter, now(seed));
        }
    }
    is_over.store(true, Ordering::Relaxed);
    count
}

/// After a reset it has its quota, once.
fn has_its_quota(limiter: &dyn RateLimiter, limit: u64) -> Result<(), String> {
    limiter.reset();
    // Later than all readings before.
    let now = 10 * WINDOW;
    let allowed = |_: &u64| {
        let decision = limiter.decide_at(now, Cost::ONE);
        decision.is_ok_and(|decision| decision.is_allowed())
    };
    let asked = limit + 1;
    let allowed = (0..asked).filter(allowed).count() as u64;
    match allowed == limit {
        true => Ok(()),
        false => Err(format!(
            "after a reset {allowed} of {asked} permits are allowed, where {limit} are promised"
        )),
    }
}
