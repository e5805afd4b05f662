//! Decisions a second on one hot key, by threads and state.

use std::time::{Duration, Instant};

use windowpane_lab_contestants::{Cannot, Contestant, Instance, Origin};
use windowpane_lab_ground::clock::{BenchClock, LabClock, Pace, SimulatedClock};
use windowpane_lab_ground::workers::{self, Throughput};

use super::state::State;
use super::traffic::Traffic;

/// Decisions between two looks at the worker's clock, in one virtual call.
pub const BATCH: u32 = 512;

/// What is measured, apart from who.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What the decisions are.
    pub state: State,
    /// Worker threads, all on one key.
    pub threads: usize,
}

/// How long each measurement takes.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Before the barrier.
    pub warm_up: Duration,
    /// Behind it.
    pub measure: Duration,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Decisions a second, from the workers' clocks.
    pub throughput: Throughput,
    /// The share of decisions that were allowed.
    pub allowed: f64,
    /// The pace that the shared clock ran at.
    pub pace: Pace,
    /// Workers that could not be pinned.
    pub unpinned: u64,
    /// Whether the share of allowed is what the state's name says. The floor decides nothing, so
    /// for it this always holds.
    pub share_ok: bool,
}

/// Builds a contestant in the state that is to be measured.
///
/// # Errors
/// [`Cannot`] if it cannot express the quota.
pub fn prepare(
    contestant: &dyn Contestant,
    state: State,
    pace: Pace,
) -> Result<Box<dyn Instance>, Cannot> {
    let instance = contestant.build(state.quota(), LabClock::Bench(BenchClock::new(pace)))?;
    if state.is_used_up() {
        instance.batch(state.quota().limit() as u32);
    }
    Ok(instance)
}

/// Runs one measurement, at most [`TRIES`] times until the share of allowed is what the state says.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the quota.
pub fn measure(contestant: &dyn Contestant, cell: Cell, times: Times) -> Result<Measured, Cannot> {
    let mut pace = pace(contestant, cell, times.warm_up)?;
    let mut tries = 1;
    loop {
        let measured = once(contestant, cell, times, pace)?;
        if measured.share_ok || tries == TRIES {
            return Ok(measured);
        }
        tries += 1;
        if cell.state.pace().is_none() {
            pace = half_fits(cell.state, measured.throughput.per_second());
        }
    }
}

/// How often a measurement is tried until its share of allowed is what its state says.
pub const TRIES: u32 = 3;

fn once(
    contestant: &dyn Contestant,
    cell: Cell,
    times: Times,
    pace: Pace,
) -> Result<Measured, Cannot> {
    let instance = prepare(contestant, cell.state, pace)?;
    let outcome = run(&*instance, cell.threads, times);
    let throughput = outcome.throughput();
    let allowed: u64 = outcome.workers.iter().map(|(_, allowed)| allowed).sum();
    let allowed = allowed as f64 / throughput.operations() as f64;
    Ok(Measured {
        throughput,
        allowed,
        pace,
        unpinned: outcome.unpinned,
        share_ok: contestant.info().origin == Origin::Floor || cell.state.is_share(allowed),
    })
}

/// Warms and runs; each worker tells how many of its decisions were allowed.
fn run(instance: &dyn Instance, threads: usize, times: Times) -> workers::Outcome<u64> {
    workers::run(
        threads,
        |_| {
            let until = Instant::now() + times.warm_up;
            while Instant::now() < until {
                instance.batch(BATCH);
            }
        },
        |worker, ()| {
            let until = worker.until(times.measure);
            let (mut decisions, mut allowed) = (0, 0);
            loop {
                allowed += u64::from(instance.batch(BATCH));
                decisions += u64::from(BATCH);
                if Instant::now() >= until {
                    return (decisions, allowed);
                }
            }
        },
    )
}

