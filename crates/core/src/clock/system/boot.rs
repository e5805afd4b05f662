//! The system's clock that goes on while the machine is suspended.

use crate::clock::{Clock, Nanos};

/// A monotonic clock that includes the time in which the machine was suspended; its zero is when it
/// was made.
///
/// Copies share that zero.
///
/// | system | it reads |
/// |---|---|
/// | Linux, Android | `CLOCK_BOOTTIME` |
/// | macOS, iOS and other systems of Apple | `CLOCK_MONOTONIC`, which goes on in sleep there |
/// | others | [`Instant`](std::time::Instant), which goes on in sleep on Windows; on other systems it may stand still |
///
/// A permit that was taken before a suspension is free again after it, if its window is over by the
/// wall. With a [`MonotonicClock`](super::MonotonicClock) the suspension does not count.
///
/// A pause of a virtual machine is not a suspension: the guest is not informed. This clock goes on or
/// stands still as the hypervisor lets the guest's counter. It follows the system's corrections of
/// the clock rate (NTP), as [`MonotonicClock`](super::MonotonicClock) does, and is never set back.
///
/// ```
/// use windowpane_core::clock::{BootClock, Clock};
///
/// let clock = BootClock::new();
/// let first = clock.now();
/// assert!(clock.now() >= first);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BootClock {
    zero: source::Zero,
}

impl BootClock {
    /// A clock that reads 0 now.
    pub fn new() -> BootClock {
        BootClock {
            zero: source::zero(),
        }
    }
}

impl Default for BootClock {
    fn default() -> BootClock {
        BootClock::new()
    }
}

impl Clock for BootClock {
    #[inline]
    fn now(&self) -> Nanos {
        source::since(self.zero)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod source {
    use rustix::time::{ClockId, clock_gettime};

    use crate::clock::Nanos;

    pub(super) type Zero = Nanos;

    #[cfg(not(target_vendor = "apple"))]
    pub(super) const ID: ClockId = ClockId::Boottime;
    #[cfg(target_vendor = "apple")]
    pub(super) const ID: ClockId = ClockId::Monotonic;

    pub(super) fn zero() -> Zero {
        let time = clock_gettime(ID);
        // Both are positive since the start of the machine; u64 nanoseconds last 584 years.
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    pub(super) fn since(start: Zero) -> Nanos {
        zero().saturating_sub(start)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod source {
    use std::time::Instant;

    use crate::clock::Nanos;

    pub(super) type Zero = Instant;

    pub(super) fn zero() -> Zero {
        Instant::now()
    }

    pub(super) fn since(start: Zero) -> Nanos {
        start.elapsed().as_nanos() as Nanos
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn it_advances_with_the_monotonic_clock() {
        let before = Instant::now();
        let clock = BootClock::new();
        let after = Instant::now();
        let mut last = 0;
        while after.elapsed() < Duration::from_millis(20) {
            // A microsecond to spare: the two clocks are read one after the other.
            let least = after.elapsed().saturating_sub(Duration::from_micros(1));
            let now = clock.now();
            let most = before.elapsed() + Duration::from_micros(1);
            assert!((least..=most).contains(&Duration::from_nanos(now)), "{now}");
            assert!(now >= last);
            last = now;
        }
    }

    /// No test can suspend the machine, so this one says which clock is read.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn it_reads_the_clock_that_includes_suspension() {
        use rustix::time::{ClockId, clock_gettime};
        assert_eq!(source::ID, ClockId::Boottime);
        let whole = |id| clock_gettime(id).tv_sec as u64;
        let (least, read, most) = (
            whole(ClockId::Boottime),
            source::zero() / 1_000_000_000,
            whole(ClockId::Boottime),
        );
        assert!((least..=most).contains(&read), "{read}");
    }
}
