//! What loom does not explore: in its arm, and in the one that ships, it is the standard library's.

/// Locks in front of locks that shuttle does not know, so that it can schedule the threads that wait.
/// This arm has none, and they cost nothing.
#[derive(Debug)]
pub struct Gates;

impl Gates {
    /// One gate for each lock behind.
    pub fn new(_count: usize) -> Gates {
        Gates
    }

    /// Passes a gate with other threads that lock shared. Drop what this returns last.
    #[inline(always)]
    pub fn shared(&self, _nth: usize) -> impl Sized + '_ {}

    /// Passes a gate alone. Drop what this returns last.
    #[inline(always)]
    pub fn alone(&self, _nth: usize) -> impl Sized + '_ {}
}

/// The standard library's atomics, locks and parking, for what loom does not explore and shuttle
/// schedules: counts, the store of keys, the queue of waiters.
#[cfg(feature = "std")]
pub mod plain {
    pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
    pub use std::sync::{Mutex, MutexGuard, RwLock};
    pub use std::thread::{Thread, current, park, park_timeout};
}
