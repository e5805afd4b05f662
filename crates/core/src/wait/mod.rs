//! Callers that wait their turn, first in, first out.
//!
//! A limiter answers at once: allowed, or denied with a wait. A caller whose work must be done sooner
//! or later wants to wait instead: for example, a client of an API with quotas. Many such callers
//! must not all come back at the same moment and race for one free permit. A [`Queue`] serves them
//! in the order in which they came.
//!
//! - Only the head of the queue asks the limiter, and sleeps for the `retry_after` it receives. The
//!   others sleep until the queue moves. No caller polls.
//! - Nothing is recorded in the future: a request is charged when it is its turn. One that gives up,
//!   or is dropped, has consumed nothing and frees its position at once.
//! - [`Queue::try_acquire`] does not overtake the waiters. A request made to the limiter past the
//!   queue does.
//! - [`Queue::hold`] makes all of them wait, for a server that said `Retry-After`.
//! - A head of a large cost delays smaller ones behind it. Otherwise it might never be served.
//! - No lock of the queue is held while the limiter, its clock, a waker or a task's destructor runs.
//!   All of them may use the queue, except that a clock or a limiter must not wait in it: the caller
//!   behind which it would stand waits for its answer.
//!
//! Threads wait by [`until_ready_blocking`](Queue::until_ready_blocking), tasks of any runtime by
//! [`until_ready`](Queue::until_ready) with a [`Timer`]. Both wait in the same queue. The feature
//! `tokio` has that runtime's timer and a clock that follows tokio's time, also while it is paused;
//! neither exists on `wasm32-unknown-unknown`, where tokio's clock panics.
//!
//! ```
//! use windowpane_core::wait::Queue;
//! use windowpane_core::{AcquireError, RateLimiter};
//!
//! fn send<L: RateLimiter>(queue: &Queue<L>) -> Result<(), AcquireError> {
//!     queue.until_ready_blocking()?;
//!     // It is our turn: send.
//!     Ok(())
//! }
//! ```

mod jitter;
mod queue;
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod tokio;
mod waiter;
mod waiters;

use std::future::Future;
use std::time::Duration;

use crate::limiter::Limiter;

pub use self::jitter::Jitter;
pub use self::queue::{NoTimer, Queue};
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use self::tokio::{TokioClock, TokioTimer};

/// A runtime's way to make a task sleep.
pub trait Timer {
    /// Completes after `span`. It may be late by little; an early one only costs another check.
    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send;
}

impl<L, C> Limiter<L, C> {
    /// Puts a queue before the limiter, in which callers wait their turn.
    pub fn queued(self) -> Queue<L, C> {
        Queue::new(self)
    }
}
