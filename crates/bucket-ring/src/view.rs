//! What a call sees of the ring from one head.

use windowpane_core::Nanos;
use windowpane_core::sync::{Atomic, Ordering};

use crate::head::Head;
use crate::plan::{Plan, Rule};
use crate::record::Record;
use crate::width::{Moment, Span};

/// The ring as a call sees it from one head.
///
/// All that it says of older buckets is meaningless if the head has moved since; the caller finds
/// that out, and until then nothing here panics.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) head: Head,
    /// The time the call counts as: its own, or the latest recorded one where that is later.
    pub(crate) at: Nanos,
    /// Where that time falls.
    moment: Moment,
    /// The bucket of the head's time: the newest one.
    pub(crate) newest: u64,
    plan: &'a Plan,
    slots: &'a [Atomic<u64>],
}

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn new(head: Head, now: Nanos, plan: &'a Plan, slots: &'a [Atomic<u64>]) -> Self {
        let at = now.max(head.time);
        let moment = plan.width.locate(at);
        let newest = if at - head.time <= moment.offset {
            moment.bucket
        } else {
            plan.width.locate(head.time).bucket
        };
        View {
            head,
            at,
            moment,
            newest,
            plan,
            slots,
        }
    }

    /// Whether what the call charges goes into the newest bucket.
    #[inline]
    pub(crate) fn is_in_newest(&self) -> bool {
        self.moment.bucket == self.newest && self.head.counting() > 0
    }

    /// How many of the newest buckets are inside `span`.
    #[inline]
    pub(crate) fn inside(&self, span: Span) -> u64 {
        let oldest = span.oldest(self.plan.width, self.moment);
        let Some(reach) = self.newest.checked_sub(oldest) else {
            return 0;
        };
        // No bucket has two records, so the nth newest is at least n - 1 older than the newest.
        let most = self.head.counting().min(reach + 1);
        if most <= 1 || self.age(most) <= reach {
            // Steady traffic ends here: it fills every bucket, or what the newest one kept when it
            // began still counts.
            return most;
        }
        self.inside_fewer(reach, most)
    }

    /// How many of the newest buckets, the `outside`th being too old, are at most `reach` older
    /// than the newest.
    #[inline(never)]
    fn inside_fewer(&self, reach: u64, mut outside: u64) -> u64 {
        let mut inside = 1;
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            if self.age(middle) <= reach {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }

    /// What the newest `inside` buckets hold.
    #[inline]
    pub(crate) fn used(&self, inside: u64) -> u64 {
        self.head.accepted_since(self.accepted_until(inside + 1))
    }

    /// How long after `now` `spare` is enough for what the newest `inside` buckets, which hold more
    /// at `at`, will have left inside the rule's window.
    #[inline(never)]
    pub(crate) fn wait(&self, now: Nanos, rule: &Rule, inside: u64, spare: u64) -> Nanos {
        let width = self.plan.width.nanos();
        let age = self.age_that_frees(inside, spare);
        // That bucket's last instant is this much before the end of the bucket of `at`, and the wait
        // ends one window after it. Saturating: a head that has moved can make the age nonsense.
        let behind = (self.moment.bucket - self.newest + age).saturating_mul(width);
        let rest = width - 1 - self.moment.offset;
        (rule.span.window(self.plan.width) + rest)
            .saturating_sub(behind)
            .saturating_add(self.at - now)
    }

    /// The age of the oldest of the newest `inside` buckets after which at most `spare` was
    /// accepted: when it has left the window, after all older ones, `spare` is enough for what is
    /// left.
    fn age_that_frees(&self, inside: u64, spare: u64) -> u64 {
        // Of the newest itself it holds: nothing was accepted after it.
        let (mut enough, mut too_old) = (1, inside + 1);
        while too_old - enough > 1 {
            let middle = enough + (too_old - enough) / 2;
            let after = self.accepted_until(middle);
            if self.head.accepted_since(after) <= spare {
                enough = middle;
            } else {
                too_old = middle;
            }
        }
        self.age(enough)
    }

    /// How many buckets the `nth` newest is older than the newest, `nth` from 1 to those that count.
    #[inline]
    fn age(&self, nth: u64) -> u64 {
        match nth {
            1 => 0,
            _ => self.record(nth).age(self.newest),
        }
    }

    /// What had been accepted when the `nth` newest bucket ended, `nth` from 1 to one more than
    /// count; up to now for the newest.
    #[inline]
    fn accepted_until(&self, nth: u64) -> u64 {
        match nth {
            1 => self.head.accepted(),
            _ => self.record(nth).accepted(),
        }
    }

    /// The record of the `nth` newest bucket, `nth` from 2 to one more than count.
    #[inline]
    fn record(&self, nth: u64) -> Record {
        let slot = &self.slots[self.head.index_of(nth, self.slots.len() as u64) as usize];
        // Acquire: a slot written in a later lap brings with it the head that allowed it, so that
        // the caller's second look at the head cannot miss it.
        Record(slot.load(Ordering::Acquire))
    }
}
