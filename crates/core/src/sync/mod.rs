//! The one place that chooses between real atomics and loom's.
//!
//! The algorithms take every atomic, lock and spin from here, so that what loom explores (under
//! `--cfg loom`) is the source that ships. Nothing else in the workspace mentions `cfg(loom)`.
//!
//! [`Atomic<T>`] is the `atomic` crate's in the real arm; that crate knows nothing of loom, so the
//! other arm has a twin of it. [`AtomicU128`] is `portable-atomic`'s, and in the other arm an
//! emulation over loom's 64-bit atomic that keeps its memory orders.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod real;

#[cfg(loom)]
pub use model::{
    Atomic, AtomicU128, Mutex, MutexGuard, ShardedLock, back_off, fence, ships_or_models, steps,
};
#[cfg(not(loom))]
pub use real::{
    Atomic, AtomicU128, Mutex, MutexGuard, ShardedLock, back_off, fence, ships_or_models,
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
