//! Long random use that watches the invariant: what was accepted never exceeds what the limiter
//! promises, whatever threads, clocks, changes and evictions do.
//!
//! A *round* takes one subject (a limiter, or a store of them), random quotas and threads that ask
//! with random costs by a clock that now and then steps back for one of them, while quotas change
//! and, in stores, idle keys make room. Afterwards all that was accepted is laid out by key and
//! recorded time, and each window of each quota is summed.
//!
//! Every fourth round is one of *resets*: more threads than cores, so that the system suspends them
//! anywhere, reset one key and ask for it while the clock stands for most of the time, as a coarse
//! clock does. No call may go on for ever, and afterwards the key must have exactly its quota.
//!
//! In every fourth round, another one, threads are *suspended* inside their calls while another makes
//! whole laps of a ring; see `suspended.rs`.

mod resets;
mod suspended;
mod watch;
mod windows;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use windowpane_core::{Clock, Cost, Nanos, Quota, Quotas, Unit};

use watch::watched;
use windowpane_lab_contestants::registry::algorithms;
use windowpane_lab_contestants::soaked::{LARGEST_LIMIT, Promise, RoundClock, Subject};
use windowpane_lab_contestants::table::TABLE;
use windows::Accepted;

/// Every fourth round is one of resets, and every fourth one of suspended threads.
const SPECIAL_EVERY: u64 = 4;

/// The name of the rounds of suspended threads, of all limiters.
const SUSPENDED: &str = "suspended threads";

/// What came of the rounds of one subject.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Rounds made.
    pub rounds: u64,
    /// Requests decided.
    pub decisions: u64,
    /// Requests allowed.
    pub allowed: u64,
    /// Changes of quotas that took effect.
    pub changes: u64,
    /// Idle keys that made room for others.
    pub evictions: u64,
    /// Resets.
    pub resets: u64,
}

/// A promise that was broken: enough to find it again.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Whose.
    pub subject: &'static str,
    /// The round's seed: threads may need several tries to meet in the same way.
    pub seed: u64,
    /// The quotas the round began with.
    pub quotas: Quotas,
    /// What was promised, and what came out.
    pub what: String,
}

/// What a round is made of.
struct Round {
    quotas: Quotas,
    /// The same windows with other limits: what it is changed to, now and then.
    changed: Vec<Quotas>,
    threads: u64,
    calls: u64,
    keys: u32,
    /// The largest step of the clock between two readings.
    step: Nanos,
    seed: u64,
}

impl Round {
    fn random(seed: u64, promise: &Promise) -> Round {
        let mut random = SmallRng::seed_from_u64(seed);
        let count = match promise.quotas_at_once {
            true => random.random_range(1..=3),
            false => 1,
        };
        let width: Nanos = random.random_range(1..=40_000);
        let windows: Vec<Nanos> = (0..count)
            .map(|_| width * random.random_range(1..=60))
            .collect();
        let mut with_limits = || {
            let quotas = windows.iter().map(|&window| {
                let limit = random.random_range(1..=LARGEST_LIMIT);
                Quota::from_nanos(limit, window, Unit::Permits).expect("a sensible quota")
            });
            Quotas::new(quotas.collect::<Vec<_>>()).expect("at least one")
        };
        let quotas = with_limits();
        let changed = (0..4).map(|_| with_limits()).collect();
        let longest = quotas.longest_window();
        Round {
            quotas,
            changed,
            threads: random.random_range(1..=4),
            calls: random.random_range(100..=4_000),
            keys: random.random_range(1..=60),
            step: random.random_range(1..=longest.div_ceil(4)),
            seed,
        }
    }

    /// The most that any of the quotas in force allowed, by window.
    fn limits(&self) -> impl Iterator<Item = (Nanos, u64)> {
        (0..self.quotas.len()).map(|index| {
            let all = self.changed.iter().chain([&self.quotas]);
            let limit = all.map(|quotas| quotas[index].limit()).max().unwrap_or(0);
            (self.quotas[index].window(), limit)
        })
    }

