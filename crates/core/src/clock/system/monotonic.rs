//! The system's monotonic clock.

use std::time::Instant;

use crate::clock::{Clock, Nanos};

/// The system's monotonic clock ([`Instant`]); its zero is when it was made.
///
/// Copies share that zero.
///
/// While the machine is suspended it stands still on Linux and macOS, and goes on on Windows. With
/// the feature `boottime`, `BootClock` goes on everywhere. A paused virtual machine is not informed of
/// the pause: the clock then stands still or goes on as the hypervisor decides. It follows the
/// system's corrections of the clock rate (NTP), and is never set back.
///
/// On `wasm32-unknown-unknown`, which has no clock, this type has no value and no constructor: a
/// limiter there needs [another clock](crate::clock).
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    zero: Instant,
}

impl MonotonicClock {
    /// A clock that reads 0 now.
    pub fn new() -> MonotonicClock {
        MonotonicClock {
            zero: Instant::now(),
        }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Nanos {
        // u64 nanoseconds last 584 years.
        self.zero.elapsed().as_nanos() as Nanos
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_advances_and_never_steps_back() {
        let clock = MonotonicClock::new();
        let copy = clock;
        let mut last = 0;
        for _ in 0..10_000 {
            let now = copy.now();
            assert!(now >= last);
            last = now;
        }
        assert!(last > 0);
    }

    #[test]
    fn it_reads_the_nanoseconds_since_it_was_made() {
        let before = Instant::now();
        let clock = MonotonicClock::new();
        let after = Instant::now();
        while after.elapsed() < Duration::from_millis(20) {
            let least = after.elapsed();
            let now = Duration::from_nanos(clock.now());
            assert!((least..=before.elapsed()).contains(&now), "{now:?}");
        }
    }
}
