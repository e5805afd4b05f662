//! What is shuttle's own: every operation is one step, at which shuttle may go on with another
//! thread. It takes all memory orders for sequentially consistent; weak ones are loom's part.

use std::fmt;

pub(super) use shuttle::sync::atomic::AtomicU64;
pub use shuttle::sync::atomic::fence;
pub use shuttle::sync::{Mutex, MutexGuard, RwLock as ShardedLock};

/// A thread of one schedule: the main one is 0, the others follow as they were started.
pub(super) type Thread = usize;

/// Who is running.
pub(super) fn me() -> Thread {
    shuttle::current::me().into()
}

/// What the model checker forgets of a word: shuttle, nothing.
pub(super) struct Loads;

impl Loads {
    pub(super) fn new() -> Loads {
        Loads
    }

    pub(super) fn after_load(&self) {}

    pub(super) fn after_exchange(&self) {}
}

/// Locks of shuttle's in front of locks that it does not know, one each: who passes a gate finds the
/// lock behind it free, and waits, if he has to, where shuttle sees it.
pub struct Gates(Box<[ShardedLock<()>]>);

impl Gates {
    /// One gate for each lock behind.
    pub fn new(count: usize) -> Gates {
        Gates((0..count).map(|_| ShardedLock::new(())).collect())
    }

    /// Passes a gate with other threads that lock shared. Drop what this returns last.
    pub fn shared(&self, nth: usize) -> impl Sized + '_ {
        self.0[nth].read()
    }

    /// Passes a gate alone. Drop what this returns last.
    pub fn alone(&self, nth: usize) -> impl Sized + '_ {
        self.0[nth].write()
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gates(..)")
    }
}

/// shuttle's own, where the other arms have the standard library's.
pub mod plain {
    pub use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
    pub use shuttle::sync::{Mutex, MutexGuard, RwLock};
    pub use shuttle::thread::{Thread, current, park};

    /// A sleep that ends when shuttle lets it: it has no time of its own.
    pub fn park_timeout(_span: std::time::Duration) {
        shuttle::thread::yield_now();
    }
}
