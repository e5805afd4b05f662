//! The one place that chooses between real atomics and those of an explorer: loom's or shuttle's.
//!
//! The algorithms take every atomic, lock and spin from here, so that what loom explores (under
//! `--cfg windowpane_loom`) and shuttle schedules (under `--cfg windowpane_shuttle`) is the source that ships. Nothing else
//! that ships mentions either.
//!
//! [`Atomic<T>`] is the `atomic` crate's in the real arm; that crate knows no explorer, so the other
//! arms have a twin of it. [`AtomicU128`] is `portable-atomic`'s, and in the other arms an emulation
//! over the explorer's 64-bit atomic that keeps its memory orders.
//!
//! [`plain`] has what loom does not explore and shuttle schedules; [`Gates`] stand before locks that
//! shuttle does not know.

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
pub use real::{
    Atomic, AtomicU128, Gates, Mutex, MutexGuard, ShardedLock, back_off, fence, plain,
    ships_or_models,
};

pub use crossbeam_utils::CachePadded;
pub use std::sync::atomic::Ordering;

/// How long to [`back_off`] after a lost race for a structure of one word: some decisions of the
/// winner. Set by trying, with two threads on two cores.
pub const SPINS_ONE_WORD: u32 = 24;

/// How long to [`back_off`] after a lost race for a structure of several cache lines: they all have
/// to come back, so the winner is left alone for longer. The longer, the slower the slowest
/// decisions are: those who lose wait for it.
pub const SPINS_SEVERAL_LINES: u32 = 40;
