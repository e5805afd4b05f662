//! The ring: entry points first, then the rule, then the publishing of records.

use alloc::boxed::Box;
use core::fmt;

use windowpane_core::sync::{
    Atomic, AtomicU128, CachePadded, Ordering, SPINS_SEVERAL_LINES, back_off,
};
use windowpane_core::{
    BuildError, ChangeQuotas, Cost, Decision, Denial, Detailed, FromQuotas, Nanos, PerQuota, Quota,
    Quotas, RateLimiter, RequestError, Unit,
};

use super::head::{Head, MAX_CAPACITY, reset_tag};
use super::slot::Slot;

/// A claim that crosses a multiple of 2^52 ns (52 days) forgets what has left every window, so
/// that no slot that counts is ever 2^56 ns older than the head's time, which it is read against.
/// Right after such a claim what counts is younger than one window, at most 365 days. Until the
/// next one the head's time moves less than 2^52 ns. And 365 days + 2^52 ns < 2^56 ns.
const FORGET_EVERY_BITS: u32 = 52;

const NAME: &str = "cas-ring";

/// The age of a permit that does not exist. Every window is shorter.
const ANCIENT: Nanos = u64::MAX;

/// An exact, lock-free sliding-window limiter: a ring of the last accepted times, claimed by one
/// compare-and-swap.
///
/// It takes any number of quotas of permits over the one ring, and any cost. Memory: 8 bytes a
/// permit of capacity, at most 256 bytes and 32 a quota more, allocated once. A decision costs O(1)
/// a quota, an allowed one O(cost) more; [`decide_detailed_at`](RateLimiter::decide_detailed_at)
/// adds a binary search a quota.
///
/// Linearization: an allowance at its compare-and-swap of the head; a denial and a peek at their
/// last load of the head, which equals their first. A denial writes nothing. The next allowed call
/// finishes what a stalled thread left unfinished.
///
/// ```
/// use windowpane_cas_ring::CasRing;
/// use windowpane_core::{Cost, Quotas, RateLimiter};
///
/// let ring = CasRing::new(Quotas::parse(["100/60s", "2/1s"])?)?;
/// assert!(ring.decide_at(0, Cost::of::<2>())?.is_allowed());
/// let denied = ring.decide_at(999_999_999, Cost::ONE)?.denied().unwrap();
/// assert_eq!(denied.retry_after_nanos(), Some(1));
/// assert_eq!(denied.quota(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CasRing {
    // On a line of its own: every call reads the quotas and the address of the slots, so they must
    // not bounce with the head.
    head: CachePadded<AtomicU128>,
    slots: Box<[Atomic<u64>]>,
    /// The number of resets announced so far; see [`Head::from_bits`].
    resets: Atomic<u64>,
    /// The first quota again, and whether it is the only one: most rings have one, and finding it
    /// costs nothing.
    first: Quota,
    is_only: bool,
    smallest_limit: u64,
    longest_window: Nanos,
    quotas: Quotas,
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

    /// A ring that has accepted nothing, whose limits can be raised to `capacity`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`BuildError::CapacityTooSmall`] below the largest limit.
    pub fn with_capacity(quotas: impl Into<Quotas>, capacity: u64) -> Result<CasRing, BuildError> {
        let quotas = quotas.into();
        check(&quotas, capacity)?;
        let slots = (0..capacity.max(1)).map(|_| Atomic::new(Slot::EMPTY.0));
        Ok(CasRing {
            head: CachePadded::new(AtomicU128::new(Head::EMPTY)),
            slots: slots.collect(),
            resets: Atomic::new(0),
            first: quotas[0],
            is_only: quotas.len() == 1,
            smallest_limit: smallest_limit(&quotas),
            longest_window: quotas.longest_window(),
            quotas,
        })
    }

    /// The number of permits that the ring can hold: its largest possible limit.
    pub fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Whether the processor has the 128-bit compare-and-swap that lock-freedom rests on (every
    /// x86-64 of the last fifteen years and every 64-bit ARM have); elsewhere a lock stands in.
    pub fn is_lock_free() -> bool {
        AtomicU128::is_lock_free()
    }
}

impl RateLimiter for CasRing {
    fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    #[inline]
    fn quota(&self, index: usize) -> Quota {
        self.quotas[index]
    }

