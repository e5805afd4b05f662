#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

#[cfg(any(windowpane_loom, windowpane_shuttle))]
mod model;
#[cfg(not(any(windowpane_loom, windowpane_shuttle)))]
mod real;
#[cfg(not(windowpane_shuttle))]
mod unseen;

#[cfg(any(windowpane_loom, windowpane_shuttle))]
pub use model::{
    Atomic, AtomicU128, Gates, Mutex, MutexGuard, ShardedLock, back_off, fence, plain,
    ships_or_models, steps,
};
#[cfg(not(any(windowpane_loom, windowpane_shuttle)))]
pub use real::{Atomic, AtomicU128, Gates, back_off, fence, ships_or_models};
#[cfg(all(feature = "std", not(any(windowpane_loom, windowpane_shuttle))))]
pub use real::{Mutex, MutexGuard, ShardedLock, plain};

pub use core::sync::atomic::Ordering;

pub use crossbeam_utils::CachePadded;

/// How long to [`back_off`] after a lost race for a structure of one word: some decisions of the
/// winner. Set by trying, with two threads on two cores.
pub const SPINS_ONE_WORD: u32 = 24;

/// How long to [`back_off`] after a lost race for a structure of several cache lines: they all have
/// to come back, so the winner is left alone for longer. The longer, the slower the slowest
/// decisions are: those who lose wait for it.
pub const SPINS_SEVERAL_LINES: u32 = 40;
