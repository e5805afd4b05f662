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
    /// What a call at `now` sees, `located` being where `now` falls: that is worked out while the
    /// head is still on its way here.
    #[inline(always)]
    pub(crate) fn new(
        head: Head,
        now: Nanos,
        located: Moment,
        plan: &'a Plan,
        slots: &'a [Atomic<u64>],
    ) -> Self {
        let (at, moment, newest) = match now.checked_sub(head.time) {
            Some(since) if since <= located.offset + plan.width.nanos() => {
                let is_one_before = since > located.offset;
                (now, located, located.bucket - u64::from(is_one_before))
            }
            Some(_) => (now, located, plan.width.locate_rarely(head.time).bucket),
            None => {
                let moment = plan.width.locate_rarely(head.time);
                (head.time, moment, moment.bucket)
            }
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
    pub(crate) fn is_in_newest(self) -> bool {
        self.moment.bucket == self.newest && self.head.counting() > 0
    }

    /// How many of the newest buckets are inside `span`.
    #[inline(always)]
    pub(crate) fn inside(self, span: Span) -> u64 {
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
        inside_fewer(self.slots, self.head, self.newest, reach, most)
    }

    /// What the newest `inside` buckets hold.
    #[inline]
    pub(crate) fn used(self, inside: u64) -> u64 {
        self.head.accepted_since(self.accepted_until(inside + 1))
    }

    /// How long after `now` the rule has room for `charge`, at most its limit; `None` if it has room
    /// at `at`.
    #[inline(always)]
    pub(crate) fn wait(self, now: Nanos, rule: &Rule, charge: u64) -> Option<Nanos> {
        let spare = rule.limit - charge;
        let inside = self.inside(rule.span);
        let has_room = self.used(inside) <= spare;
        (!has_room).then(|| self.wait_for(now, rule, inside, spare))
    }

    /// How long after `now` `spare` is enough for what the newest `inside` buckets, which hold more
    /// at `at`, will have left inside the rule's window.
    #[inline(always)]
    fn wait_for(self, now: Nanos, rule: &Rule, inside: u64, spare: u64) -> Nanos {
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
    #[inline(always)]
    fn age_that_frees(self, inside: u64, spare: u64) -> u64 {
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

    /// What the buckets inside `span` hold, oldest first, each with its last instant.
    pub(crate) fn held(self, span: Span) -> impl Iterator<Item = (Nanos, u64)> + 'a {
        let held = move |nth: u64| {
            let newer = self.head.accepted_since(self.accepted_until(nth));
            let charge = self.head.accepted_since(self.accepted_until(nth + 1)) - newer;
            let end = self.plan.width.last_instant(self.newest - self.age(nth));
            (end, charge)
        };
        (1..=self.inside(span)).rev().map(held)
    }

    /// How many buckets the `nth` newest is older than the newest, `nth` from 1 to those that count.
    #[inline]
    fn age(self, nth: u64) -> u64 {
        match nth {
            1 => 0,
            _ => self.record(nth).age(self.newest, self.head.resets()),
        }
    }

    /// What had been accepted when the `nth` newest bucket ended, `nth` from 1 to one more than
    /// count; up to now for the newest.
    #[inline]
    fn accepted_until(self, nth: u64) -> u64 {
        match nth {
            1 => self.head.accepted(),
            _ => self.record(nth).accepted(),
        }
    }

    #[inline]
    fn record(self, nth: u64) -> Record {
        record(self.slots, self.head, nth)
    }
}

/// The record of the `nth` newest bucket, `nth` from 2 to one more than count.
#[inline]
fn record(slots: &[Atomic<u64>], head: Head, nth: u64) -> Record {
    let slot = &slots[head.index_of(nth, slots.len() as u64) as usize];
    // Acquire: a slot written in a later lap brings with it the head that allowed it, so that the
    // caller's second look at the head cannot miss it.
    Record(slot.load(Ordering::Acquire))
}

/// How many of the newest buckets, the `outside`th being too old, are at most `reach` older than the
/// newest.
// It takes what it needs by itself: a view whose address is taken would be kept in memory by all
// who use one, and every exchange waits for what was written before it.
#[inline(never)]
fn inside_fewer(
    slots: &[Atomic<u64>],
    head: Head,
    newest: u64,
    reach: u64,
    mut outside: u64,
) -> u64 {
    let has_left = |nth: u64| record(slots, head, nth).age(newest, head.resets()) > reach;
    // Mostly only the oldest few have left since the newest bucket began: from there in growing
    // steps, and then between the last two.
    let mut inside = outside - 1;
    let mut step = 1;
    while inside > 1 && has_left(inside) {
        outside = inside;
        step *= 2;
        inside = inside.saturating_sub(step).max(1);
    }
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        if has_left(middle) {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    inside
}
