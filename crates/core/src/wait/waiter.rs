//! One waiting call, from when it enters the queue until it is served, gives up or is dropped.

use std::task::Waker;
use std::time::Duration;

use super::queue::Queue;
use super::waiters::Ticket;
use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::outcome::{AcquireError, Allowed};
use crate::rate_limiter::RateLimiter;

/// What a waiter does next.
pub(super) enum Step {
    /// It is allowed, and was charged.
    Served(Allowed),
    /// It sleeps until it is woken, or for this time at most, and asks again.
    Sleep(Option<Duration>),
}

/// A call's position in the queue. Dropped, it is free.
pub(super) struct Waiter<'q, L: RateLimiter, C: Clock, T> {
    queue: &'q Queue<L, C, T>,
    ticket: Ticket,
    cost: Cost,
    /// How long it waits, counted from its first reading of the clock.
    within: Option<Duration>,
    /// The last time at which it may still be served, once it has read the clock.
    deadline: Option<Nanos>,
}

impl<'q, L: RateLimiter, C: Clock, T> Waiter<'q, L, C, T> {
    /// Enters the queue, and waits for `within` at most.
    ///
    /// # Errors
    /// [`AcquireError`] for a cost that could never fit: it does not enter.
    pub(super) fn enter(
        queue: &'q Queue<L, C, T>,
        cost: u64,
        within: Option<Duration>,
    ) -> Result<Self, AcquireError> {
        let cost = Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        let quotas = queue.limiter().quotas();
        quotas
            .check_cost(cost)
            .map_err(|error| AcquireError::of_request(error, |index| quotas[index]))?;
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
    /// [`AcquireError`]; nothing was charged then.
    pub(super) fn ask(&mut self) -> Result<Step, AcquireError> {
        let limiter = self.queue.limiter();
        // Before the clock is read and the limiter asked: a wake-up after this point is noticed.
        let position = self.queue.waiters().check(self.ticket);
        let now = limiter.clock().now();
        if let Some(within) = self.within.take() {
            let within = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
            self.deadline = Some(now.saturating_add(within));
        }
        if self.deadline.is_some_and(|deadline| deadline < now) {
            return Err(AcquireError::TimedOut);
        }
        let held = position.held_until.saturating_sub(now);
        let mut sleep = None;
        if position.is_head && held > 0 {
            sleep = Some(held.saturating_add(self.queue.jitter()));
        } else if position.is_head {
            match limiter
                .algorithm()
                .try_acquire_with(limiter.clock(), self.cost)
            {
                // The position is free when this is dropped, at once.
                Ok(allowed) => return Ok(Step::Served(allowed)),
                Err(AcquireError::Denied(denied)) => {
                    let wait = u64::try_from(denied.retry_after().as_nanos()).unwrap_or(Nanos::MAX);
                    sleep = Some(wait.saturating_add(self.queue.jitter()));
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(deadline) = self.deadline {
            if deadline <= now {
                return Err(AcquireError::TimedOut);
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

impl<L: RateLimiter, C: Clock, T> Drop for Waiter<'_, L, C, T> {
    fn drop(&mut self) {
        self.queue.waiters().leave(self.ticket);
    }
}
