//! A clock moved by hand.

use core::sync::atomic::Ordering;
use core::time::Duration;

use portable_atomic::AtomicU64;

use super::{Clock, Nanos};

/// A clock that stands still until it is moved, for tests and simulations.
///
/// Share it by reference or in an `Arc`.
///
/// ```
/// use std::time::Duration;
/// use windowpane_core::clock::{Clock, ManualClock};
///
/// let clock = ManualClock::new(0);
/// clock.advance(Duration::from_millis(5));
/// assert_eq!(clock.now(), 5_000_000);
/// ```
// These are real atomics also in a model: time is its input, and loom does not explore it.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
}

impl ManualClock {
    /// A clock that reads `now` nanoseconds.
    pub const fn new(now: Nanos) -> ManualClock {
        ManualClock {
            now: AtomicU64::new(now),
        }
    }

    /// Sets the reading, also backwards: that is what some tests are about.
    pub fn set(&self, now: Nanos) {
        self.now.store(now, Ordering::SeqCst);
    }

    /// Moves the clock forward; beyond `u64` nanoseconds it stays at the last.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        let _ = self
            .now
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| {
                Some(now.saturating_add(by))
            });
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> Nanos {
        self.now.load(Ordering::SeqCst)
    }
}
