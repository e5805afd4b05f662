//! One thread is stopped in the middle of a decision, again and again: what the others see.
//!
//! It is stopped while it reads the clock: a limiter that reads the clock inside its lock sleeps
//! with the lock held, one without a lock between its reading and its claim. Who reads the clock
//! before it locks is not caught in its lock by this, though the machine can stop it there, too.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windowpane_core::Clock;
use windowpane_core::clock::TscClock;
use windowpane_lab_contestants::{Cannot, Contestant, Origin};
use windowpane_lab_ground::clock::{LabClock, Pace, StallingClock};
use windowpane_lab_ground::latency::{ClosedLoop, Latency, Percentiles, ServiceTime};
use windowpane_lab_ground::workers;

use super::environment::cores;
use super::plan::Mode;
use super::rows::StalledRow;
use super::state::State;

/// How long the thread is stopped.
pub const STALL: Duration = Duration::from_millis(10);

/// Between two stalls the thread does nothing, so that what is between is like any other time.
const PAUSE: Duration = Duration::from_millis(5);

/// What the others saw.
struct Seen {
    times: ServiceTime,
    /// Decisions that were begun while the thread was stopped.
    meanwhile: u64,
    stalls: u64,
}

/// How long one contestant is measured in one state.
pub fn length(mode: Mode) -> Duration {
    Duration::from_millis(match mode {
        Mode::Test => 40,
        Mode::Quick => 90,
        Mode::Default => 150,
        Mode::Full => 450,
    })
}

/// Runs as many threads as there are cores, at least one, beside the one that is stopped.
pub fn row(contestant: &dyn Contestant, state: State, length: Duration) -> StalledRow {
    let info = contestant.info();
    let others = cores().max(1);
    let mut row = StalledRow {
        contestant: info.name.into(),
        origin: info.origin.word().into(),
        state: state.word().into(),
        threads: others,
        stall_ns: STALL.as_nanos() as u64,
        ..StalledRow::default()
    };
    match measure(contestant, state, others, length) {
        Ok(seen) => {
            let told = Percentiles::of(seen.times.times());
            row.stalls = seen.stalls;
            row.decisions = seen.times.decisions();
            row.meanwhile = seen.meanwhile;
            row.p50 = told.p50;
            row.p99 = told.p99;
            row.p99_9 = told.p99_9;
            row.max = told.max;
        }
        Err(cannot) => row.cannot = cannot.0,
    }
    row
}

fn measure(
    contestant: &dyn Contestant,
    state: State,
    others: usize,
    length: Duration,
) -> Result<Seen, Cannot> {
    let pace = state.pace().unwrap_or(Pace::REAL);
    let stalled = StallingClock::new(pace);
    let instance = contestant.build(state.quota(), LabClock::Stalling(stalled.clone()))?;
    if state.is_used_up() {
        instance.batch(state.quota().limit() as u32);
    }
    let clock = TscClock::new();
    let stalls = AtomicU64::new(0);
    let limits = contestant.info().origin != Origin::Floor;
    let outcome = workers::run(
        others + 1,
        |_| {
            instance.batch(1);
        },
        |worker, ()| {
            let until = clock.now() + length.as_nanos() as u64;

            if worker.index == 0 {
                while limits && clock.now() < until {
                    let decide = || {
                        instance.batch(1);
                    };
                    if stalled.stop_this_thread_once(STALL, decide) {
                        stalls.fetch_add(1, Ordering::Relaxed);
                    }
                    std::thread::sleep(PAUSE);
                }
                return (0, (ServiceTime::empty(), 0));
            }
            let counted = std::cell::Cell::new(0_u64);
            let mut run = ClosedLoop::new(clock.clone(), until);
            run.drive(|| {
                counted.set(counted.get() + u64::from(stalled.is_stopped()));
                instance.batch(1) == 1
            });

            let (times, _) = run.finish();
            (times.decisions(), (times, counted.get()))
        },
    );
    let mut seen = Seen {
        times: ServiceTime::empty(),
        meanwhile: 0,
        stalls: stalls.into_inner(),
    };
    for (_, (times, meanwhile)) in &outcome.workers {
        seen.times.merge(times);
        seen.meanwhile += meanwhile;
    }
    Ok(seen)
}
