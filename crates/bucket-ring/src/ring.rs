//! The ring.

use alloc::boxed::Box;
use core::fmt;

use windowpane_core::sync::{
    Atomic, AtomicU128, CachePadded, Ordering, SPINS_SEVERAL_LINES, back_off,
};
use windowpane_core::{
    BuildError, Cost, Decision, Denial, Detailed, FromQuotas, Nanos, PerQuota, Quota, Quotas,
    RateLimiter, RequestError,
};

use crate::head::Head;
use crate::plan::{DEFAULT_BUCKETS, Plan, Rule};
use crate::record::Record;
use crate::view::View;

/// A lock-free sliding-window limiter that counts per sub-window: never above a quota, and at most
/// one bucket early with a denial.
///
/// A bucket counts whole as long as its last instant is inside the window. It takes any cost, and
/// several quotas whose windows are whole numbers of buckets; all of permits or all of requests.
/// Memory: 8 bytes a bucket and a constant, whatever the limit, allocated once. A decision costs
/// O(1) a quota under steady traffic and a binary search over the buckets a quota at worst; so do
/// a wait and [`decide_detailed_at`](RateLimiter::decide_detailed_at). No decision walks the
/// buckets, not even after an idle time.
///
/// Linearization: an allowance at its compare-and-swap of the head; a denial and a peek at their
/// last load of the head, which equals their first. A denial writes nothing. No thread waits for a
/// stalled one: any other can finish what it left.
///
/// ```
/// use windowpane_bucket_ring::BucketRing;
/// use windowpane_core::{Cost, Quotas, RateLimiter};
///
/// // Buckets of one second.
/// let ring = BucketRing::new(Quotas::parse(["100/60s"])?)?;
/// let second = 1_000_000_000;
/// assert!(ring.decide_at(second / 2, Cost::of::<100>())?.is_allowed());
/// // Exactly, it would be free at 60.5 s. Here the bucket goes as a whole, with its last instant.
/// let denied = ring.decide_at(60 * second, Cost::ONE)?.denied().unwrap();
/// assert_eq!(denied.retry_after_nanos(), Some(second - 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BucketRing {
    // On a line of their own: every call reads the plan and the address of the slots, so they must
    // not bounce with the head.
    words: CachePadded<Words>,
    /// The records of the buckets before the newest, in the order in which they came.
    pub(crate) slots: Box<[Atomic<u64>]>,
    pub(crate) plan: Plan,
}

/// The words that calls change.
struct Words {
    head: AtomicU128,
    /// The number of resets announced so far; see [`Head::from_bits`].
    resets: Atomic<u64>,
}

impl BucketRing {
    /// A ring that has accepted nothing, with [`DEFAULT_BUCKETS`] to the longest window.
    ///
    /// # Errors
    /// As [`with_buckets`](Self::with_buckets).
    pub fn new(quotas: impl Into<Quotas>) -> Result<BucketRing, BuildError> {
        BucketRing::with_buckets(quotas, DEFAULT_BUCKETS)
    }

    /// A ring that has accepted nothing, with `buckets` to the longest window: the more, the closer
    /// to exact. A bucket is `ceil(longest window / buckets)` nanoseconds wide.
    ///
    /// # Errors
    /// [`BuildError::BucketsOutOfRange`] for 0 or more than [`MAX_BUCKETS`](crate::MAX_BUCKETS);
    /// [`BuildError::WindowNotInBuckets`] if there are several quotas and a window is no whole
    /// number of buckets; [`BuildError::MixedUnits`]; [`BuildError::LimitTooLarge`] above
    /// [`MAX_LIMIT`](crate::MAX_LIMIT).
    pub fn with_buckets(quotas: impl Into<Quotas>, buckets: u32) -> Result<BucketRing, BuildError> {
        Ok(BucketRing::of(Plan::new(quotas.into(), buckets)?))
    }

    /// A ring that has accepted nothing.
    pub(crate) fn of(plan: Plan) -> BucketRing {
        let slots = (0..plan.slots()).map(|_| Atomic::new(Record::EMPTY.0));
        BucketRing {
            words: CachePadded::new(Words {
                head: AtomicU128::new(Head::EMPTY),
                resets: Atomic::new(0),
            }),
            slots: slots.collect(),
            plan,
        }
    }

    /// How wide a bucket is, in nanoseconds; a denial comes less than this early.
    pub fn width(&self) -> Nanos {
        self.plan.width.nanos()
    }

    /// Whether the processor has the 128-bit compare-and-swap that lock-freedom rests on (every
    /// x86-64 of the last fifteen years and every 64-bit ARM have); elsewhere a lock stands in.
    pub fn is_lock_free() -> bool {
        AtomicU128::is_lock_free()
    }

