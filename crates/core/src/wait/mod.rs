//! Callers that wait their turn, first in, first out.
//!
//! A limiter answers at once: allowed, or denied with a wait. Whoever has work that must be done
//! sooner or later, such as a client of an API with quotas of its own, wants to wait instead. When
//! many do, they must not all come back at the same moment and race for the one permit that came
//! free: a [`Queue`] lets them in in the order in which they came.
//!
//! - Only the head of the line asks the limiter, and waits for the `retry_after` it is told. The
//!   others sleep until the line moves. Nobody polls.
//! - Nothing is recorded in the future: a request is charged when its turn has come. One that gives
//!   up, or is dropped, has consumed nothing and frees its place at once.
//! - [`Queue::try_acquire`] does not overtake those who wait. What goes to the limiter past the queue
//!   does.
//! - [`Queue::hold`] keeps all of them waiting for a while, for a server that said `Retry-After`.
//! - A head of a large cost holds up smaller ones behind it, or it might never get in.
//!
//! Threads wait by [`acquire_blocking`](Queue::acquire_blocking), tasks of any runtime by
//! [`acquire`](Queue::acquire) with a [`Timer`]; both stand in the same line. The feature `tokio` has
//! that runtime's timer, and its clock, which stands still and jumps when tokio's time is paused.
//!
//! ```
//! use windowpane_core::wait::Queue;
//! use windowpane_core::{Cost, Limiter, RateLimiter};
//!
//! fn send<L: RateLimiter>(queue: &Queue<L>) -> Result<(), Box<dyn std::error::Error>> {
//!     queue.acquire_blocking(Cost::ONE)?;
//!     // It is our turn: send.
//!     Ok(())
//! }
//! ```

mod jitter;
mod line;
mod place;
mod queue;
#[cfg(feature = "tokio")]
mod tokio;

use std::future::Future;
use std::time::Duration;

use thiserror::Error;

use crate::error::AcquireError;

pub use self::jitter::Jitter;
pub use self::queue::{Attempt, Queue};
#[cfg(feature = "tokio")]
pub use self::tokio::{TokioClock, TokioTimer};

/// How tasks sleep: what a runtime has to give.
pub trait Timer {
    /// Completes after `span`; a little later is fine, and earlier only costs another look.
    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send;
}

/// Why a wait ended without a turn. Nothing was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The request has no decision, now or later.
    #[error(transparent)]
    Request(#[from] AcquireError),
    /// A limit of 0 denies everything, however long one waits.
    #[error("no wait helps: quota {} has a limit of 0", quota + 1)]
    NoWaitHelps {
        /// The index of the quota.
        quota: usize,
    },
    /// The time given had passed before the turn came.
    #[error("the time to wait was over before the turn came; nothing was charged")]
    TimedOut,
}