    #[inline]
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        loop {
            if let Some(decision) = self.decide(self.load_head(), now, cost)? {
                return Ok(decision);
            }
            back_off(SPINS_SEVERAL_LINES);
        }
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        loop {
            let head = self.load_head();
            let left = self.left(head, now);
            if let Some(decision) = self.decide(head, now, cost)? {
                return Ok(self.detail(decision, cost, left));
            }
            back_off(SPINS_SEVERAL_LINES);
        }
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        loop {
            let head = self.load_head();
            let (at, _) = self.effective(head, now);
            let left = self.left(head, now);
            let decision = match self.denial(head, now, cost)? {
                None => Decision::Allowed { at },
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
            let bits = self.head.load(Ordering::Acquire);
            // Acquire, and after the head: while that head stands, the number is its own or the
            // next. A thread that slept must not empty the head under an old number, or stamps
            // would come back.
            let is_last = self.resets.load(Ordering::Acquire) == number;
            let head = Head::from_bits(bits, number);
            if !is_last || head.reset_tag() == reset_tag(number) {
                // Another thread has finished it.
                return;
            }
            let emptied = head.emptied(number).to_bits();
            let reset =
                self.head
                    .compare_exchange(bits, emptied, Ordering::AcqRel, Ordering::Acquire);
            if reset.is_ok() {
                return;
            }
        }
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        let head = self.load_head();
        let (at, filled) = self.effective(head, now);
        // The head's time is the newest permit's, unless quotas were changed since.
        let age = || self.age(head, 1).saturating_add(at - head.time);
        filled == 0 || age() >= self.longest_window
    }
}

impl FromQuotas for CasRing {
    const NAME: &'static str = NAME;

    fn from_quotas(quotas: &Quotas, _start: Nanos) -> Result<Self, BuildError> {
        CasRing::new(quotas.clone())
    }
}

/// Exact, within the ring's capacity: a larger limit is [`BuildError::CapacityTooSmall`]. O(log n) for
/// n permits, and the cost of the newest request.
impl ChangeQuotas for CasRing {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        check(quotas, self.capacity())?;
        // The caller has the ring alone: the head stands, and the exchange below cannot fail.
        let head = self.load_head();
        self.help(head);
        let at = now.max(head.time);
        // What counts is younger than a window of 365 days then, as after a claim that forgets, and
        // what has left every window is not among it: a longer one does not bring it back.
        let window = self.longest_window.min(quotas.longest_window());
        let kept = self.used(head, at, window, head.filled());
        let (before, after) = (head.to_bits(), head.keeping(at, kept).to_bits());
        let _ = self
            .head
            .compare_exchange(before, after, Ordering::AcqRel, Ordering::Acquire);
        self.first = quotas[0];
        self.is_only = quotas.len() == 1;
        self.smallest_limit = smallest_limit(quotas);
        self.longest_window = quotas.longest_window();
        self.quotas = quotas.clone();
        Ok(())
    }
}

/// Why the fast path did not decide.
enum Slow {
    Denied(Denial),
    /// The request fits, and the newest record is published now.
    Fits,
    /// The head has moved: another attempt is due.
    Moved,
}

/// The rule. Whatever is read from slots is meaningless if the head has moved since; each caller
/// checks that last.
impl CasRing {
    /// Decides on `head` and, if allowed, claims. `None` if the head has moved.
    #[inline]
    fn decide(&self, head: Head, now: Nanos, cost: Cost) -> Result<Option<Decision>, RequestError> {
        let (at, filled) = self.effective(head, now);
        // The fast path: the newest record is published, and no quota's limit is below the cost.
        if self.is_published(head, 1) && cost.get() <= self.smallest_limit {
            let age = |quota| self.deciding_age(quota, head, at, filled, cost);
            let first = age(&self.first);
            if first < self.first.window() && self.is_only {
                // The wait is on the caller's clock, which may be behind.
                let wait = (self.first.window() - first).saturating_add(at - now);
                // If no thread has claimed since, the denial holds at this load.
                let stands = self.is_current(head);
                return Ok(stands.then(|| Decision::Denied(Denial::new(0, Some(wait)))));
            }
            if first >= self.first.window()
                && (self.is_only
                    || self.quotas[1..]
                        .iter()
                        .all(|quota| age(quota) >= quota.window()))
            {
                return Ok(self.claim(head, at, filled, cost));
            }
        }
        match self.decide_slowly(head, now, cost)? {
            Slow::Denied(denied) => Ok(Some(Decision::Denied(denied))),
            Slow::Moved => Ok(None),
            Slow::Fits => Ok(self.claim(head, at, filled, cost)),
        }
    }

    /// The slow path: the fast one found a denial by one of several quotas, a cost above a limit,
    /// or the newest record unpublished.
    #[inline(never)]
    fn decide_slowly(&self, head: Head, now: Nanos, cost: Cost) -> Result<Slow, RequestError> {
        Ok(match self.denial(head, now, cost)? {
            // No thread has claimed since the head was loaded: the denial holds at this load.
            Some(denied) if self.is_current(head) => Slow::Denied(denied),
            None if self.help(head) => Slow::Fits,
            _ => Slow::Moved,
        })
    }

