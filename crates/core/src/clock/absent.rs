//! The default clock's name on a target without a clock.

use super::{Clock, Nanos};

/// A type without values: this target has no system clock, and `Instant::now` panics on it.
///
/// Only its name exists, as the default of `Limiter<L, C = MonotonicClock>` and others. Give the
/// limiter a [clock of your own](Clock) by `Limiter::with_clock`, a
/// [`ManualClock`](super::ManualClock), or the time of each call (`decide_at`).
#[derive(Clone, Copy, Debug)]
pub enum MonotonicClock {}

impl Clock for MonotonicClock {
    fn now(&self) -> Nanos {
        match *self {}
    }
}
