//! The waiters of a queue: their order, and how each is woken.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::task::Waker;

use crate::clock::Nanos;
use crate::sync::plain::{Mutex, MutexGuard};

/// A waiter's position in the queue: the smaller, the earlier.
pub(super) type Ticket = u64;

/// What one waiter needs to know of the queue.
pub(super) struct Position {
    /// Whether it is the first in the queue.
    pub(super) is_head: bool,
    /// The time until which the queue is held.
    pub(super) held_until: Nanos,
}

/// The waiters of one queue, shared by threads and tasks.
///
/// The lock is taken in the methods of this type and nowhere else. No foreign code runs while it is
/// held: wakers are cloned before, and woken and dropped after. Each of the three can run a task or
/// its destructor, which may use the same queue.
// A plain lock: wakers and sleeping threads are not what loom explores.
#[derive(Default)]
pub(super) struct Waiters(Mutex<State>);

impl Waiters {
    /// Adds a waiter at the end of the queue.
    pub(super) fn enter(&self) -> Ticket {
        self.lock().enter()
    }

    /// Removes a waiter, and wakes the next one if it was the head.
    pub(super) fn leave(&self, ticket: Ticket) {
        let (next, own) = self.lock().leave(ticket);
        // The next one first: a destructor that panics must not cost it its wake-up.
        wake(next);
        drop(own);
    }

    /// Returns the number of waiters and the time until which the queue is held.
    pub(super) fn len_and_hold(&self) -> (usize, Nanos) {
        let state = self.lock();
        (state.waiting.len(), state.held_until)
    }

    /// Returns the number of waiters.
    pub(super) fn len(&self) -> usize {
        self.len_and_hold().0
    }

    /// Holds the queue until `until`, or longer if it is held for longer already.
    pub(super) fn hold(&self, until: Nanos) {
        let mut state = self.lock();
        state.held_until = state.held_until.max(until);
    }

    /// Returns where a waiter stands. Wake-ups before this call are forgotten: what the waiter reads
    /// after it is newer than they are.
    pub(super) fn check(&self, ticket: Ticket) -> Position {
        self.lock().check(ticket)
    }

    /// Wakes the head, if there is one.
    pub(super) fn wake_head(&self) {
        let head = self.lock().wake_head();
        wake(head);
    }

    /// Returns whether a waiter was woken since its last [`check`](Self::check). If not, `waker` is
    /// woken when it is.
    pub(super) fn is_woken(&self, ticket: Ticket, waker: &Waker) -> bool {
        let mut waker = Some(waker.clone());
        let is_woken = self.lock().is_woken(ticket, &mut waker);
        drop(waker);
        is_woken
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held, so even a poisoned one guards a sound state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes a waker that was taken out of the queue.
fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// What the queue keeps of one waiter.
#[derive(Default)]
struct Entry {
    /// How to wake it, once it sleeps.
    waker: Option<Waker>,
    /// Whether it was woken since its last check.
    is_woken: bool,
}

/// What the lock guards. No method drops, clones or wakes a waker.
#[derive(Default)]
struct State {
    waiting: BTreeMap<Ticket, Entry>,
    next: Ticket,
    held_until: Nanos,
}

impl State {
    fn enter(&mut self) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        self.waiting.insert(ticket, Entry::default());
        ticket
    }

    fn is_head(&self, ticket: Ticket) -> bool {
        self.waiting.keys().next() == Some(&ticket)
    }

    fn check(&mut self, ticket: Ticket) -> Position {
        if let Some(waiter) = self.waiting.get_mut(&ticket) {
            waiter.is_woken = false;
        }
        Position {
            is_head: self.is_head(ticket),
            held_until: self.held_until,
        }
    }

    /// Removes a waiter. Returns the waker of the next one, to be woken, and the waiter's own, to be
    /// dropped.
    fn leave(&mut self, ticket: Ticket) -> (Option<Waker>, Option<Waker>) {
        let was_head = self.is_head(ticket);
        let own = self.waiting.remove(&ticket).and_then(|own| own.waker);
        let next = was_head.then(|| self.wake_head()).flatten();
        (next, own)
    }

    /// Marks the head as woken. Returns its waker, to be woken.
    fn wake_head(&mut self) -> Option<Waker> {
        let (_, head) = self.waiting.iter_mut().next()?;
        head.is_woken = true;
        head.waker.take()
    }

    /// Returns whether a waiter was woken; if not, exchanges its waker for `waker`.
    fn is_woken(&mut self, ticket: Ticket, waker: &mut Option<Waker>) -> bool {
        let Some(waiter) = self.waiting.get_mut(&ticket) else {
            return true;
        };
        if !std::mem::take(&mut waiter.is_woken) {
            // The latest waker counts: another task may poll the call by now.
            std::mem::swap(&mut waiter.waker, waker);
            return false;
        }
        true
    }
}