/// Runs exactly `iterations` decisions in each of `threads` workers, for criterion.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the quota.
pub fn iterations(
    contestant: &dyn Contestant,
    cell: Cell,
    pace: Pace,
    iterations: u64,
) -> Result<Throughput, Cannot> {
    let instance = prepare(contestant, cell.state, pace)?;
    let outcome = workers::run(
        cell.threads,
        |_| {
            let until = Instant::now() + Duration::from_millis(2);
            while Instant::now() < until {
                instance.batch(BATCH);
            }
        },
        |_, ()| {
            let mut left = iterations;
            while left > 0 {
                let batch = left.min(u64::from(BATCH));
                instance.batch(batch as u32);
                left -= batch;
            }
            (iterations, ())
        },
    );
    Ok(outcome.throughput())
}

/// A measurement on a traffic.
#[derive(Clone, Copy, Debug)]
pub struct OnTraffic {
    /// Decisions a second, from the worker's clock.
    pub throughput: Throughput,
    /// The share of decisions that were allowed.
    pub allowed: f64,
}

/// Runs a traffic through a contestant again and again: one thread, a limiter a client, one client
/// after the other, all costs 1. The clock is moved by hand and not read, so the figure is lower
/// than in any state. Each pass is later than all windows of the one before.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the quota.
pub fn on_traffic(
    contestant: &dyn Contestant,
    traffic: &Traffic,
    times: Times,
) -> Result<OnTraffic, Cannot> {
    SimulatedClock::set(0);
    let clients = traffic.by_client();
    let limiters: Vec<Box<dyn Instance>> = clients
        .iter()
        .map(|_| contestant.build(traffic.quota, LabClock::Simulated))
        .collect::<Result<_, _>>()?;
    let last = clients.iter().filter_map(|times| times.last()).max();
    let window = traffic.quota.window();
    // Whole windows, so that each pass meets the same boundaries.
    let apart = (last.unwrap_or(&0) / window + 3) * window;
    let pass = |nth: u64| -> u64 {
        let clients = clients.iter().zip(&limiters);
        clients
            .map(|(times, limiter)| limiter.replay(times, nth * apart))
            .sum()
    };
    let outcome = workers::run(
        1,
        |_| {
            let until = Instant::now() + times.warm_up;
            let mut passes = 0;
            while passes == 0 || Instant::now() < until {
                pass(passes);
                passes += 1;
            }
            passes
        },
        |worker, warm| {
            let until = worker.until(times.measure);
            let (mut passes, mut allowed) = (0, 0);
            while passes == 0 || Instant::now() < until {
                allowed += pass(warm + passes);
                passes += 1;
            }
            (passes * traffic.requests.len() as u64, allowed)
        },
    );
    let throughput = outcome.throughput();
    let allowed: u64 = outcome.workers.iter().map(|(_, allowed)| allowed).sum();
    Ok(OnTraffic {
        throughput,
        allowed: allowed as f64 / throughput.operations() as f64,
    })
}

/// The pace of the shared clock for a cell: the state's, or for *mixed* the one at which twice the
/// quota is offered, found by trying.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the quota.
pub fn pace(contestant: &dyn Contestant, cell: Cell, each: Duration) -> Result<Pace, Cannot> {
    if let Some(pace) = cell.state.pace() {
        return Ok(pace);
    }
    let times = Times {
        warm_up: each / 4,
        measure: each,
    };
    let mut pace = Pace::REAL;
    for _ in 0..3 {
        let instance = prepare(contestant, cell.state, pace)?;
        let throughput = run(&*instance, cell.threads, times).throughput();
        pace = half_fits(cell.state, throughput.per_second());
    }
    Ok(pace)
}

/// The pace at which half of `offered` decisions a second fit the quota of `state`: on a clock of a
/// pace, limit × pace / window permits a second fit.
fn half_fits(state: State, offered: f64) -> Pace {
    let quota = state.quota();
    let fits_in_real_time = quota.limit() as f64 / (quota.window() as f64 * 1e-9);
    Pace::nearest(offered / 2.0 / fits_in_real_time)
}