    /// Has the threads ask; what was accepted, or what was promised and did not come.
    fn run(
        &self,
        subject: &dyn Subject,
        clock: &RoundClock,
        promise: &Promise,
        tally: &mut Tally,
    ) -> Result<Accepted, String> {
        let changes = AtomicU64::new(0);
        let parts: Vec<(Accepted, u64)> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads)
                .map(|thread| {
                    let changes = &changes;
                    scope.spawn(move || self.ask(thread, subject, clock, changes))
                })
                .collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.collect::<Result<_, _>>()
        })
        .map_err(|_| "a thread panicked".to_string())?;
        let mut all = Accepted::default();
        for (accepted, decisions) in parts {
            all.extend(accepted);
            tally.decisions += decisions;
        }
        tally.allowed += all.len() as u64;
        tally.changes += changes.into_inner();
        let idle = promise.idle_after * self.quotas.longest_window();
        subject.has_all_at(clock.now() + idle)?;
        Ok(all)
    }

    fn ask(
        &self,
        thread: u64,
        subject: &dyn Subject,
        clock: &RoundClock,
        changes: &AtomicU64,
    ) -> (Accepted, u64) {
        let mut random = SmallRng::seed_from_u64(self.seed ^ thread.rotate_left(32));
        let mut accepted = Accepted::default();
        for _ in 0..self.calls {
            let step = random.random_range(0..=self.step);
            let mut now = clock.step(step);
            if random.random_ratio(1, 400) {
                let quotas = &self.changed[random.random_range(0..self.changed.len())];
                changes.fetch_add(u64::from(subject.change(quotas)), Ordering::Relaxed);
            }
            if random.random_ratio(1, 20) {
                let back = random.random_range(0..=2 * self.quotas.longest_window());
                now = now.saturating_sub(back);
            }
            let key = random.random_range(0..self.keys);
            let cost = Cost::new(random.random_range(1..=6)).expect("at least 1");
            if let Some(at) = subject.decide_at(key, now, cost) {
                accepted.push(key, at, cost);
            }
        }
        (accepted, self.calls)
    }
}

/// Soaks every subject in turn for as long as `time`; `told` is called after each round with the
/// share of the time that has passed. What each did, in the order of the [`TABLE`].
///
/// # Errors
/// The first promise that was broken.
pub fn soak(
    time: Duration,
    seed: u64,
    told: impl Fn(f64),
) -> Result<Vec<(&'static str, Tally)>, Box<Broken>> {
    let start = Instant::now();
    let mut tallies: Vec<(&'static str, Tally)> = TABLE
        .soaked()
        .map(|soaked| (soaked.name, Tally::default()))
        .collect();
    let mut suspended = Tally::default();
    for turn in 0.. {
        let seed = seed.wrapping_add(turn);
        if turn % SPECIAL_EVERY == 0 {
            for algorithm in algorithms() {
                suspended.rounds += 1;
                suspended::run(algorithm, seed, &mut suspended).map_err(|what| Broken {
                    subject: algorithm.info.name,
                    seed,
                    quotas: suspended::quotas(seed),
                    what,
                })?;
            }
        }
        for (soaked, (name, tally)) in TABLE.soaked().zip(&mut tallies) {
            let promise = &soaked.promise;
            let round = Round::random(seed, promise);
            // Quotas that it cannot hold: another round's.
            let clock = RoundClock::default();
            clock.step(1);
            let Ok(subject) = (soaked.build)(&round.quotas, clock.clone()) else {
                continue;
            };
            let kept = match turn % SPECIAL_EVERY == SPECIAL_EVERY - 1 {
                true => resets::run(&round, name, &*subject, &clock, promise, tally),
                false => round
                    .run(&*subject, &clock, promise, tally)
                    .and_then(|accepted| accepted.check(round.limits(), promise)),
            };
            tally.rounds += 1;
            tally.evictions += subject.evictions();
            if let Err(what) = kept {
                return Err(Box::new(Broken {
                    subject: name,
                    seed,
                    quotas: round.quotas,
                    what,
                }));
            }
        }
        let passed = start.elapsed();
        told((passed.as_secs_f64() / time.as_secs_f64().max(1e-9)).min(1.0));
        if passed >= time {
            break;
        }
    }
    tallies.push((SUSPENDED, suspended));
    Ok(tallies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_soak_breaks_nothing_and_does_everything() {
        let tallies = soak(Duration::from_secs(1), 1, |_| {}).expect("no promise is broken");
        let sum =
            |of: fn(&Tally) -> u64| -> u64 { tallies.iter().map(|(_, tally)| of(tally)).sum() };
        assert!(sum(|tally| tally.changes) > 0, "quotas change");
        assert!(sum(|tally| tally.evictions) > 0, "idle keys make room");
        assert!(sum(|tally| tally.resets) > 0, "keys are reset");
        for (name, tally) in tallies {
            assert!(tally.rounds > 0, "{name}");
            assert!(
                0 < tally.allowed && tally.allowed < tally.decisions,
                "{name}"
            );
        }
    }
}
