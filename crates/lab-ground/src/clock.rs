//! The clocks of the laboratory: one that all contestants share where speed is measured, and one
//! moved by hand where decisions are.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use windowpane_core::clock::TscClock;
use windowpane_core::{Clock, Nanos};

/// Which clock a contestant is built on.
#[derive(Clone, Debug)]
pub enum LabClock {
    /// The shared clock of the speed measurements.
    Bench(BenchClock),
    /// The shared clock, at whose reading a thread can be stopped.
    Stalling(StallingClock),
    /// The thread's own, moved by hand.
    Simulated,
}

impl LabClock {
    /// What it reads now.
    pub fn now(&self) -> Nanos {
        match self {
            LabClock::Bench(clock) => clock.now(),
            LabClock::Stalling(clock) => clock.now(),
            LabClock::Simulated => SimulatedClock.now(),
        }
    }
}

/// How many nanoseconds a [`BenchClock`] counts for one that passes, in steps of 2^-16.
///
/// A limiter that must always allow is offered far more a second than fits any sensible quota of
/// 1,000; so the clock of everybody alike runs faster, and a window of 20 µs lasts 5 µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace(u64);

impl Pace {
    const FRACTION_BITS: u32 = 16;
    /// Real time.
    pub const REAL: Pace = Pace(1 << Self::FRACTION_BITS);

    /// `times` as fast as real time.
    pub const fn times(times: u64) -> Pace {
        Pace(times << Self::FRACTION_BITS)
    }

    /// The nearest pace to a ratio, at least the slowest there is.
    pub fn nearest(ratio: f64) -> Pace {
        let scaled = ratio * Self::REAL.0 as f64;
        // At most 2^10 times real time: readings then last for half a year.
        Pace((scaled.round() as u64).clamp(1, 1 << (Self::FRACTION_BITS + 10)))
    }

    /// Nanoseconds counted for one that passes.
    pub fn ratio(self) -> f64 {
        self.0 as f64 / Self::REAL.0 as f64
    }
}

/// The clock that all contestants share: the time-stamp counter, at a pace. Zero is when it was
/// made; make one anew for each measurement.
#[derive(Clone, Debug)]
pub struct BenchClock {
    tsc: TscClock,
    pace: u64,
}

impl BenchClock {
    /// A clock that reads 0 now.
    pub fn new(pace: Pace) -> BenchClock {
        BenchClock {
            tsc: TscClock::new(),
            pace: pace.0,
        }
    }
}

/// The reading at a pace. The product needs more than 64 bits after some minutes.
#[inline]
fn paced(passed: Nanos, pace: u64) -> Nanos {
    ((u128::from(passed) * u128::from(pace)) >> Pace::FRACTION_BITS) as Nanos
}

impl Clock for BenchClock {
    #[inline]
    fn now(&self) -> Nanos {
        // The same multiplication at every pace, so that no state is cheaper than another.
        paced(self.tsc.now(), self.pace)
    }
}

/// A clock at whose reading a thread is stopped when it asked for that: it has read, and sleeps
/// before it goes on.
#[derive(Clone, Debug)]
pub struct StallingClock {
    clock: BenchClock,
    stopped: Arc<AtomicBool>,
}

thread_local! {
    static STOP_FOR: Cell<Option<Duration>> = const { Cell::new(None) };
}

impl StallingClock {
    /// A clock that reads 0 now.
    pub fn new(pace: Pace) -> StallingClock {
        StallingClock {
            clock: BenchClock::new(pace),
            stopped: Arc::default(),
        }
    }

    /// Stops this thread for so long at the next reading within `work`; whether there was one.
    pub fn stop_this_thread_once(&self, stop_for: Duration, work: impl FnOnce()) -> bool {
        STOP_FOR.set(Some(stop_for));
        work();
        STOP_FOR.take().is_none()
    }

    /// Whether a thread is stopped now.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Clock for StallingClock {
    #[inline]
    fn now(&self) -> Nanos {
        let now = self.clock.now();
        if let Some(stop_for) = STOP_FOR.take() {
            self.stopped.store(true, Ordering::Relaxed);
            std::thread::sleep(stop_for);
            self.stopped.store(false, Ordering::Relaxed);
        }
        now
    }
}

thread_local! {
    static SIMULATED: Cell<Nanos> = const { Cell::new(0) };
}

/// A clock of the thread, moved by hand. It takes no memory, so what a limiter on it takes is the
/// limiter's.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimulatedClock;

impl SimulatedClock {
    /// Sets what this thread's limiters read.
    #[inline]
    pub fn set(now: Nanos) {
        SIMULATED.set(now);
    }
}

impl Clock for SimulatedClock {
    #[inline]
    fn now(&self) -> Nanos {
        SIMULATED.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_fastest_pace_counts_on_after_minutes() {
        let fastest = Pace::nearest(f64::INFINITY);
        assert_eq!(fastest, Pace::times(1 << 10));
        let hours = 3_600 * 1_000_000_000;
        assert_eq!(paced(hours, fastest.0), hours << 10);
    }

    #[test]
    fn a_clock_at_eight_times_the_pace_counts_eight_times_as_much() {
        let clock = BenchClock::new(Pace::times(8));
        // Bracketed, so that being preempted in between cannot make it fail.
        let outer = Instant::now();
        let first = clock.now();
        let inner = Instant::now();
        std::thread::sleep(Duration::from_millis(50));
        let least = inner.elapsed().as_nanos() as u64;
        let counted = clock.now() - first;
        let most = outer.elapsed().as_nanos() as u64;
        let (low, high) = (8 * least / 100 * 98, 8 * most / 100 * 102);
        assert!(
            (low..=high).contains(&counted),
            "{counted} counted, {least} to {most} passed"
        );
    }

    #[test]
    fn a_pace_survives_its_ratio_and_stays_in_bounds() {
        assert_eq!(Pace::nearest(Pace::times(8).ratio()), Pace::times(8));
        assert_eq!(Pace::nearest(0.0), Pace(1));
        assert_eq!(Pace::nearest(1e12), Pace::times(1024));
    }
}
