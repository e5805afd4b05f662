//! A limiter and the queue of callers before it.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use super::jitter::Jitter;
use super::waiter::{Step, Waiter};
use super::waiters::Waiters;
use super::{Timer, WaitError};
use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Denied};
use crate::error::AcquireError;
use crate::limiter::{Limiter, RateLimiter};
use crate::settle::Charge;
use crate::settle::Settle;
use crate::sync::plain::{self, Thread};

/// A limiter and a queue of callers that wait their turn. See the [module](super).
///
/// A call that waits takes the queue's lock when it enters and leaves, and once or twice each time
/// it asks the limiter; [`try_acquire`](Self::try_acquire) takes it once. Each is O(log n) for n
/// waiters.
pub struct Queue<L, C = MonotonicClock> {
    limiter: Limiter<L, C>,
    waiters: Waiters,
    jitter: Option<Jitter>,
}

/// The result of a request that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a decision that nobody reads limits nothing"]
pub enum Attempt {
    /// It is allowed and was charged.
    Allowed {
        /// The time it was recorded under.
        at: Nanos,
    },
    /// The limiter denied it.
    Denied(Denied),
    /// The queue is [held](Queue::hold). The limiter was not asked.
    Held {
        /// The wait until the hold ends.
        retry_after: Duration,
    },
    /// Other callers wait already. The limiter was not asked.
    Behind {
        /// The number of waiters.
        waiting: usize,
    },
}

impl<L, C> Queue<L, C> {
    /// An empty queue before `limiter`.
    pub fn new(limiter: Limiter<L, C>) -> Queue<L, C> {
        Queue {
            limiter,
            waiters: Waiters::default(),
            jitter: None,
        }
    }

    /// Adds random jitter to each sleep of the head, so that the queues of several processes do not
    /// all come back at once. Within one queue it is not needed.
    pub fn with_jitter(mut self, jitter: Jitter) -> Queue<L, C> {
        self.jitter = Some(jitter);
        self
    }

    /// The limiter. A request made to it directly overtakes the waiters. After a change that allows
    /// more, call [`look_again`](Self::look_again).
    pub const fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }

    /// The number of waiters.
    pub fn waiting(&self) -> usize {
        self.waiters.len()
    }

    /// Makes the head of the queue ask the limiter again before its wait is over: for after a reset
    /// or a raised limit, which the queue does not notice.
    pub fn look_again(&self) {
        self.waiters.wake_head();
    }

    pub(super) fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    /// The jitter of the head's next sleep.
    pub(super) fn jitter(&self) -> Nanos {
        self.jitter.as_ref().map_or(0, Jitter::draw)
    }
}