    /// Returns the head. Its time is meaningless if the head has moved by the time this returns.
    #[inline]
    pub(crate) fn load_head(&self) -> Head {
        // Acquire: the writer of this head had seen all older records published, and so does this
        // thread now.
        let bits = self.words.head.load(Ordering::Acquire);
        // Acquire: a number that is too late for this head brings with it the head it followed, so
        // that the caller's second load of the head cannot miss that.
        let resets = self.words.resets.load(Ordering::Acquire);
        Head::from_bits(bits, resets)
    }

    /// Whether the head still stands.
    #[inline]
    fn is_current(&self, head: Head) -> bool {
        self.words.head.load(Ordering::Acquire) == head.to_bits()
    }

    /// Announces the next reset and returns its number, or the number of one that is announced
    /// and not finished.
    fn announce_reset(&self) -> u64 {
        loop {
            let head = self.load_head();
            // Acquire, and between two loads of the head: the number is the head's or the next.
            let announced = self.words.resets.load(Ordering::Acquire);
            if !self.is_current(head) {
                continue;
            }
            if !head.is_of_reset(announced) {
                return announced;
            }
            let next = announced.wrapping_add(1);
            // Release: a thread that reads the number also sees the head it followed.
            let announce = self.words.resets.compare_exchange(
                announced,
                next,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if announce.is_ok() {
                return next;
            }
        }
    }

    #[inline]
    pub(crate) fn view(&self, head: Head, now: Nanos) -> View<'_> {
        let located = self.plan.width.locate(now);
        View::new(head, now, located, &self.plan, &self.slots)
    }

    /// Returns why `cost` does not fit, or `None` if it does. Meaningless if the head has moved.
    fn denial(&self, head: Head, now: Nanos, cost: Cost) -> Result<Option<Denial>, RequestError> {
        let charge = self.plan.charge(cost);
        if charge > self.plan.smallest_limit {
            return self.exceeds_limit(cost);
        }
        let view = self.view(head, now);
        let mut denial = None;
        for (index, rule) in self.plan.rules().enumerate() {
            if let Some(wait) = view.wait(now, rule, charge) {
                denial = Some(Denial::longest(denial, Denial::new(index, Some(wait))));
            }
        }
        Ok(denial)
    }

    /// A cost above a limit: an error, or a denial without a wait by a limit of 0.
    #[cold]
    fn exceeds_limit(&self, cost: Cost) -> Result<Option<Denial>, RequestError> {
        let quotas = &self.plan.quotas;
        quotas.check_cost(cost)?;
        let zero = quotas.iter().position(|quota| quota.limit() == 0);
        Ok(zero.map(|index| Denial::new(index, None)))
    }

    /// Publishes the record of the head's bucket, which is `newest`. `false` if the head has moved.
    ///
    /// Any thread may do it; all write the same for the same head. Published means equal: a record
    /// written before more went into the same bucket is replaced.
    #[inline]
    fn publish(&self, head: Head, newest: u64) -> bool {
        let record = match head.counting() {
            0 => Record::emptied(head.resets(), head.accepted()),
            _ => Record::new(newest, head.resets(), head.accepted()),
        };
        let slot = &self.slots[head.index() as usize];
        loop {
            // Acquire: what this thread saw published must be published for all who see the head
            // that it writes next.
            let found = slot.load(Ordering::Acquire);
            if found == record.0 {
                return true;
            }
            // While the head stands, what was found is older than the record, so it is not found
            // there again. Without this check a thread that slept before its load could take a
            // later record for an older one and overwrite it.
            if !self.is_current(head) {
                return false;
            }
            let written =
                slot.compare_exchange(found, record.0, Ordering::AcqRel, Ordering::Acquire);
            if written.is_ok() {
                return true;
            }
        }
    }

