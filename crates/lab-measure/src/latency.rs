//! Latency measurements: workers over one contestant, their histograms merged.

use std::time::Duration;

use windowpane_core::clock::TscClock;
use windowpane_core::{Clock, Nanos};
use windowpane_lab_contestants::{Cannot, Contestant, Instance, Origin};
use windowpane_lab_ground::latency::{
    ClosedLoop, Lateness, OpenLoop, OpenRecord, ResponseTime, ServiceTime,
};
use windowpane_lab_ground::workers::{self, Throughput};

use crate::throughput::{BATCH, Cell, Times, pace, prepare};

/// A closed loop's outcome.
#[derive(Debug)]
pub struct Closed {
    /// From start to end of each decision.
    pub times: ServiceTime,
    /// Decisions a second of the instrumented loop: two clock readings and a record each.
    pub throughput: Throughput,
    /// The share of decisions that were allowed.
    pub allowed: f64,
    /// Whether that share is what the state's name says.
    pub share_ok: bool,
}

/// An open loop's outcome.
#[derive(Debug)]
pub struct Open {
    /// From intended start to end of each decision.
    pub times: ResponseTime,
    /// How late decisions were started.
    pub lateness: Lateness,
    /// Decisions a second that the schedule asked for.
    pub intended: f64,
    /// Decisions a second that were made.
    pub achieved: f64,
    /// The share of decisions that were allowed.
    pub allowed: f64,
    /// Whether that share is what the state's name says.
    pub share_ok: bool,
}

/// Which share of the instrumented loop's capacity an open loop asks for, in percent.
pub const LOADS: [u32; 3] = [10, 50, 80];

/// A contestant in its state, its instrumented loop's capacity known: what open loops run on.
pub struct Loaded {
    instance: Box<dyn Instance>,
    cell: Cell,
    floor: bool,
    capacity: f64,
}

fn nanos(duration: Duration) -> Nanos {
    duration.as_nanos() as Nanos
}

/// Service time: each worker decides again as soon as it has an answer.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the quota.
pub fn closed(contestant: &dyn Contestant, cell: Cell, times: Times) -> Result<Closed, Cannot> {
    let pace = pace(contestant, cell, times.warm_up)?;
    let instance = prepare(contestant, cell.state, pace)?;
    Ok(closed_loop(
        cell,
        times,
        contestant.info().origin == Origin::Floor,
        |run| instance.run_closed(run),
    ))
}

/// The timer's own floor: a closed loop around nothing.
pub fn timer_floor(cell: Cell, times: Times) -> Closed {
    closed_loop(cell, times, true, |run| run.drive(|| true))
}

fn closed_loop(
    cell: Cell,
    times: Times,
    floor: bool,
    run: impl Fn(&mut ClosedLoop) + Sync,
) -> Closed {
    let clock = TscClock::new();
    let loop_for = |duration: Duration| {
        let until = clock.now() + nanos(duration);
        let mut closed = ClosedLoop::new(clock.clone(), until);
        run(&mut closed);
        closed.finish()
    };
    let outcome = workers::run(
        cell.threads,
        |_| drop(loop_for(times.warm_up)),
        |_, ()| {
            let (service, allowed) = loop_for(times.measure);
            (service.decisions(), (service, allowed))
        },
    );
    let throughput = outcome.throughput();
    let mut merged = ServiceTime::empty();
    let mut allowed = 0;
    for (_, (service, of_worker)) in &outcome.workers {
        merged.merge(service);
        allowed += of_worker;
    }
    let allowed = allowed as f64 / throughput.operations() as f64;
    Closed {
        times: merged,
        throughput,
        allowed,
        share_ok: floor || cell.state.is_share(allowed),
    }
}

impl Loaded {
    /// Builds the contestant in its state, warms it and measures the capacity of the instrumented
    /// loop: an open loop in which everything is due at once.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express the quota.
    pub fn new(contestant: &dyn Contestant, cell: Cell, times: Times) -> Result<Loaded, Cannot> {
        let pace = pace(contestant, cell, times.warm_up)?;
        let mut loaded = Loaded {
            instance: prepare(contestant, cell.state, pace)?,
            cell,
            floor: contestant.info().origin == Origin::Floor,
            capacity: 0.0,
        };
        let at_once = loaded.run(times.warm_up, |clock, _| {
            let give_up = clock.now() + nanos(times.measure / 2);
            OpenLoop::new(clock, 0.0, 0.0, u64::MAX, give_up)
        });
        loaded.capacity = at_once.throughput().per_second();
        Ok(loaded)
    }

    /// Decisions a second of the instrumented loop when everything is due at once.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Response time at `load` percent of the capacity.
    pub fn open(&self, load: u32, times: Times) -> Open {
        let intended = self.capacity * f64::from(load) / 100.0;
        let interval = self.cell.threads as f64 * 1e9 / intended;
        let count = ((times.measure.as_nanos() as f64 / interval) as u64).max(1);
        let outcome = self.run(times.warm_up / 4, |clock, worker| {
            // The workers' schedules interleave, and start when all are awake.
            let phase = worker as f64 / self.cell.threads as f64 * interval;
            let first = clock.now() as f64 + 50_000.0 + phase;
            // A schedule that is not met ends, and the achieved rate says so.
            let give_up = clock.now() + nanos(times.measure * 4);
            OpenLoop::new(clock, first, interval, count, give_up)
        });
        let throughput = outcome.throughput();
        let mut open = Open {
            times: ResponseTime::empty(),
            lateness: Lateness::empty(),
            intended,
            achieved: throughput.per_second(),
            allowed: 0.0,
            share_ok: false,
        };
        let mut allowed = 0;
        for (_, record) in &outcome.workers {
            open.times.merge(&record.times);
            open.lateness.merge(&record.lateness);
            allowed += record.allowed;
        }
        open.allowed = allowed as f64 / throughput.operations() as f64;
        open.share_ok = self.floor || self.cell.state.is_share(open.allowed);
        open
    }

    fn run(
        &self,
        warm_up: Duration,
        schedule: impl Fn(TscClock, usize) -> OpenLoop + Sync,
    ) -> workers::Outcome<OpenRecord> {
        let clock = TscClock::new();
        workers::run(
            self.cell.threads,
            |_| {
                let until = clock.now() + nanos(warm_up);
                while clock.now() < until {
                    self.instance.batch(BATCH);
                }
            },
            |worker, ()| {
                let mut open = schedule(clock.clone(), worker.index);
                self.instance.run_open(&mut open);
                let record = open.finish();
                (record.times.decisions(), record)
            },
        )
    }
}
