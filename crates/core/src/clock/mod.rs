//! Clocks: where a limiter's time comes from.
//!
//! | clock | a reading costs | for |
//! |---|---|---|
//! | [`MonotonicClock`] | a system call without a switch | the default |
//! | [`BootClock`] (feature `boottime`) | the same | machines that are suspended |
//! | [`TscClock`] (feature `tsc`) | the time-stamp counter and a multiplication | hot paths |
//! | [`CoarseClock`] | one load | where a millisecond does not matter |
//! | [`ManualClock`] | one load | tests and simulations |
//!
//! None of them follows the wall clock, so none is set back with it. They differ in three situations:
//!
//! | clock | the machine is suspended | a virtual machine is paused | over days |
//! |---|---|---|---|
//! | [`MonotonicClock`] | stands still on Linux and macOS, goes on on Windows | as the hypervisor decides | follows the system's corrections |
//! | [`BootClock`] | goes on | as the hypervisor decides | follows the system's corrections |
//! | [`TscClock`] | may stand still, go on, or start again at 0 | as the hypervisor decides | drifts: it is measured once, at its start |
//! | [`CoarseClock`] | as [`MonotonicClock`] | as the hypervisor decides | follows the system's corrections |
//! | [`ManualClock`] | stands still | stands still | stands still |
//!
//! A clock that stands still makes a limiter stricter: a permit counts for longer than its window by
//! the wall. It never admits more than the quota in a window of its own time. A paused machine is not
//! informed of the pause: some hypervisors stop its counters, others let them go on.
//!
//! The example `drift` of this crate measures how far the time-stamp counter and the system's clock
//! drift apart on your machine.
//!
//! `wasm32-unknown-unknown` has no clock: `Instant::now` panics there. On that target, and without the
//! feature `std`, only the manual clock can be made, and a limiter that needs another one does not
//! compile. Implement [`Clock`] by what the host has, such as `performance.now()`; or move a
//! [`ManualClock`]; or pass the time of each call to the algorithm
//! ([`RateLimiter::decide_at`](crate::RateLimiter::decide_at)).

#[cfg(any(
    not(feature = "std"),
    all(target_family = "wasm", target_os = "unknown")
))]
mod absent;
mod manual;
#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod system;

use alloc::sync::Arc;

#[cfg(any(
    not(feature = "std"),
    all(target_family = "wasm", target_os = "unknown")
))]
pub use absent::MonotonicClock;
pub use manual::ManualClock;
#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use system::*;

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