    /// Claims `charge`, which fits. `None` if the head has moved.
    #[inline(always)]
    pub(crate) fn claim(&self, view: View<'_>, charge: u64) -> Option<Nanos> {
        let View { head, at, .. } = view;
        let claimed = if view.is_in_newest() {
            head.charge(at, charge)
        } else {
            // Computed before the record is published, so that nothing comes between the two
            // exchanges: a load would wait for the first.
            let kept = view.inside(self.plan.longest());
            let rolled = head.roll(at, charge, kept, self.slots.len() as u64);
            // No thread begins a bucket before the record of the one before is published.
            if !self.publish(head, view.newest) {
                return None;
            }
            rolled
        };
        // Release: the records before, seen published, are published for all who see this head.
        // Relaxed on failure: the next attempt loads the head again.
        let claim = self.words.head.compare_exchange(
            head.to_bits(),
            claimed.to_bits(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        claim.is_ok().then_some(at)
    }

    /// The fast path, with one quota and a charge within its limit: the time of acceptance, or the
    /// wait of a denial.
    // Not inlined, and with a result in two registers: the code at the callers is small, and no
    // result goes through memory.
    #[inline(never)]
    fn decide_alone(&self, now: Nanos, charge: u64) -> Result<Nanos, Nanos> {
        let located = self.plan.width.locate(now);
        loop {
            let head = self.load_head();
            let view = View::new(head, now, located, &self.plan, &self.slots);
            match view.wait(now, &self.plan.first, charge) {
                None => {
                    if let Some(at) = self.claim(view, charge) {
                        return Ok(at);
                    }
                }
                // No thread has claimed since the head was loaded: the denial holds at this load.
                Some(wait) if self.is_current(head) => return Err(wait),
                Some(_) => {}
            }
            back_off(SPINS_SEVERAL_LINES);
        }
    }

    /// Decides on `head` and, if allowed, claims. `None` if the head has moved.
    fn attempt(
        &self,
        head: Head,
        now: Nanos,
        cost: Cost,
    ) -> Result<Option<Decision>, RequestError> {
        if let Some(denied) = self.denial(head, now, cost)? {
            // If no thread has claimed since, the denial holds at this load.
            let stands = self.is_current(head);
            return Ok(stands.then_some(Decision::Denied(denied)));
        }
        let claimed = self.claim(self.view(head, now), self.plan.charge(cost));
        Ok(claimed.map(|at| Decision::Allowed { at }))
    }

    /// The slow path.
    #[inline(never)]
    fn decide_among(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        loop {
            if let Some(decision) = self.attempt(self.load_head(), now, cost)? {
                return Ok(decision);
            }
            back_off(SPINS_SEVERAL_LINES);
        }
    }

    /// What is left of each quota. Meaningless if the head has moved.
    fn left(&self, view: View<'_>) -> PerQuota {
        let left = |rule: &Rule| {
            let used = view.used(view.inside(rule.span));
            rule.limit.saturating_sub(used)
        };
        self.plan.rules().map(left).collect()
    }

    /// The decision with what is left after it.
    fn detail(&self, decision: Decision, cost: Cost, mut left: PerQuota) -> Detailed {
        if decision.is_allowed() {
            for left in &mut left {
                *left -= self.plan.charge(cost);
            }
        }
        Detailed::new(decision, &self.plan.quotas, left)
    }
}

impl FromQuotas for BucketRing {
    const NAME: &'static str = crate::plan::NAME;

    fn from_quotas(quotas: &Quotas, _start: Nanos) -> Result<Self, BuildError> {
        BucketRing::new(quotas.clone())
    }
}

impl RateLimiter for BucketRing {
    fn quotas(&self) -> Quotas {
        self.plan.quotas.clone()
    }

    #[inline]
    fn quota(&self, index: usize) -> Quota {
        self.plan.quotas[index]
    }

    #[inline]
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        let charge = self.plan.charge(cost);
        if charge > self.plan.limit_alone {
            return self.decide_among(now, cost);
        }
        Ok(match self.decide_alone(now, charge) {
            Ok(at) => Decision::Allowed { at },
            Err(wait) => Decision::Denied(Denial::new(0, Some(wait))),
        })
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        loop {
            let head = self.load_head();
            let left = self.left(self.view(head, now));
            if let Some(decision) = self.attempt(head, now, cost)? {
                return Ok(self.detail(decision, cost, left));
            }
            back_off(SPINS_SEVERAL_LINES);
        }
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        loop {
            let head = self.load_head();
            let view = self.view(head, now);
            let left = self.left(view);
            let decision = match self.denial(head, now, cost)? {
                None => Decision::Allowed { at: view.at },
                Some(denied) => Decision::Denied(denied),
            };
            if self.is_current(head) {
                return Ok(self.detail(decision, cost, left));
            }
        }
    }

    /// Linearized at the compare-and-swap of the head that empties it. Two resets that overlap can
    /// be finished by one.
    fn reset(&self) {
        let number = self.announce_reset();
        loop {
            let bits = self.words.head.load(Ordering::Acquire);
            // Acquire, and after the head: while that head stands, the number is its own or the
            // next. A thread that slept must not empty the head under an old number, or stamps
            // would come back.
            let is_last = self.words.resets.load(Ordering::Acquire) == number;
            let head = Head::from_bits(bits, number);
            if !is_last || head.is_of_reset(number) {
                // Another thread has finished it.
                return;
            }
            let emptied = head.emptied(number).to_bits();
            let reset = self.words.head.compare_exchange(
                bits,
                emptied,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if reset.is_ok() {
                return;
            }
        }
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        let view = self.view(self.load_head(), now);
        view.used(view.inside(self.plan.longest())) == 0
    }
}

impl fmt::Debug for BucketRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketRing")
            .field("quotas", &self.plan.quotas)
            .field("width", &self.width())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod stalled;
