//! The arm that ships.

pub use atomic::Atomic;
pub use portable_atomic::AtomicU128;
pub use std::sync::{Mutex, MutexGuard};

/// Waiting after a lost compare-and-swap: a growing number of spins, so that the winner can finish
/// several decisions while the cache line is its own.
///
/// Two threads on one ring make several times as many decisions with it as without; the bench
/// `throughput` shows it.
#[derive(Debug, Default)]
pub struct Backoff {
    step: u32,
}

impl Backoff {
    /// The largest wait is `2^LAST` spins.
    const LAST: u32 = 7;

    /// No wait yet.
    #[inline]
    pub const fn new() -> Backoff {
        Backoff { step: 0 }
    }

    /// Waits a little, each time longer, up to a bound. It never gives the processor away: the
    /// structures that use it are lock-free, so nobody has to be waited for.
    #[inline]
    pub fn spin(&mut self) {
        for _ in 0..1_u32 << self.step {
            std::hint::spin_loop();
        }
        self.step = (self.step + 1).min(Self::LAST);
    }
}
