//! The arm that ships.

pub use atomic::Atomic;
pub use portable_atomic::AtomicU128;
pub use std::sync::{Mutex, MutexGuard};

/// Waits a little after a lost compare-and-swap, so that the winner can make several decisions
/// while the cache line is its own.
///
/// Two threads on one ring make several times as many decisions with it as without. The wait is
/// always the same: a growing one keeps a counter alive through the whole decision, which costs the
/// uncontended way more than it gives the contended one. It never gives the processor away: the
/// structures that use it are lock-free, so nobody has to be waited for.
#[inline]
pub fn back_off() {
    /// Found by trying; each spin is one `pause` on x86.
    const SPINS: u32 = 16;
    for _ in 0..SPINS {
        std::hint::spin_loop();
    }
}
