//! Callers that wait their turn, first in, first out.
//!
//! [`Limiter::queued`](crate::Limiter::queued) puts a [`Queue`] before a limiter. Threads wait by
//! [`until_ready_blocking`](Queue::until_ready_blocking), tasks by
//! [`until_ready`](Queue::until_ready) with a [`Timer`]. The feature `tokio` has the timer of that
//! runtime. Only the head of the queue asks the limiter, so the waiters need no jitter, and none
//! polls.
//!
//! ```
//! let queue = windowpane::limiter("100/60s")?.queued();
//! queue.until_ready_blocking()?;
//! // It is our turn: send.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use windowpane_cas_ring::CasRing;
use windowpane_core::MonotonicClock;

#[doc(inline)]
pub use windowpane_core::wait::{Jitter, NoTimer, Timer};
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
#[doc(inline)]
pub use windowpane_core::wait::{TokioClock, TokioTimer};

/// A [`Queue`] in which tasks of tokio wait, for the fields of structs. Threads can wait in it too.
///
/// ```
/// use windowpane::wait::{TokioQueue, TokioTimer};
///
/// struct Api {
///     queue: TokioQueue,
/// }
///
/// let queue = windowpane::limiter("100/60s")?.queued().with_timer(TokioTimer);
/// let api = Api { queue };
/// assert_eq!(api.queue.waiting(), 0);
/// # Ok::<(), windowpane::BuildError>(())
/// ```
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub type TokioQueue<L = CasRing, C = MonotonicClock> = Queue<L, C, TokioTimer>;

/// A limiter and a queue of callers that wait their turn.
///
/// Without parameters it is before the default limiter, and only threads wait in it.
pub type Queue<L = CasRing, C = MonotonicClock, T = NoTimer> =
    windowpane_core::wait::Queue<L, C, T>;
