//! A thread that sweeps now and then.

use std::hash::{BuildHasher, Hash};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use windowpane_core::{Clock, RateLimiter};

use crate::limiter::KeyedLimiter;

/// A thread that evicts a store's idle keys at an interval, until this is dropped.
///
/// Dropping it waits for the thread to end, unless that thread drops it. The thread ends at the next
/// key, in the middle of a sweep too.
#[must_use = "dropped, the sweeper stops"]
#[derive(Debug)]
pub struct Sweeper {
    stop: Arc<AtomicBool>,
    /// Dropped, it wakes the thread.
    waker: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sweeper {
    /// Runs `sweep` at an interval, the first time after one. It is given a flag that tells it to
    /// end early.
    ///
    /// # Errors
    /// If the system starts no further thread.
    pub(crate) fn start(
        interval: Duration,
        sweep: impl Fn(&AtomicBool) + Send + 'static,
    ) -> io::Result<Sweeper> {
        let stop = Arc::new(AtomicBool::new(false));
        let (waker, wakes) = mpsc::channel();
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("windowpane-sweeper".into())
            .spawn(move || {
                while wakes.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                    sweep(&stopped);
                }
            })?;
        Ok(Sweeper {
            stop,
            waker: Some(waker),
            thread: Some(thread),
        })
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.waker = None;
        // A key that a sweep evicts may own this: then its thread ends after this call.
        let others = |thread: &JoinHandle<()>| thread.thread().id() != thread::current().id();
        if let Some(thread) = self.thread.take().filter(others) {
            // A thread that panicked (a key's `Eq` can) has ended too.
            let _ = thread.join();
        }
    }
}

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq + Send + Sync + 'static,
    L: RateLimiter + 'static,
    S: BuildHasher + Clone + Send + Sync + 'static,
    C: Clock + Send + Sync + 'static,
{
    /// Starts a thread that sweeps this store at an interval, until what is answered is dropped.
    ///
    /// # Errors
    /// If the system starts no further thread.
    pub fn sweep_every(self: &Arc<Self>, interval: Duration) -> io::Result<Sweeper> {
        let store = Arc::clone(self);
        Sweeper::start(interval, move |stop| {
            store.sweep_while(&store.clock, || !stop.load(Ordering::Relaxed));
        })
    }
}
