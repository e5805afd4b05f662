//! What loom 0.7.3 forgets: which threads have loaded an atomic before one exchanges it.

use std::sync::Mutex as StdMutex;

use loom::sync::atomic::AtomicU64;
use loom::thread::ThreadId;

use crate::Ordering;

/// The threads that have loaded one atomic.
///
/// loom compares an operation with the last access to its atomic and no earlier one. A thread that
/// loads and then exchanges finds its own load there, and what another thread loaded before is
/// never tried after the exchange (loom's issues 166 and 392): a model of a compare-and-swap loop
/// ends after a few schedules and looks exhaustive. So each thread that loads has a mark of its
/// own, which it touches right after the load and which others touch right after an exchange. A
/// touch is a relaxed exchange, so it orders nothing in memory, and loom may not switch threads
/// between it and what it goes with: it adds conflicts, not steps.
pub(super) struct Loads {
    threads: StdMutex<Vec<ThreadId>>,
    marks: [AtomicU64; loom::MAX_THREADS],
}

impl Loads {
    pub(super) fn new() -> Loads {
        Loads {
            threads: StdMutex::default(),
            marks: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// The calling thread has loaded.
    pub(super) fn after_load(&self) {
        let me = loom::thread::current().id();
        let mut threads = self.threads.lock().unwrap();
        let known = threads.iter().position(|thread| *thread == me);
        let mark = known.unwrap_or_else(|| {
            threads.push(me);
            threads.len() - 1
        });
        drop(threads);
        self.touch(mark);
    }

    /// The calling thread has written, or has tried to.
    pub(super) fn after_exchange(&self) {
        let me = loom::thread::current().id();
        let threads = self.threads.lock().unwrap().clone();
        for (mark, thread) in threads.iter().enumerate() {
            if *thread != me {
                self.touch(mark);
            }
        }
    }

    fn touch(&self, mark: usize) {
        loom::stop_exploring();
        self.marks[mark].fetch_add(0, Ordering::Relaxed);
        loom::explore();
    }
}