    /// The age at `at` of the permit that must have left the quota's window before `cost` more
    /// fits; [`ANCIENT`] if there is none. To be called only while all records are published, with
    /// a cost within the limit.
    #[inline]
    fn deciding_age(&self, quota: &Quota, head: Head, at: Nanos, filled: u64, cost: Cost) -> Nanos {
        // It is the one after the newest `spare`.
        let spare = quota.limit().wrapping_sub(cost.get());
        if spare >= filled {
            return ANCIENT;
        }
        let slot = self.slot(head.index_of(spare + 1, self.capacity()));
        // Without the check of the lap that `age` makes.
        let age = Slot(slot.load(Ordering::Acquire)).age(head.stamp());
        // Saturating: a head that has moved can make the age nonsense, but not a panic.
        age.saturating_add(at - head.time)
    }

    /// Returns why `cost` does not fit, or `None` if it does. By the same rule as
    /// [`deciding_age`](Self::deciding_age), also while the newest record is unpublished.
    fn denial(&self, head: Head, now: Nanos, cost: Cost) -> Result<Option<Denial>, RequestError> {
        let (at, filled) = self.effective(head, now);
        let mut denial = None;
        for (index, quota) in self.quotas.iter().enumerate() {
            let Some(spare) = quota.limit().checked_sub(cost.get()) else {
                return self.exceeds_limit(cost);
            };
            if spare >= filled {
                continue;
            }
            // Saturating: a head that has moved can make the age nonsense, but not a panic.
            let age = self.age(head, spare + 1).saturating_add(at - head.time);
            if age < quota.window() {
                // The wait is on the caller's clock, which may be behind.
                let wait = (quota.window() - age).saturating_add(at - now);
                denial = Some(Denial::longest(denial, Denial::new(index, Some(wait))));
            }
        }
        Ok(denial)
    }

    /// A cost above a limit: an error, or a denial without a wait by a limit of 0.
    #[cold]
    fn exceeds_limit(&self, cost: Cost) -> Result<Option<Denial>, RequestError> {
        self.quotas.check_cost(cost)?;
        let zero = self.quotas.iter().position(|quota| quota.limit() == 0);
        Ok(zero.map(|index| Denial::new(index, None)))
    }

    /// Returns the time a call at `now` counts as, and how many of the newest permits count then.
    #[inline]
    fn effective(&self, head: Head, now: Nanos) -> (Nanos, u64) {
        let at = now.max(head.time);
        let may_forget =
            at - head.time >= self.longest_window || (at ^ head.time) >> FORGET_EVERY_BITS != 0;
        let filled = if may_forget {
            self.forget(head, at)
        } else {
            head.filled()
        };
        (at, filled)
    }

    /// Returns how many of the newest permits are inside some window at `at`. On a cold path: kept
    /// inline it would lie between every load of the head and its claim.
    #[cold]
    fn forget(&self, head: Head, at: Nanos) -> u64 {
        if at - head.time >= self.longest_window {
            return 0;
        }
        self.used(head, at, self.longest_window, head.filled())
    }

