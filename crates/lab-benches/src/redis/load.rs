//! The load: tasks that ask in a closed loop, and what they saw.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;
use windowpane_lab_ground::latency::histogram;

use super::contestants::Contestant;
use super::processor::{Meter, Spent};

/// What a measurement is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) state: State,
    pub(crate) keys: usize,
    /// Calls under way at once.
    pub(crate) in_flight: usize,
}

/// What most decisions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// At most 100 in a window so short that they are not used up.
    Allowed,
    /// At most 100 an hour, and they are used up.
    Denied,
}

impl State {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            State::Allowed => "allowed",
            State::Denied => "denied",
        }
    }
}

/// What was seen.
pub(crate) struct Measured {
    /// Decisions a second, from the first task's start to the last one's end, by their own clocks.
    pub(crate) per_second: f64,
    /// The share that was allowed.
    pub(crate) allowed: f64,
    /// Processor time a call, the warm-up's included.
    pub(crate) spent: Spent,
    /// Service times: from a call to its answer.
    pub(crate) times: Histogram<u64>,
}

/// One task's share of it.
struct Worker {
    start: Instant,
    end: Instant,
    /// Before it was measured.
    warm_up: u64,
    asked: u64,
    allowed: u64,
    times: Histogram<u64>,
}

/// Keys as they are called in every measurement.
pub(crate) fn keys(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("client-{i}")).collect()
}

/// Lets `in_flight` tasks ask for `warm_up`, and then for `measure`, which is measured.
///
/// # Errors
/// The first that a contestant meets.
pub(crate) async fn run(
    url: &str,
    contestant: &Arc<Contestant>,
    keys: &Arc<Vec<String>>,
    in_flight: usize,
    warm_up: Duration,
    measure: Duration,
) -> Result<Measured> {
    let meter = Meter::start(url)?;
    // All tasks begin to measure together, with the queues full.
    let from = Instant::now() + warm_up;
    let until = from + measure;
    let spawn = |seed: usize| {
        let (contestant, keys) = (contestant.clone(), keys.clone());
        tokio::spawn(work(contestant, keys, seed as u64 + 1, from, until))
    };
    let tasks: Vec<_> = (0..in_flight).map(spawn).collect();
    let mut workers = Vec::new();
    for task in tasks {
        workers.push(task.await??);
    }
    let all = workers.iter().map(|w| w.warm_up + w.asked).sum();
    let spent = meter.stop(all)?;
    let start = workers.iter().map(|w| w.start).min().expect("a task");
    let end = workers.iter().map(|w| w.end).max().expect("a task");
    let asked: u64 = workers.iter().map(|w| w.asked).sum();
    let allowed: u64 = workers.iter().map(|w| w.allowed).sum();
    let mut times = histogram();
    for worker in &workers {
        times.add(&worker.times)?;
    }
    Ok(Measured {
        per_second: asked as f64 / (end - start).as_secs_f64(),
        allowed: allowed as f64 / asked.max(1) as f64,
        spent,
        times,
    })
}

async fn work(
    contestant: Arc<Contestant>,
    keys: Arc<Vec<String>>,
    seed: u64,
    from: Instant,
    until: Instant,
) -> Result<Worker> {
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut worker = Worker {
        start: from,
        end: from,
        warm_up: 0,
        asked: 0,
        allowed: 0,
        times: histogram(),
    };
    let mut begun = Instant::now();
    while begun < until {
        // xorshift: cheap, and every key comes.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let key = &keys[(random % keys.len() as u64) as usize];
        let allowed = contestant.ask(key).await?;
        let ended = Instant::now();
        worker.warm_up += u64::from(begun < from);
        if begun >= from {
            if worker.asked == 0 {
                worker.start = begun;
            }
            worker.asked += 1;
            worker.allowed += u64::from(allowed);
            worker.end = ended;
            let took = (ended - begun).as_nanos() as u64;
            worker.times.saturating_record(took.max(1));
        }
        begun = ended;
    }
    Ok(worker)
}
