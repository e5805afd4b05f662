//! A time bound for tests that wait: with a bug they fail instead of hanging. Tests of other crates
//! include this file.

#![allow(dead_code, unreachable_pub)]

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The longest that one test may take. The tests take seconds; a busy machine needs a margin.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Runs `test` on another thread and returns what it returns.
///
/// # Panics
/// If `test` panics, or takes longer than [`LIMIT`]. Its thread is then left behind, and ends with
/// the process.
pub fn bounded<R: Send + 'static>(test: impl FnOnce() -> R + Send + 'static) -> R {
    within(LIMIT, test)
}

/// [`bounded`] with another limit.
///
/// # Panics
/// As [`bounded`].
pub fn within<R: Send + 'static>(limit: Duration, test: impl FnOnce() -> R + Send + 'static) -> R {
    // libtest names a test's thread after the test; a panic is reported under the same name.
    let name = thread::current().name().unwrap_or("the test").to_owned();
    let (running, ended) = mpsc::channel::<()>();
    let worker = thread::Builder::new()
        .name(name.clone())
        .spawn(move || {
            // Dropped when the test ends, also by a panic.
            let _running = running;
            test()
        })
        .expect("the system starts a thread");
    if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
        panic!("{name} did not end within {limit:?}: it waits for something that never comes");
    }
    worker.join().unwrap_or_else(|panic| resume_unwind(panic))
}
