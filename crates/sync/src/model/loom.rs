//! What is loom's own.

pub(super) use loom::sync::atomic::AtomicU64;
pub use loom::sync::atomic::fence;
pub use loom::sync::{Mutex, MutexGuard, RwLock as ShardedLock};
pub(super) use loom::thread::ThreadId as Thread;

pub(super) use super::loads::Loads;
pub use crate::unseen::{Gates, plain};

/// Who is running.
pub(super) fn me() -> Thread {
    loom::thread::current().id()
}
