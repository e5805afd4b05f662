//! What loom does not explore: in its arm, and in the one that ships, it is the standard library's.

/// Locks in front of locks that shuttle does not know, so that it can say who has to wait. In this arm
/// there are none, and they cost nothing.
#[derive(Debug)]
pub struct Gates;

impl Gates {
    /// As many as there are locks behind.
    pub fn new(_count: usize) -> Gates {
        Gates
    }

    /// Passes a gate with others who lock shared. Let go of what this answers last.
    #[inline(always)]
    pub fn shared(&self, _nth: usize) -> impl Sized + '_ {}

    /// Passes a gate alone. Let go of what this answers last.
    #[inline(always)]
    pub fn alone(&self, _nth: usize) -> impl Sized + '_ {}
}

/// The standard library's atomics, locks and parking, for what loom does not explore and shuttle
/// schedules: counts, the store of keys, the line of those who wait.
pub mod plain {
    pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
    pub use std::sync::{Mutex, MutexGuard, RwLock};
    pub use std::thread::{Thread, current, park, park_timeout};
}
