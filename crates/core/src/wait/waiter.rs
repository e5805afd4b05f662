//! One waiting call, from when it enters the queue until it is served, gives up or is dropped.

use std::task::Waker;
use std::time::Duration;

use super::WaitError;
use super::queue::Queue;
use super::waiters::Ticket;
use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::decision::Decision;
use crate::limiter::RateLimiter;

/// What a waiter does next.
pub(super) enum Step {
    /// It is allowed, and was charged at this time.
    Served(Nanos),
    /// It sleeps until it is woken, or for this time at most, and asks again.
    Sleep(Option<Duration>),
}

/// A call's position in the queue. Dropped, it is free.
pub(super) struct Waiter<'q, L: RateLimiter, C: Clock> {
    queue: &'q Queue<L, C>,
    ticket: Ticket,
    cost: Cost,
    /// How long it waits, counted from its first reading of the clock.
    within: Option<Duration>,
    /// The last time at which it may still be served, once it has read the clock.
    deadline: Option<Nanos>,
}

impl<'q, L: RateLimiter, C: Clock> Waiter<'q, L, C> {
    /// Enters the queue, and waits for `within` at most.
    ///
    /// # Errors
    /// [`WaitError::Request`] for a cost that could never fit: it does not enter.
    pub(super) fn enter(
        queue: &'q Queue<L, C>,
        cost: Cost,
        within: Option<Duration>,
    ) -> Result<Self, WaitError> {
        queue.limiter().quotas().check_cost(cost)?;
        Ok(Waiter {
            queue,
            ticket: queue.waiters().enter(),
            cost,
            within,
            deadline: None,
        })
    }

    /// Asks the limiter if it is this waiter's turn, and returns what to do next.
    ///
    /// The clock and the limiter are called without the queue's lock, so they may use the queue.
    /// Only the head asks, and it stays the head until it leaves.
    ///
    /// # Errors
    /// [`WaitError`]; nothing was charged then.
    pub(super) fn ask(&mut self) -> Result<Step, WaitError> {
        let limiter = self.queue.limiter();
        // Before the clock is read and the limiter asked: a wake-up after this point is noticed.
        let position = self.queue.waiters().check(self.ticket);
        let now = limiter.clock().now();
        if let Some(within) = self.within.take() {
            let within = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
            self.deadline = Some(now.saturating_add(within));
        }
        if self.deadline.is_some_and(|deadline| deadline < now) {
            return Err(WaitError::TimedOut);
        }
        let held = position.held_until.saturating_sub(now);
        let mut sleep = None;
        if position.is_head && held > 0 {
            sleep = Some(held.saturating_add(self.queue.jitter()));
        } else if position.is_head {
            match limiter.acquire(self.cost)? {
                // The position is free when this is dropped, at once.
                Decision::Allowed { at } => return Ok(Step::Served(at)),
                Decision::Denied(denied) => {
                    let wait = denied.retry_after_nanos().ok_or(WaitError::NoWaitHelps {
                        quota: denied.quota(),
                    })?;
                    sleep = Some(wait.saturating_add(self.queue.jitter()));
                }
            }
        }
        if let Some(deadline) = self.deadline {
            if deadline <= now {
                return Err(WaitError::TimedOut);
            }
            sleep = Some(sleep.unwrap_or(Nanos::MAX).min(deadline - now));
        }
        Ok(Step::Sleep(sleep.map(Duration::from_nanos)))
    }

    /// Returns whether to ask again at once. If not, `waker` is woken when it is time to.
    pub(super) fn is_woken(&self, waker: &Waker) -> bool {
        self.queue.waiters().is_woken(self.ticket, waker)
    }
}

impl<L: RateLimiter, C: Clock> Drop for Waiter<'_, L, C> {
    fn drop(&mut self) {
        self.queue.waiters().leave(self.ticket);
    }
}
