//! One request in the line, from when it enters until it is served, gives up or is dropped.

use std::task::Waker;
use std::time::Duration;

use super::WaitError;
use super::line::{Ticket, wake};
use super::queue::Queue;
use crate::clock::{Clock, Nanos};
use crate::cost::Cost;
use crate::decision::Decision;
use crate::limiter::RateLimiter;

/// What a waiter is to do.
pub(super) enum Step {
    /// It is allowed, and was charged at this time.
    Served(Nanos),
    /// Sleep until woken, or for so long at most, and ask again.
    Sleep(Option<Duration>),
}

/// A request's place in the line. Dropped, it is free.
pub(super) struct Place<'q, L: RateLimiter, C: Clock> {
    queue: &'q Queue<L, C>,
    ticket: Ticket,
    cost: Cost,
    /// How long it waits, from its first look on.
    within: Option<Duration>,
    /// The last time at which it may still be served, once it has looked.
    deadline: Option<Nanos>,
}

impl<'q, L: RateLimiter, C: Clock> Place<'q, L, C> {
    /// Enters the line, for as long as `within` says.
    ///
    /// # Errors
    /// [`WaitError::Request`] for a cost that could never fit: it does not even enter.
    pub(super) fn enter(
        queue: &'q Queue<L, C>,
        cost: Cost,
        within: Option<Duration>,
    ) -> Result<Self, WaitError> {
        queue.limiter().quotas().check_cost(cost)?;
        Ok(Place {
            queue,
            ticket: queue.line().lock().enter(),
            cost,
            within,
            deadline: None,
        })
    }

    /// Asks the limiter if it is this one's turn, and says what to do next.
    ///
    /// # Errors
    /// [`WaitError`]; nothing was charged then.
    pub(super) fn ask(&mut self) -> Result<Step, WaitError> {
        let mut line = self.queue.line().lock();
        line.looks(self.ticket);
        let now = self.queue.limiter().clock().now();
        if let Some(within) = self.within.take() {
            let within = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
            self.deadline = Some(now.saturating_add(within));
        }
        if self.deadline.is_some_and(|deadline| deadline < now) {
            return Err(WaitError::TimedOut);
        }
        let mut sleep = None;
        if let (true, Some(held)) = (line.is_head(self.ticket), line.held_for(now)) {
            sleep = Some(held.saturating_add(self.queue.jitter()));
        } else if line.is_head(self.ticket) {
            match self.queue.limiter().acquire(self.cost)? {
                // The place is given up when it is dropped, at once.
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

    /// Whether to ask again at once; if not, `waker` is woken when it is time to.
    pub(super) fn is_woken(&self, waker: &Waker) -> bool {
        self.queue.line().lock().is_woken(self.ticket, waker)
    }
}

impl<L: RateLimiter, C: Clock> Drop for Place<'_, L, C> {
    fn drop(&mut self) {
        // Its own statement, so that the line is let go of before the next one is woken.
        let next = self.queue.line().lock().leave(self.ticket);
        wake(next);
    }
}
