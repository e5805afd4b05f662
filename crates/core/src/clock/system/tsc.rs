//! The processor's time-stamp counter.

use crate::clock::{Clock, Nanos};

/// The processor's time-stamp counter, calibrated by [`quanta`]; its zero is when it was made.
///
/// Where the counter is not constant or not synchronised, `quanta` falls back to the system's
/// monotonic clock. Between threads the readings can disagree by a little, as any clock's can.
///
/// Making the first one calibrates for some milliseconds; make it once and clone it.
///
/// The clock rate is measured then and never corrected, so this clock and the system's drift apart.
/// The example `drift` of this crate measures by how much on your machine.
///
/// Do not use it on a machine that is suspended: the counter may stand still, go on, or start again
/// at 0, as the processor decides. After a start at 0 the limiter reads all times as its latest
/// recorded one, so permits are not freed until the counter has caught up. A paused virtual machine
/// is not informed of the pause: the counter stands still or goes on as the hypervisor decides.
///
/// It does not exist on `wasm32-unknown-unknown`, which has no such counter.
#[derive(Clone, Debug)]
pub struct TscClock {
    clock: quanta::Clock,
    zero: u64,
}

impl TscClock {
    /// A clock that reads 0 now.
    pub fn new() -> TscClock {
        let clock = quanta::Clock::new();
        let zero = clock.raw();
        TscClock { clock, zero }
    }
}

impl Default for TscClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TscClock {
    #[inline]
    fn now(&self) -> Nanos {
        // A counter that is behind the one that read `zero` gives 0, not a huge number.
        self.clock.delta_as_nanos(self.zero, self.clock.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn it_runs_at_the_speed_of_the_monotonic_clock() {
        let tsc = TscClock::new();
        let start = Instant::now();
        let first = tsc.now();
        std::thread::sleep(Duration::from_millis(100));
        let by_tsc = tsc.now() - first;
        let by_instant = start.elapsed().as_nanos() as u64;
        let off = by_tsc.abs_diff(by_instant);
        assert!(off < by_instant / 20, "{by_tsc} against {by_instant}");
    }
}
