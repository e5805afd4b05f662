//! Clocks: where a limiter's time comes from.
//!
//! | clock | a reading costs | for |
//! |---|---|---|
//! | [`MonotonicClock`] | a system call without a switch | the default |
//! | [`TscClock`] (feature `tsc`) | the time-stamp counter and a multiplication | hot paths |
//! | [`CoarseClock`] | one load | where a millisecond does not matter |
//! | [`ManualClock`] | one load | tests and simulations |
//!
//! None of them follows the wall clock, so none is set back with it. The manual one stands still until
//! its owner moves it.
//!
//! `wasm32-unknown-unknown` has no clock: `Instant::now` panics there. On that target the first three
//! clocks cannot be made, and a limiter that needs one does not compile. Implement [`Clock`] by what
//! the host has, such as `performance.now()`; or move a [`ManualClock`]; or pass the time of each call
//! to the algorithm ([`RateLimiter::decide_at`](crate::RateLimiter::decide_at)).

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod coarse;
mod manual;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod monotonic;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[path = "absent.rs"]
mod monotonic;
#[cfg(all(
    feature = "tsc",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod tsc;

use std::sync::Arc;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use coarse::CoarseClock;
pub use manual::ManualClock;
pub use monotonic::MonotonicClock;
#[cfg(all(
    feature = "tsc",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use tsc::TscClock;

/// Nanoseconds, of a clock's reading since its zero or of a span.
pub type Nanos = u64;

/// A source of time in nanoseconds.
///
/// Readings of one thread should not step back; a limiter stays correct if they do (it creates no
/// capacity), but answers more strictly.
///
/// A limiter may read its clock while it holds a lock, so that the order of the readings is that of
/// the decisions. A clock must not call a limiter that reads it: the call would wait for itself. One
/// that panics is safe: nothing was changed.
pub trait Clock {
    /// The time now, in nanoseconds since the clock's own zero.
    fn now(&self) -> Nanos;
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }
}
