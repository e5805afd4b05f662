//! The ring.

use std::fmt;

use windowpane_core::sync::{Atomic, AtomicU128, Backoff, CachePadded, Ordering};
use windowpane_core::{
    AcquireError, BuildError, Cost, Decision, Denied, Detailed, Nanos, PerQuota, Quota, Quotas,
    RateLimiter, Unit,
};

use super::head::{Head, MAX_CAPACITY, Place};
use super::slot::Slot;

/// A claim that crosses a multiple of 2^52 ns (52 days) forgets what has left every window, so
/// that no slot that counts is ever 2^56 ns older than the reference it is read against:
/// between two such claims pass less than 2^52 ns, and a reading is at most one window later;
/// 2 × 365 days + 2^52 ns < 2^56 ns.
const FORGET_EVERY_BITS: u32 = 52;

/// An exact, lock-free sliding-window limiter: a ring of the last accepted times, claimed by one
/// compare-and-swap.
///
/// It takes any number of quotas of permits over the one ring, and any cost. Memory: 8 bytes a
/// permit of capacity, at most 256 bytes and 32 a quota more, allocated once. A decision costs O(1)
/// a quota, an allowed one O(cost) more; [`acquire_detailed_at`](RateLimiter::acquire_detailed_at)
/// adds a binary search a quota.
///
/// Linearization: an allowance at its compare-and-swap of the head; a denial and a peek at their
/// last load of the head, which finds what their first found. A denial writes nothing. What a
/// stalled thread leaves unfinished, the next one to be allowed finishes.
///
/// ```
/// use windowpane_cas_ring::CasRing;
/// use windowpane_core::{Cost, Quotas, RateLimiter};
///
/// let ring = CasRing::new(Quotas::parse(["100/60s", "2/1s"])?)?;
/// assert!(ring.acquire_at(0, Cost::of::<2>())?.is_allowed());
/// let denied = ring.acquire_at(999_999_999, Cost::ONE)?.denied().unwrap();
/// assert_eq!(denied.retry_after_nanos(), Some(1));
/// assert_eq!(denied.quota(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CasRing {
    // On a line of its own: the quotas and the slots' address are read by everyone all the time
    // and must not bounce with the head.
    head: CachePadded<AtomicU128>,
    slots: Box<[Atomic<u64>]>,
    quotas: Quotas,
    longest_window: Nanos,
}

/// What the head and the slots say of one request.
enum Verdict {
    Allowed { at: Nanos, filled: u64 },
    Denied(Denied),
}

impl CasRing {
    /// A ring that has accepted nothing, as large as the largest limit.
    ///
    /// # Errors
    /// [`BuildError::RequestsNotSupported`]; [`BuildError::LimitTooLarge`] above [`MAX_CAPACITY`].
    pub fn new(quotas: impl Into<Quotas>) -> Result<CasRing, BuildError> {
        let quotas = quotas.into();
        let capacity = quotas.largest_limit();
        CasRing::with_capacity(quotas, capacity)
    }

    /// A ring that has accepted nothing, with room for limits up to `capacity`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`BuildError::CapacityTooSmall`] below the largest limit.
    pub fn with_capacity(quotas: impl Into<Quotas>, capacity: u64) -> Result<CasRing, BuildError> {
        const NAME: &str = "cas-ring";
        let quotas = quotas.into();
        if let Some(&quota) = quotas.iter().find(|quota| quota.unit() == Unit::Requests) {
            return Err(BuildError::RequestsNotSupported {
                algorithm: NAME,
                quota,
            });
        }
        let limit = quotas.largest_limit();
        if capacity < limit {
            return Err(BuildError::CapacityTooSmall { capacity, limit });
        }
        if capacity > MAX_CAPACITY {
            return Err(BuildError::LimitTooLarge {
                algorithm: NAME,
                limit: capacity,
                max: MAX_CAPACITY,
                instead: "mutex-log, or packed-counter if an estimate will do",
            });
        }
        let slots = (0..capacity.max(1)).map(|_| Atomic::new(Slot::EMPTY.0));
        Ok(CasRing {
            head: CachePadded::new(AtomicU128::new(Head::EMPTY.to_bits())),
            slots: slots.collect(),
            longest_window: quotas.longest_window(),
            quotas,
        })
    }

