//! The default clock's name where there is no clock.

use super::{Clock, Nanos};

/// A type without values: there is no system clock without the feature `std`, nor on
/// `wasm32-unknown-unknown`, where `Instant::now` panics.
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
