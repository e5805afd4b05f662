//! Decisions a second on one hot key, by threads and state.

use std::time::{Duration, Instant};

use windowpane_lab_contestants::{Cannot, Contestant, Instance, Origin};
use windowpane_lab_ground::clock::{BenchClock, LabClock, Pace, SimulatedClock};
use windowpane_lab_ground::workers::{self, Throughput};

use super::environment::cores;
use super::state::State;
use super::traffic::Traffic;

/// Decisions between two looks at the worker's clock, in one virtual call.
pub const BATCH: u32 = 512;

/// What is measured, apart from who.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Samples that were discarded because a worker lost its processor.
    pub lost: u32,
}

/// A sample counts if its workers had their processors for at least this share of its time.
pub const LEAST_PROCESSOR: f64 = 0.98;

/// The same where workers are more than cores, and wait for each other by design: of all cores'
/// time.
pub const LEAST_PROCESSOR_SHARED: f64 = 0.95;

/// How often a sample is made again because a worker lost its processor.
pub const MOST_LOST: u32 = 4;

/// Whether a worker lost its processor for so long that the sample says little of what it ran.
pub fn is_lost(throughput: &Throughput, threads: usize) -> bool {
    let least = match threads > cores() {
        true => LEAST_PROCESSOR_SHARED,
        false => LEAST_PROCESSOR,
    };
    throughput
        .processor_share()
        .is_some_and(|share| share < least)
}

/// How many samples may still be made again, in a round and for one figure.
#[derive(Clone, Copy, Debug)]
pub struct Repeats(u32);

impl Repeats {
    /// At most this many in a round, so that a busy machine does not double its time.
    pub const fn at_most(most: u32) -> Repeats {
        Repeats(most)
    }

    /// Runs `once`, again while its workers lose their processor, and returns the last result and
    /// how many were discarded.
    ///
    /// # Errors
    /// That of `once`.
    pub fn run<T>(
        &mut self,
        threads: usize,
        throughput: impl Fn(&T) -> Throughput,
        mut once: impl FnMut() -> Result<T, Cannot>,
    ) -> Result<(T, u32), Cannot> {
        let mut lost = 0;
        loop {
            let measured = once()?;
            if !is_lost(&throughput(&measured), threads) || lost == MOST_LOST || self.0 == 0 {
                return Ok((measured, lost));
            }
            lost += 1;
            self.0 -= 1;
        }
    }
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
/// A sample counts here whether or not its workers kept their processors.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the quota.
pub fn measure(contestant: &dyn Contestant, cell: Cell, times: Times) -> Result<Measured, Cannot> {
    let mut pace = pace(contestant, cell, times.warm_up)?;
    measure_at(contestant, cell, times, &mut pace, &mut Repeats::at_most(0))
}

/// [`measure`] from a pace that is known, which becomes that of the next sample. A sample whose worker
/// lost its processor is made again.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the quota.
pub fn measure_at(
    contestant: &dyn Contestant,
    cell: Cell,
    times: Times,
    pace: &mut Pace,
    repeats: &mut Repeats,
) -> Result<Measured, Cannot> {
    let mut tries = 1;
    let once = || loop {
        let measured = once(contestant, cell, times, *pace)?;
        if measured.share_ok || tries == TRIES {
            return Ok(measured);
        }
        tries += 1;
        if cell.state.pace().is_none() {
            *pace = half_fits(cell.state, measured.throughput.per_second());
        }
    };
    let (measured, lost) = repeats.run(cell.threads, |measured| measured.throughput, once)?;
    if cell.state.pace().is_none() {
        // The next sample is offered twice the quota, too. Half way, since one sample may be off.
        let next = half_fits(cell.state, measured.throughput.per_second());
        *pace = Pace::nearest((pace.ratio() * next.ratio()).sqrt());
    }
    Ok(Measured { lost, ..measured })
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
        lost: 0,
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
    /// Samples that were discarded because the worker lost its processor.
    pub lost: u32,
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
    repeats: &mut Repeats,
) -> Result<OnTraffic, Cannot> {
    let once = || once_on_traffic(contestant, traffic, times);
    let (measured, lost) = repeats.run(1, |measured| measured.throughput, once)?;
    Ok(OnTraffic { lost, ..measured })
}

fn once_on_traffic(
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
        lost: 0,
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
