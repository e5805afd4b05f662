//! The queue: a limiter and the line before it.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use super::jitter::Jitter;
use super::line::{Line, wake};
use super::place::{Place, Step};
use super::{Timer, WaitError};
use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::cost::Cost;
use crate::decision::{Decision, Denied};
use crate::error::AcquireError;
use crate::limiter::{Limiter, RateLimiter};
use crate::settle::Charge;
use crate::settle::Settle;
use crate::sync::plain::{self, Thread};

/// A limiter and a line of callers who wait their turn. See the [module](super).
///
/// A call takes the line's lock once or twice, also where nobody waits; O(log n) for n who wait.
pub struct Queue<L, C = MonotonicClock> {
    limiter: Limiter<L, C>,
    line: Line,
    jitter: Option<Jitter>,
}

/// What became of a request that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a decision that nobody reads limits nothing"]
pub enum Attempt {
    /// It may proceed and has been charged.
    Allowed {
        /// The time it was recorded under.
        at: Nanos,
    },
    /// The limiter denied it.
    Denied(Denied),
    /// The line is [held](Queue::hold). The limiter was not asked.
    Held {
        /// For how much longer.
        retry_after: Duration,
    },
    /// Others wait already, and it would have to stand behind them. The limiter was not asked.
    Behind {
        /// How many wait.
        waiting: usize,
    },
}

impl<L, C> Queue<L, C> {
    /// A line before `limiter`, in which nobody waits yet.
    pub fn new(limiter: Limiter<L, C>) -> Queue<L, C> {
        Queue {
            limiter,
            line: Line::default(),
            jitter: None,
        }
    }

    /// Makes the head of the line sleep a random while longer than it is told, so that the lines of
    /// several processes do not all come back at once. Within one line it is not needed.
    pub fn with_jitter(mut self, jitter: Jitter) -> Queue<L, C> {
        self.jitter = Some(jitter);
        self
    }

    /// The limiter. What is acquired from it directly overtakes those who wait; after changes to it
    /// that let more through, [`look_again`](Self::look_again).
    pub const fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.line.lock().len()
    }

    /// Makes the head of the line ask the limiter again before its wait is over: for after a reset,
    /// or a raised limit, that the line cannot know of.
    pub fn look_again(&self) {
        let head = self.line.lock().wake_head();
        wake(head);
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// How much longer than it is told the head sleeps this time.
    pub(super) fn jitter(&self) -> Nanos {
        self.jitter.as_ref().map_or(0, Jitter::draw)
    }
}

impl<L: RateLimiter, C: Clock> Queue<L, C> {
    /// Decides a request at once, without waiting; it is not let in before those who wait.
    ///
    /// # Errors
    /// [`AcquireError`]; nothing was changed then.
    pub fn try_acquire(&self, cost: Cost) -> Result<Attempt, AcquireError> {
        // The lock is held meanwhile, so that nobody who enters the line after this is overtaken.
        let line = self.line.lock();
        if let Some(held) = line.held_for(self.limiter.clock().now()) {
            let retry_after = Duration::from_nanos(held);
            return Ok(Attempt::Held { retry_after });
        }
        match line.len() {
            0 => Ok(match self.limiter.acquire(cost)? {
                Decision::Allowed { at } => Attempt::Allowed { at },
                Decision::Denied(denied) => Attempt::Denied(denied),
            }),
            waiting => Ok(Attempt::Behind { waiting }),
        }
    }

    /// Lets nobody in for so long from now, whatever the limiter says: for the `Retry-After` of a
    /// server that has been asked too much all the same. The longest hold counts; a hold consumes
    /// nothing, and the order of those who wait stays.
    pub fn hold(&self, span: Duration) {
        let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let until = self.limiter.clock().now().saturating_add(span);
        self.line.lock().hold(until);
    }

    /// Waits until the request is allowed, however long that takes, and blocks the thread meanwhile;
    /// tells the time it was recorded under.
    ///
    /// Its clock must be one that moves with real time.
    ///
    /// # Errors
    /// [`WaitError::Request`] or [`WaitError::NoWaitHelps`]; nothing was charged then.
    pub fn acquire_blocking(&self, cost: Cost) -> Result<Nanos, WaitError> {
        self.block(Place::enter(self, cost, None)?)
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
        self.block(Place::enter(self, cost, Some(within))?)
    }

    /// Waits until the request is allowed, however long that takes; tells the time it was recorded
    /// under. Its place in the line is that of its first poll.
    ///
    /// The limiter's clock and `timer` must agree on how fast time moves.
    ///
    /// # Errors
    /// [`WaitError::Request`] or [`WaitError::NoWaitHelps`]; nothing was charged then.
    pub async fn acquire<T: Timer>(&self, timer: &T, cost: Cost) -> Result<Nanos, WaitError> {
        self.sleep(timer, Place::enter(self, cost, None)?).await
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
        let place = Place::enter(self, cost, Some(within))?;
        self.sleep(timer, place).await
    }

    fn block(&self, mut place: Place<'_, L, C>) -> Result<Nanos, WaitError> {
        let waker = Waker::from(Arc::new(Unpark(plain::current())));
        loop {
            match place.ask()? {
                Step::Served(at) => return Ok(at),
                Step::Sleep(_) if place.is_woken(&waker) => {}
                // Unparked without a cause, it asks once more than it need.
                Step::Sleep(None) => plain::park(),
                Step::Sleep(Some(span)) => plain::park_timeout(span),
            }
        }
    }

    async fn sleep<T: Timer>(
        &self,
        timer: &T,
        mut place: Place<'_, L, C>,
    ) -> Result<Nanos, WaitError> {
        loop {
            let span = match place.ask()? {
                Step::Served(at) => return Ok(at),
                Step::Sleep(span) => span,
            };
            match span {
                None => {
                    poll_fn(|context| match place.is_woken(context.waker()) {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    })
                    .await;
                }
                Some(span) => {
                    let mut sleep = pin!(timer.sleep(span));
                    poll_fn(|context| match place.is_woken(context.waker()) {
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
    /// [`acquire`](Self::acquire) for a request whose cost is known later: charges `estimate`, to be
    /// [settled](Self::settle).
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

    /// Replaces what was charged by `actual` permits; see [`Settle::settle_at`]. What is given back
    /// is there for the head of the line at once.
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

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
