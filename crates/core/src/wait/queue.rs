//! A limiter and the queue of callers before it.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use super::Timer;
use super::jitter::Jitter;
use super::waiter::{Step, Waiter};
use super::waiters::Waiters;
use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::limiter::Limiter;
use crate::outcome::{AcquireError, Allowed};
use crate::rate_limiter::RateLimiter;
use crate::settle::{Charge, Settle};
use crate::sync::plain::{self, Thread};

/// A limiter and a queue of callers that wait their turn. See the [module](super).
///
/// A call that waits takes the queue's lock when it enters and leaves, and once or twice each time
/// it asks the limiter; [`try_acquire`](Self::try_acquire) takes it once. Each is O(log n) for n
/// waiters.
pub struct Queue<L, C = MonotonicClock, T = NoTimer> {
    limiter: Limiter<L, C>,
    waiters: Waiters,
    jitter: Option<Jitter>,
    timer: T,
}

/// The timer of a queue in which only threads wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTimer;

impl<L, C> Queue<L, C> {
    /// An empty queue before `limiter`.
    pub fn new(limiter: Limiter<L, C>) -> Queue<L, C> {
        Queue {
            limiter,
            waiters: Waiters::default(),
            jitter: None,
            timer: NoTimer,
        }
    }
}

impl<L, C, T> Queue<L, C, T> {
    /// Sets the timer by which tasks wait. The limiter's clock and the timer must agree on how fast
    /// time moves.
    pub fn with_timer<U: Timer>(self, timer: U) -> Queue<L, C, U> {
        Queue {
            limiter: self.limiter,
            waiters: self.waiters,
            jitter: self.jitter,
            timer,
        }
    }

    /// Adds random jitter to each sleep of the head, so that the queues of several processes do not
    /// all come back at once. Within one queue it is not needed.
    pub fn with_jitter(mut self, jitter: Jitter) -> Queue<L, C, T> {
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

impl<L: RateLimiter, C: Clock, T> Queue<L, C, T> {
    /// Takes one permit now, without waiting. It does not overtake callers that wait.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    pub fn try_acquire(&self) -> Result<Allowed, AcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes `cost` permits now, without waiting. It does not overtake callers that wait when the
    /// call is made.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was charged then.
    pub fn try_acquire_many(&self, cost: u64) -> Result<Allowed, AcquireError> {
        // A caller that enters after this line came later: it may be served later.
        let (waiting, held_until) = self.waiters.len_and_hold();
        let held = held_until.saturating_sub(self.limiter.clock().now());
        if held > 0 {
            return Err(AcquireError::OnHold(Duration::from_nanos(held)));
        }
        if waiting > 0 {
            return Err(AcquireError::Queued { waiting });
        }
        self.limiter.try_acquire_many(cost)
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

    /// Waits until one permit is taken, and blocks the thread meanwhile. The clock must move with
    /// real time.
    ///
    /// # Errors
    /// [`AcquireError`] if no wait helps; nothing was charged then.
    pub fn until_ready_blocking(&self) -> Result<Allowed, AcquireError> {
        self.until_ready_many_blocking(1)
    }

    /// Waits until `cost` permits are taken, and blocks the thread meanwhile.
    ///
    /// # Errors
    /// [`AcquireError`] if no wait helps; nothing was charged then.
    pub fn until_ready_many_blocking(&self, cost: u64) -> Result<Allowed, AcquireError> {
        self.block(Waiter::enter(self, cost, None)?)
    }

    /// [`until_ready_many_blocking`](Self::until_ready_many_blocking), but not for longer than
    /// `within`.
    ///
    /// # Errors
    /// [`AcquireError::TimedOut`], or another if no wait helps; nothing was charged then.
    pub fn until_ready_within_blocking(
        &self,
        cost: u64,
        within: Duration,
    ) -> Result<Allowed, AcquireError> {
        self.block(Waiter::enter(self, cost, Some(within))?)
    }

    fn block(&self, mut waiter: Waiter<'_, L, C, T>) -> Result<Allowed, AcquireError> {
        let waker = Waker::from(Arc::new(Unpark(plain::current())));
        loop {
            match waiter.ask()? {
                Step::Served(allowed) => return Ok(allowed),
                Step::Sleep(_) if waiter.is_woken(&waker) => {}
                // Unparked without a cause, it asks once more than needed.
                Step::Sleep(None) => plain::park(),
                Step::Sleep(Some(span)) => plain::park_timeout(span),
            }
        }
    }
}

impl<L: RateLimiter, C: Clock, T: Timer> Queue<L, C, T> {
    /// Waits until one permit is taken. The call enters the queue when it is first polled; dropped
    /// before it completes, it has taken nothing.
    ///
    /// # Errors
    /// [`AcquireError`] if no wait helps; nothing was charged then.
    pub async fn until_ready(&self) -> Result<Allowed, AcquireError> {
        self.until_ready_many(1).await
    }

    /// Waits until `cost` permits are taken, as [`until_ready`](Self::until_ready).
    ///
    /// # Errors
    /// [`AcquireError`] if no wait helps; nothing was charged then.
    pub async fn until_ready_many(&self, cost: u64) -> Result<Allowed, AcquireError> {
        self.sleep(Waiter::enter(self, cost, None)?).await
    }

    /// [`until_ready_many`](Self::until_ready_many), but not for longer than `within` from its first
    /// poll.
    ///
    /// # Errors
    /// [`AcquireError::TimedOut`], or another if no wait helps; nothing was charged then.
    pub async fn until_ready_within(
        &self,
        cost: u64,
        within: Duration,
    ) -> Result<Allowed, AcquireError> {
        self.sleep(Waiter::enter(self, cost, Some(within))?).await
    }

    async fn sleep(&self, mut waiter: Waiter<'_, L, C, T>) -> Result<Allowed, AcquireError> {
        loop {
            let span = match waiter.ask()? {
                Step::Served(allowed) => return Ok(allowed),
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
                    let mut sleep = pin!(self.timer.sleep(span));
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

impl<L: Settle, C: Clock, T> Queue<L, C, T> {
    /// Replaces what an allowed request was charged by `actual` permits; see [`Settle::settle_at`].
    /// The head of the queue can use what is given back at once.
    pub fn settle(&self, allowed: Allowed, actual: u64) {
        let estimate = allowed.cost();
        if let Some(charge) = Charge::of(allowed) {
            let algorithm = self.limiter.algorithm();
            algorithm.settle_at(charge.at(), charge.estimate(), actual);
        }
        if actual < estimate {
            self.look_again();
        }
    }
}

impl<L: RateLimiter, C, T> fmt::Debug for Queue<L, C, T> {
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