    /// Permits that the ring has room for: the largest limit it can hold.
    pub fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Whether the processor has the 128-bit compare-and-swap that lock-freedom rests on (every
    /// x86-64 of the last fifteen years and every 64-bit ARM have); elsewhere a lock stands in.
    pub fn is_lock_free() -> bool {
        AtomicU128::is_lock_free()
    }

    #[inline]
    fn load_head(&self) -> Head {
        // Acquire: whoever wrote this head had seen the record before it in place; so do we now.
        Head::from_bits(self.head.load(Ordering::Acquire))
    }

    #[inline]
    fn slot(&self, place: Place) -> &Atomic<u64> {
        &self.slots[place.index as usize]
    }

    /// How long before the head's time its `nth` newest permit was accepted, `nth` counting from 1
    /// up to `head.filled`. Meaningless if the head has moved; the caller finds that out.
    #[inline]
    fn age(&self, head: Head, nth: u64) -> Nanos {
        let place = head.next.back(nth, self.capacity());
        // Acquire: a slot written in a later lap brings with it the head that allowed it, so that
        // the caller's second look at the head cannot miss it.
        let slot = Slot(self.slot(place).load(Ordering::Acquire));
        if slot.is_of(place) {
            slot.age(head.time)
        } else {
            // Claimed and not yet in place: only the newest record can be, and its time is the
            // head's own.
            0
        }
    }

    /// How many of the newest permits are inside `window` at `at`, at most `most`.
    fn used(&self, head: Head, at: Nanos, window: Nanos, most: u64) -> u64 {
        let since = at.wrapping_sub(head.time);
        let (mut inside, mut outside) = (0, most + 1);
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            if self.age(head, middle).saturating_add(since) < window {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }

    /// The time a call at `now` counts as, and how many of the newest permits count then.
    #[inline]
    fn effective(&self, head: Head, now: Nanos) -> (Nanos, u64) {
        let at = now.max(head.time);
        let all_gone = at - head.time >= self.longest_window;
        (at, if all_gone { 0 } else { head.filled })
    }

    /// Decides on `head`. Meaningless if the head has moved meanwhile.
    #[inline]
    fn judge(&self, head: Head, now: Nanos, cost: Cost) -> Verdict {
        let (at, filled) = self.effective(head, now);
        let since = at - head.time;
        let mut denial = None;
        for (index, quota) in self.quotas.iter().enumerate() {
            if quota.limit() == 0 {
                denial = Some(Denied::longest(denial, Denied::new(index, None)));
                continue;
            }
            // With `cost` more, the permit that must have left the window is this one, counted
            // from the newest.
            let nth = quota.limit() - cost.get() + 1;
            if nth > filled {
                continue;
            }
            let age = self.age(head, nth).saturating_add(since);
            if age < quota.window() {
                // The wait is told on the caller's clock, which may be behind.
                let wait = (quota.window() - age).saturating_add(at - now);
                denial = Some(Denied::longest(denial, Denied::new(index, Some(wait))));
            }
        }
        match denial {
            Some(denied) => Verdict::Denied(denied),
            None => Verdict::Allowed { at, filled },
        }
    }

    /// Puts the newest record in place, as far as it is not yet. `false` if the head has moved.
    ///
    /// Any thread may do it; all write the same. Slots are written from the oldest on, so those in
    /// place are always a beginning of the record.
    fn settle(&self, head: Head) -> bool {
        let capacity = self.capacity();
        let in_place = |nth| {
            let place = head.next.back(nth, capacity);
            Slot(self.slot(place).load(Ordering::Acquire)).is_of(place)
        };
        let mut missing = 0;
        while missing < capacity && !in_place(missing + 1) {
            missing += 1;
        }
        (1..=missing)
            .rev()
            .all(|nth| self.put(head, head.next.back(nth, capacity)))
    }

    /// Puts one permit of the newest record in place. `false` if the head has moved.
    fn put(&self, head: Head, place: Place) -> bool {
        let record = Slot::record(place, head.time);
        loop {
            let found = self.slot(place).load(Ordering::Acquire);
            if Slot(found).is_of(place) {
                return true;
            }
            // While the head stands, what was found is of the lap before. Were it not looked at
            // again, a thread that slept here could overwrite a later lap.
            if self.load_head() != head {
                return false;
            }
            let written = self.slot(place).compare_exchange(
                found,
                record.0,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if written.is_ok() {
                return true;
            }
        }
    }

    /// How many of the newest permits the next head keeps when it is claimed at `at`.
    #[inline]
    fn keep(&self, head: Head, at: Nanos, filled: u64) -> u64 {
        if (at ^ head.time) >> FORGET_EVERY_BITS == 0 {
            return filled;
        }
        self.used(head, at, self.longest_window, filled)
    }

    /// What is left of each quota at `at` by `head`. Meaningless if the head has moved.
    fn left(&self, head: Head, at: Nanos, filled: u64) -> PerQuota {
        let left = |quota: &Quota| {
            let most = quota.limit().min(filled);
            quota.limit() - self.used(head, at, quota.window(), most)
        };
        self.quotas.iter().map(left).collect()
    }

    /// Decides and, if allowed, claims. `look` sees the head that the decision was made on; it may
    /// be called again if the head moves.
    #[inline]
    fn decide<T>(
        &self,
        now: Nanos,
        cost: Cost,
        look: impl Fn(Head) -> T,
    ) -> Result<(Decision, T), AcquireError> {
        self.quotas.check_cost(cost)?;
        let capacity = self.capacity();
        let mut backoff = Backoff::new();
        loop {
            let head = self.load_head();
            match self.judge(head, now, cost) {
                Verdict::Denied(denied) => {
                    let seen = look(head);
                    if self.load_head() == head {
                        return Ok((Decision::Denied(denied), seen));
                    }
                }
                Verdict::Allowed { at, filled } => {
                    let seen = look(head);
                    if !self.settle(head) {
                        backoff.spin();
                        continue;
                    }
                    let claimed = Head {
                        time: at,
                        next: head.next.forward(cost.get(), capacity),
                        filled: (self.keep(head, at, filled) + cost.get()).min(capacity),
                    };
                    // What the first slot holds of the lap before: read while the head stands, as
                    // the claim below proves.
                    let first = self.slot(head.next).load(Ordering::Acquire);
                    // Release: the record before, seen in place, is in place for all who see this
                    // head. Acquire is not needed: nothing is read after it that it orders.
                    let claim = self.head.compare_exchange(
                        head.to_bits(),
                        claimed.to_bits(),
                        Ordering::Release,
                        Ordering::Relaxed,
                    );
                    if claim.is_ok() {
                        self.put_own(head.next, first, claimed, cost);
                        return Ok((Decision::Allowed { at }, seen));
                    }
                    backoff.spin();
                }
            }
        }
    }

    /// Puts in place what was just claimed. Others may be quicker; then it is in place already.
    #[inline]
    fn put_own(&self, place: Place, found: u64, claimed: Head, cost: Cost) {
        // Fails only if another has put it there, or all has moved on a lap or more.
        let _ = self.slot(place).compare_exchange(
            found,
            Slot::record(place, claimed.time).0,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if cost != Cost::ONE {
            self.settle(claimed);
        }
    }

    /// The decision with what is left after it.
    fn detail(&self, decision: Decision, cost: Cost, mut left: PerQuota) -> Detailed {
        if decision.is_allowed() {
            for left in &mut left {
                *left -= cost.get();
            }
        }
        Detailed::new(decision, &self.quotas, left)
    }
}

impl RateLimiter for CasRing {
    fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    #[inline]
    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError> {
        self.decide(now, cost, |_| ())
            .map(|(decision, ())| decision)
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        let (decision, left) = self.decide(now, cost, |head| {
            let (at, filled) = self.effective(head, now);
            self.left(head, at, filled)
        })?;
        Ok(self.detail(decision, cost, left))
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.quotas.check_cost(cost)?;
        loop {
            let head = self.load_head();
            let (at, filled) = self.effective(head, now);
            let left = self.left(head, at, filled);
            let decision = match self.judge(head, now, cost) {
                Verdict::Allowed { at, .. } => Decision::Allowed { at },
                Verdict::Denied(denied) => Decision::Denied(denied),
            };
            if self.load_head() == head {
                return Ok(self.detail(decision, cost, left));
            }
        }
    }

    /// Linearized at its compare-and-swap. The places stay where they are, so that no slot is ever
    /// written twice in one lap.
    fn reset(&self) {
        let mut head = self.load_head();
        loop {
            let emptied = Head {
                time: 0,
                filled: 0,
                ..head
            };
            match self.head.compare_exchange(
                head.to_bits(),
                emptied.to_bits(),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                Err(found) => head = Head::from_bits(found),
            }
        }
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        let head = self.load_head();
        self.effective(head, now).1 == 0
    }
}

impl fmt::Debug for CasRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CasRing")
            .field("quotas", &self.quotas)
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
