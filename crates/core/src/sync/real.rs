//! The arm that ships.

pub use atomic::Atomic;
pub use crossbeam_utils::sync::ShardedLock;
pub use portable_atomic::AtomicU128;
pub use std::sync::atomic::fence;
pub use std::sync::{Mutex, MutexGuard};

pub use super::unseen::{Gates, plain};

/// A size: `ships`, but where an explorer schedules `modelled`, which it gets through.
pub const fn ships_or_models(ships: usize, _modelled: usize) -> usize {
    ships
}

/// Waits `spins` spins after a lost compare-and-swap, so that the winner can make several decisions
/// while the cache lines are its own; each spin is one `pause` on x86.
///
/// Threads that try again at once take the lines from each other before either has decided. The wait
/// is always the same: a growing one would keep a counter alive through the whole decision, also
/// where nobody contends. It never gives the processor away: the
/// structures that use it are lock-free, so nobody has to be waited for.
#[inline]
pub fn back_off(spins: u32) {
    for _ in 0..spins {
        std::hint::spin_loop();
    }
}