    /// Returns how many of the newest permits are inside `window` at `at`, at most `most`.
    fn used(&self, head: Head, at: Nanos, window: Nanos, most: u64) -> u64 {
        let (mut inside, mut outside) = (0, most + 1);
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            if self.age(head, middle).saturating_add(at - head.time) >= window {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        inside
    }

    /// Returns how long before the head's time its `nth` newest permit was accepted, `nth` counting
    /// from 1 up to `head.filled()`.
    #[inline]
    fn age(&self, head: Head, nth: u64) -> Nanos {
        let position = head.position_of(nth, self.capacity());
        // Acquire: a slot written in a later lap brings with it the head that allowed it, so that
        // the caller's second load of the head cannot miss it.
        let slot = Slot(self.slot(position.index).load(Ordering::Acquire));
        if slot.is_of(position) {
            slot.age(head.stamp())
        } else {
            // Claimed and not yet published: only the newest record can be, and its time is the
            // head's own.
            0
        }
    }

    /// Returns what is left of each quota at `now` by `head`.
    fn left(&self, head: Head, now: Nanos) -> PerQuota {
        let (at, filled) = self.effective(head, now);
        let left = |quota: &Quota| {
            let most = quota.limit().min(filled);
            quota.limit() - self.used(head, at, quota.window(), most)
        };
        self.quotas.iter().map(left).collect()
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

/// The shared words: the head, the number of resets, the slots.
impl CasRing {
    /// Returns the head. Its time is meaningless if the head has moved by the time this returns.
    #[inline]
    fn load_head(&self) -> Head {
        // Acquire: the writer of this head had seen the record before it published, and so does
        // this thread now.
        let bits = self.head.load(Ordering::Acquire);
        // Acquire: a number that is too late for this head brings with it the head it followed, so
        // that the caller's second load of the head cannot miss that.
        let resets = self.resets.load(Ordering::Acquire);
        Head::from_bits(bits, resets)
    }

    /// Whether the head still stands.
    #[inline]
    fn is_current(&self, head: Head) -> bool {
        self.head.load(Ordering::Acquire) == head.to_bits()
    }

    /// Announces the next reset and returns its number, or the number of one that is announced
    /// and not finished.
    fn announce_reset(&self) -> u64 {
        loop {
            let head = self.load_head();
            // Acquire, and between two loads of the head: the number is the head's or the next.
            let announced = self.resets.load(Ordering::Acquire);
            if !self.is_current(head) {
                continue;
            }
            if head.reset_tag() != reset_tag(announced) {
                return announced;
            }
            let next = announced.wrapping_add(1);
            // Release: a thread that reads the number also sees the head it followed.
            let announce =
                self.resets
                    .compare_exchange(announced, next, Ordering::AcqRel, Ordering::Acquire);
            if announce.is_ok() {
                return next;
            }
        }
    }

    #[inline]
    fn slot(&self, index: u64) -> &Atomic<u64> {
        &self.slots[index as usize]
    }

    /// Claims `cost` permits at `at`. `None` if the head has moved.
    #[inline(always)]
    fn claim(&self, head: Head, at: Nanos, filled: u64, cost: Cost) -> Option<Decision> {
        let claimed = head.claim(at, cost.get(), filled, self.capacity());
        // The first slot's record of the lap before: read while the head stands, as the claim
        // below proves.
        let slot = self.slot(head.next_index());
        let found = slot.load(Ordering::Acquire);
        let record = Slot::record(head.next(), claimed.stamp());
        // Release: the record before, seen published, is published for all who see this head.
        // Relaxed on failure: the next attempt loads the head again.
        let claim = self.head.compare_exchange(
            head.to_bits(),
            claimed.to_bits(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        if claim.is_err() {
            return None;
        }
        // Our own record, so that the next caller need not publish it. It fails if that one was
        // quicker, or if the ring has moved on by a lap or more: what was found does not come back
        // (see `Slot`).
        let _ = slot.compare_exchange(found, record.0, Ordering::Release, Ordering::Relaxed);
        if cost != Cost::ONE {
            self.help(claimed);
        }
        Some(Decision::Allowed { at })
    }

    /// Whether the `nth` newest permit is published.
    #[inline]
    fn is_published(&self, head: Head, nth: u64) -> bool {
        let position = head.position_of(nth, self.capacity());
        // Acquire: what this thread saw published must be published for all who see the head that
        // it writes next.
        Slot(self.slot(position.index).load(Ordering::Acquire)).is_of(position)
    }

    /// Publishes the rest of the newest record. `false` if the head has moved.
    ///
    /// Any thread may do it; all write the same. Slots are written from the oldest on, so the
    /// published ones are always the beginning of the record.
    #[cold]
    fn help(&self, head: Head) -> bool {
        let capacity = self.capacity();
        let mut missing = 0;
        while missing < capacity {
            let position = head.position_of(missing + 1, capacity);
            let slot = Slot(self.slot(position.index).load(Ordering::Acquire));
            if slot.is_of(position) {
                break;
            }
            // Of neither lap: the ring went on by a lap, so that a thread that slept need not go
            // through all of it. If the head stands, the slot is missing whatever it holds: no
            // content of a slot may keep a call from ending.
            if !slot.is_of(position.one_lap_earlier()) && !self.is_current(head) {
                return false;
            }
            missing += 1;
        }
        (1..=missing).rev().all(|nth| self.publish(head, nth))
    }

    /// Publishes the `nth` newest permit, one of the newest record. `false` if the head has moved.
    fn publish(&self, head: Head, nth: u64) -> bool {
        let position = head.position_of(nth, self.capacity());
        let slot = self.slot(position.index);
        loop {
            let found = slot.load(Ordering::Acquire);
            if Slot(found).is_of(position) {
                return true;
            }
            // While the head stands, what was found is of the lap before. Without this check a
            // thread that slept here could overwrite a later lap.
            if !self.is_current(head) {
                return false;
            }
            let record = Slot::record(position, head.stamp());
            let written =
                slot.compare_exchange(found, record.0, Ordering::AcqRel, Ordering::Acquire);
            if written.is_ok() {
                return true;
            }
        }
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

/// Whether a ring of `capacity` can hold `quotas`.
fn check(quotas: &Quotas, capacity: u64) -> Result<(), BuildError> {
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
            instead: "mutex-log",
        });
    }
    Ok(())
}

fn smallest_limit(quotas: &Quotas) -> u64 {
    quotas.iter().map(Quota::limit).min().unwrap_or(0)
}

#[cfg(test)]
mod stalled;