impl<L: RateLimiter, C: Clock> Queue<L, C> {
    /// Decides a request at once, without waiting. It does not overtake callers that wait when it is
    /// made.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    pub fn try_acquire(&self, cost: Cost) -> Result<Attempt, AcquireError> {
        // A caller that enters after this line came later: it may be served later.
        let (waiting, held_until) = self.waiters.len_and_hold();
        let held = held_until.saturating_sub(self.limiter.clock().now());
        if held > 0 {
            let retry_after = Duration::from_nanos(held);
            return Ok(Attempt::Held { retry_after });
        }
        if waiting > 0 {
            return Ok(Attempt::Behind { waiting });
        }
        Ok(match self.limiter.acquire(cost)? {
            Decision::Allowed { at } => Attempt::Allowed { at },
            Decision::Denied(denied) => Attempt::Denied(denied),
        })
    }

    /// Allows nothing for `span` from now on, whatever the limiter says: for the `Retry-After` of a
    /// server that denied a request all the same. The longest hold counts. A hold consumes nothing,
    /// and the waiters keep their order. A call that asks the limiter at this moment may still be
    /// allowed.
    pub fn hold(&self, span: Duration) {
        let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let until = self.limiter.clock().now().saturating_add(span);
        self.waiters.hold(until);
    }

    /// Waits until the request is allowed and blocks the thread meanwhile. Returns the time it was
    /// recorded under.
    ///
    /// The clock must move with real time.
    ///
    /// # Errors
    /// [`WaitError::Request`] or [`WaitError::NoWaitHelps`]; nothing was charged then.
    pub fn acquire_blocking(&self, cost: Cost) -> Result<Nanos, WaitError> {
        self.block(Waiter::enter(self, cost, None)?)
    }

    /// [`acquire_blocking`](Self::acquire_blocking), but not for longer than `within`.
    ///
    /// # Errors
    /// [`WaitError`]; nothing was charged then.
    pub fn acquire_blocking_within(
        &self,
        cost: Cost,
        within: Duration,
    ) -> Result<Nanos, WaitError> {
        self.block(Waiter::enter(self, cost, Some(within))?)
    }

    /// Waits until the request is allowed. Returns the time it was recorded under. The call enters
    /// the queue when it is first polled.
    ///
    /// The limiter's clock and `timer` must agree on how fast time moves.
    ///
    /// # Errors
    /// [`WaitError::Request`] or [`WaitError::NoWaitHelps`]; nothing was charged then.
    pub async fn acquire<T: Timer>(&self, timer: &T, cost: Cost) -> Result<Nanos, WaitError> {
        self.sleep(timer, Waiter::enter(self, cost, None)?).await
    }

    /// [`acquire`](Self::acquire), but not for longer than `within` from its first poll.
    ///
    /// # Errors
    /// [`WaitError`]; nothing was charged then.
    pub async fn acquire_within<T: Timer>(
        &self,
        timer: &T,
        cost: Cost,
        within: Duration,
    ) -> Result<Nanos, WaitError> {
        let waiter = Waiter::enter(self, cost, Some(within))?;
        self.sleep(timer, waiter).await
    }

    fn block(&self, mut waiter: Waiter<'_, L, C>) -> Result<Nanos, WaitError> {
        let waker = Waker::from(Arc::new(Unpark(plain::current())));
        loop {
            match waiter.ask()? {
                Step::Served(at) => return Ok(at),
                Step::Sleep(_) if waiter.is_woken(&waker) => {}
                // Unparked without a cause, it asks once more than needed.
                Step::Sleep(None) => plain::park(),
                Step::Sleep(Some(span)) => plain::park_timeout(span),
            }
        }
    }

    async fn sleep<T: Timer>(
        &self,
        timer: &T,
        mut waiter: Waiter<'_, L, C>,
    ) -> Result<Nanos, WaitError> {
        loop {
            let span = match waiter.ask()? {
                Step::Served(at) => return Ok(at),
                Step::Sleep(span) => span,
            };
            match span {
                None => {
                    poll_fn(|context| match waiter.is_woken(context.waker()) {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    })
                    .await;
                }
                Some(span) => {
                    let mut sleep = pin!(timer.sleep(span));
                    poll_fn(|context| match waiter.is_woken(context.waker()) {
                        true => Poll::Ready(()),
                        false => sleep.as_mut().poll(context),
                    })
                    .await;
                }
            }
        }
    }
}

impl<L: Settle, C: Clock> Queue<L, C> {
    /// [`acquire`](Self::acquire) for a request whose cost is known later: charges `estimate`, which
    /// is [settled](Self::settle) later.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub async fn reserve<T: Timer>(&self, timer: &T, estimate: Cost) -> Result<Charge, WaitError> {
        let at = self.acquire(timer, estimate).await?;
        Ok(Charge::at_time(at, estimate))
    }

    /// [`acquire_blocking`](Self::acquire_blocking) for a request whose cost is known later.
    ///
    /// # Errors
    /// As [`acquire_blocking`](Self::acquire_blocking).
    pub fn reserve_blocking(&self, estimate: Cost) -> Result<Charge, WaitError> {
        let at = self.acquire_blocking(estimate)?;
        Ok(Charge::at_time(at, estimate))
    }

    /// Replaces what was charged by `actual` permits; see [`Settle::settle_at`]. The head of the
    /// queue can use what is given back at once.
    pub fn settle(&self, charge: Charge, actual: u64) {
        let algorithm = self.limiter.algorithm();
        algorithm.settle_at(charge.at(), charge.estimate(), actual);
        if actual < charge.estimate().get() {
            self.look_again();
        }
    }
}

impl<L: RateLimiter, C> fmt::Debug for Queue<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("limiter", &self.limiter)
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

/// Wakes a parked thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
