//! The line itself: who waits, in which order, and how to wake them.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::task::Waker;

use crate::clock::Nanos;
use crate::sync::plain::{Mutex, MutexGuard};

/// A place in the line: the smaller, the earlier.
pub(super) type Ticket = u64;

/// One who waits.
#[derive(Default)]
struct Waiter {
    /// How to wake it, once it sleeps.
    waker: Option<Waker>,
    /// Whether it is to look again before it sleeps.
    is_woken: bool,
}

/// Those who wait, first come first.
#[derive(Default)]
pub(super) struct Waiters {
    waiting: BTreeMap<Ticket, Waiter>,
    next: Ticket,
    /// Nobody is let in before.
    held_until: Nanos,
}

impl Waiters {
    /// The last place.
    pub(super) fn enter(&mut self) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        self.waiting.insert(ticket, Waiter::default());
        ticket
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_head(&self, ticket: Ticket) -> bool {
        self.waiting.keys().next() == Some(&ticket)
    }

    /// Lets nobody in before `until`, nor before what was said earlier.
    pub(super) fn hold(&mut self, until: Nanos) {
        self.held_until = self.held_until.max(until);
    }

    /// How long from `now` on nobody is let in.
    pub(super) fn held_for(&self, now: Nanos) -> Option<Nanos> {
        self.held_until.checked_sub(now).filter(|held| *held > 0)
    }

    /// The waiter looks now: whatever it was woken for before, it sees.
    pub(super) fn looks(&mut self, ticket: Ticket) {
        if let Some(waiter) = self.waiting.get_mut(&ticket) {
            waiter.is_woken = false;
        }
    }

    /// Frees a place, if it is still taken. If it was the head's, the next one is to be woken.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Option<Waker> {
        let was_head = self.is_head(ticket);
        self.waiting.remove(&ticket);
        was_head.then(|| self.wake_head()).flatten()
    }

    /// Makes the head look again; the waker is to be woken once the line is let go of.
    pub(super) fn wake_head(&mut self) -> Option<Waker> {
        let (_, head) = self.waiting.iter_mut().next()?;
        head.is_woken = true;
        head.waker.take()
    }

    /// Whether the waiter was woken since it last looked; if not, `waker` will do it.
    pub(super) fn is_woken(&mut self, ticket: Ticket, waker: &Waker) -> bool {
        let Some(waiter) = self.waiting.get_mut(&ticket) else {
            return true;
        };
        if !std::mem::take(&mut waiter.is_woken) {
            waiter.waker = Some(waker.clone());
            return false;
        }
        true
    }
}

/// The line behind its lock.
// A plain lock: wakers and sleeping threads are not what loom explores.
#[derive(Default)]
pub(super) struct Line(Mutex<Waiters>);

impl Line {
    /// Whatever panics inside, a clock or a limiter, does so before the line is changed.
    pub(super) fn lock(&self) -> MutexGuard<'_, Waiters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes outside the lock: what is woken may run at once and want it.
pub(super) fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
