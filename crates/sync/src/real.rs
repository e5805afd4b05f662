//! The arm that ships.

pub use core::sync::atomic::fence;
#[cfg(feature = "std")]
pub use std::sync::{Mutex, MutexGuard};

pub use atomic::Atomic;
#[cfg(feature = "std")]
pub use crossbeam_utils::sync::ShardedLock;
pub use portable_atomic::AtomicU128;

pub use super::unseen::Gates;
#[cfg(feature = "std")]
pub use super::unseen::plain;

/// Returns `ships`; under a model checker `modelled`, a size that it can explore.
pub const fn ships_or_models(ships: usize, _modelled: usize) -> usize {
    ships
}

/// Waits `spins` spins after a lost compare-and-swap, so that the winner can make several decisions
/// while the cache lines are its own; each spin is one `pause` on x86.
///
/// Threads that try again at once take the lines from each other before either has decided. The wait
/// is always the same: a growing one would keep a counter alive through the whole decision, also
/// without contention. It never yields the processor: the structures that use it are lock-free, so
/// no thread has to be waited for.
#[inline]
pub fn back_off(spins: u32) {
    for _ in 0..spins {
        core::hint::spin_loop();
    }
}
