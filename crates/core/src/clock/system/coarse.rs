//! A cached time that one thread refreshes.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::{Clock, Nanos};

/// How often the cached time is refreshed.
const REFRESH: Duration = Duration::from_millis(1);

/// A monotonic time that one background thread refreshes every millisecond; a reading is one load.
///
/// It lags by up to a millisecond, or more on a busy machine. It never steps back. Clones share the
/// thread, which ends soon after the last clone is dropped.
///
/// In suspension, on a pause of a virtual machine and in drift it is as the
/// [`MonotonicClock`](super::MonotonicClock) that the thread reads. After either, it shows the time
/// before it until the thread runs again.
///
/// It does not exist on `wasm32-unknown-unknown`, which has neither threads nor a clock.
#[derive(Clone, Debug)]
pub struct CoarseClock {
    // Alone on its cache line, so that other writes do not slow the readings.
    now: Arc<windowpane_sync::CachePadded<AtomicU64>>,
}

impl CoarseClock {
    /// A clock that reads 0 now, and its thread.
    ///
    /// # Errors
    /// If the system cannot start another thread.
    pub fn new() -> io::Result<CoarseClock> {
        let now = Arc::new(windowpane_sync::CachePadded::new(AtomicU64::new(0)));
        let shared = Arc::downgrade(&now);
        let zero = Instant::now();
        thread::Builder::new()
            .name("windowpane-clock".into())
            .spawn(move || refresh(&shared, zero))?;
        Ok(CoarseClock { now })
    }
}

/// Refreshes the shared time until the last clock is dropped.
fn refresh(shared: &Weak<windowpane_sync::CachePadded<AtomicU64>>, zero: Instant) {
    while let Some(now) = shared.upgrade() {
        // `fetch_max` and not a store: never backwards, whatever the system's clock does.
        // Relaxed: the reading orders nothing but itself.
        now.fetch_max(zero.elapsed().as_nanos() as Nanos, Ordering::Relaxed);
        drop(now);
        thread::sleep(REFRESH);
    }
}

impl Clock for CoarseClock {
    #[inline]
    fn now(&self) -> Nanos {
        self.now.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_advances_never_steps_back_and_its_thread_ends() {
        let clock = CoarseClock::new().unwrap();
        let clone = clock.clone();
        let patience = Instant::now();
        let mut last = 0;
        while last < 5_000_000 {
            assert!(patience.elapsed() < Duration::from_secs(10));
            let now = clone.now();
            assert!(now >= last);
            last = now;
        }
        let weak = Arc::downgrade(&clock.now);
        drop((clock, clone));
        let patience = Instant::now();
        while weak.strong_count() > 0 {
            assert!(patience.elapsed() < Duration::from_secs(10));
            thread::yield_now();
        }
    }

    /// A busy machine delays the thread, so the least lag and the least step of some seconds count.
    #[test]
    fn it_lags_and_steps_by_about_a_millisecond() {
        const ENOUGH: Duration = Duration::from_millis(3);
        let start = Instant::now();
        let clock = CoarseClock::new().unwrap();
        let (mut lag, mut step, mut last) = (Duration::MAX, Duration::MAX, clock.now());
        while (lag > ENOUGH || step > ENOUGH) && start.elapsed() < Duration::from_secs(10) {
            let now = clock.now();
            let elapsed = start.elapsed();
            let behind = elapsed.checked_sub(Duration::from_nanos(now));
            let behind = behind.expect("it never leads: it began after `start`");
            // Not right at its start, when also a slow clock has little lag.
            if elapsed > Duration::from_millis(50) {
                lag = lag.min(behind);
            }
            if last > 0 && now > last {
                step = step.min(Duration::from_nanos(now - last));
            }
            last = now;
        }
        assert!(lag <= ENOUGH, "it lags by {lag:?} at least");
        assert!(step <= ENOUGH, "it steps by {step:?} at least");
    }
}
