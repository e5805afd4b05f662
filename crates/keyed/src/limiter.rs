//! `KeyedLimiter`: the fast path for keys already present, and what all paths share.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};

use windowpane_core::sync::CachePadded;
use windowpane_core::sync::plain::AtomicU64;
use windowpane_core::{
    Answer, Clock, Cost, Decision, Detailed, KeyedRateLimiter, MonotonicClock, Nanos, Quotas,
    RateLimiter, StoreError,
};

use crate::ask::{Ask, InDetail, Plain, Remaining};
use crate::builder::Build;
use crate::counters::{Count, Spread};
use crate::hasher::DefaultHasher;
use crate::key::KeyOf;
use crate::shards::Shards;
use crate::slots::Slots;
use crate::tiers::Tiers;
use crate::time::Given;

/// The `at` of a decision that was allowed without a record: [`WhenFull::Allow`]. No record is made
/// under it.
pub(crate) const UNRECORDED: Nanos = Nanos::MAX;

/// The time under which a decision was recorded; `None` if it was not.
#[inline]
pub(crate) fn recorded(at: Nanos) -> Option<Nanos> {
    (at != UNRECORDED).then_some(at)
}

/// The answer to an unknown key when the store holds as many keys as it may, and none of those
/// examined was idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenFull {
    /// [`StoreError::Full`]: new clients wait until others fall idle.
    #[default]
    Error,
    /// Allowed as for a key that has accepted nothing, and no record is kept. A flood of new keys is
    /// then unlimited, and the keys held stay limited.
    Allow,
}

/// One limiter a key, in a sharded map with a cap on keys.
///
/// `K` is the key, `L` the algorithm, `S` the hasher, `C` the clock. Keys are looked up by what
/// they borrow as: a `&str` finds a `String`.
///
/// A known key's decision costs one hash, one shared lock of its shard, one look-up, and the
/// limiter's own decision under one reading of the clock; nothing is allocated. An unknown key is
/// inserted if its request is allowed; after a denial, an error or a peek it leaves nothing behind.
/// Decisions of all keys are linearizable together: each is a decision of one limiter, and a key has
/// one limiter at a time.
///
/// # Idle keys are evicted
///
/// At the cap, an unknown key's request examines at most [`EXAMINED_A_CALL`](crate::EXAMINED_A_CALL)
/// of the keys held. It continues where the last such request stopped, and replaces the first key that
/// is idle. A live key is never evicted; if all of those examined are live, [`WhenFull`] says what the
/// request gets.
///
/// # Time
///
/// The limiter of an idle key decides as a new one does, but for one thing: it knows when it last
/// accepted, and reads an earlier time as that. So the store keeps the latest reading at which it
/// evicted any key, and reads an earlier time of an unknown key as that one. What is recorded never
/// exceeds the quota in any window, whichever keys are evicted. As long as readings do not step back,
/// each decision is that of a store that evicts no key. A caller whose own clock once ran far ahead can
/// [`clear`](Self::clear) the store.
///
/// A key whose limiter has reached the end of its range of time (ten years or more after its first
/// request) gets a new limiter as soon as all that the old one accepted has left every window;
/// until then it gets [`TimeOutOfRange`](windowpane_core::RequestError::TimeOutOfRange).
///
/// # Calls under a lock
///
/// While a key's shard is locked, the store calls the methods of the key's limiter, the clock, the
/// hasher, and the key's `Hash`, `Eq` and (in [`refresh`](Self::refresh)) `Clone`. None of them may
/// call the store. No lock is held while the store builds a limiter, asks which quotas a key has, makes
/// an owned key, or drops a key, a limiter or a function that was replaced.
///
/// ```
/// use windowpane_cas_ring::CasRing;
/// use windowpane_keyed::KeyedLimiter;
///
/// let limiter = KeyedLimiter::<String, CasRing>::new("2/60s")?;
/// limiter.try_acquire("alice")?;
/// limiter.try_acquire("alice")?;
/// let denied = limiter.try_acquire("alice").unwrap_err().denied().unwrap();
/// println!("come back after {:?}", denied.retry_after());
/// limiter.try_acquire("bob")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct KeyedLimiter<K, L, S = DefaultHasher, C = MonotonicClock> {
    pub(crate) shards: Shards<K, Entry<L>, S>,
    pub(crate) slots: Slots,
    pub(crate) tiers: Tiers<K>,
    pub(crate) build: Build<L>,
    pub(crate) clock: C,
    pub(crate) when_full: WhenFull,
    pub(crate) keep_denied: bool,
    /// What the clock read when the store was made.
    pub(crate) opened: Nanos,
    /// The latest reading at which a key was evicted. It is raised while the key's shard is locked, and
    /// read while the shard is locked in which a key was not found. So a thread that misses an evicted
    /// key sees it raised.
    pub(crate) floor: CachePadded<AtomicU64>,
    pub(crate) counts: Counts,
}

/// What a store of keys has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The keys held now, those being inserted included.
    pub keys: usize,
    /// The cap on keys.
    pub max_keys: usize,
    /// Denied requests. A request that found the store full is not one of them.
    pub denials: u64,
    /// Keys evicted, to free a slot or by a sweep. All of them were idle.
    pub evictions: u64,
    /// Requests of unknown keys that found no free slot, whether they were then denied or allowed.
    pub full: u64,
    /// Keys examined to find an idle one.
    pub examined: u64,
    /// The most keys that one request has examined.
    pub most_examined: u64,
}

/// A key's limiter, and its slot.
pub(crate) struct Entry<L> {
    pub(crate) limiter: L,
    pub(crate) slot: u32,
}

/// The counters behind [`Stats`].
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) denials: Spread,
    pub(crate) evictions: Count,
    pub(crate) examined: Count,
    pub(crate) most_examined: Count,
    pub(crate) refusals: Count,
}

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq,
    L: RateLimiter,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// Decides a request of `cost` for `key` at a time of the caller's own clock, which is then the
    /// clock of all calls. The decision is a value, and `Ok` also when the request is denied.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was charged then.
    #[inline]
    pub fn decide_at<Q>(&self, key: &Q, now: Nanos, cost: Cost) -> Result<Decision, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.ask(key, &Given(now), &Plain(cost))
    }

    /// [`decide_at`](Self::decide_at), with what is left and when more will be.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was charged then.
    pub fn decide_detailed_at<Q>(
        &self,
        key: &Q,
        now: Nanos,
        cost: Cost,
    ) -> Result<Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.ask(key, &Given(now), &InDetail(cost))
    }

    /// [`decide_detailed_at`](Self::decide_detailed_at) without the search for the time at which
    /// more remains, for those who do not need it.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was charged then.
    pub fn decide_remaining_at<Q>(
        &self,
        key: &Q,
        now: Nanos,
        cost: Cost,
    ) -> Result<Detailed, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.ask(key, &Given(now), &Remaining(cost))
    }

    /// What [`decide_detailed_at`](Self::decide_detailed_at) would answer if there is a free slot for
    /// the key. It changes nothing and creates no key.
    ///
    /// `more_after` is never earlier than that of the request itself. Where the request would be
    /// allowed, some of the key's permits are used and the algorithm is not exact, it can be later.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn peek_at<Q>(&self, key: &Q, now: Nanos, cost: Cost) -> Result<Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.peek_by(key, &Given(now), cost)
    }

    /// The quotas of `key`: those its limiter has, or if it is unknown would have.
    pub fn quotas<Q>(&self, key: &Q) -> Quotas
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.known(key, |limiter| limiter.quotas())
            .unwrap_or_else(|| self.tiers.of(key).quotas)
    }

    /// Forgets all that was accepted for `key`, and the key.
    pub fn reset<Q>(&self, key: &Q)
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.shards.hash(key);
        if let Some(entry) = self.shards.remove(hash, |k, _| k.borrow() == key) {
            drop(self.slots.regain(entry.slot));
        }
    }

    /// Whether `key` is held.
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.known(key, |_| ()).is_some()
    }

    /// The limiter of a key that is held. `&mut self`: no lock is taken.
    #[inline]
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut L>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.shards.hash(key);
        let entry = self.shards.get_mut(hash, |k, _| k.borrow() == key)?;
        Some(&mut entry.limiter)
    }

    /// A known key's answer. Cold paths are elsewhere.
    #[inline]
    pub(crate) fn ask<Q, T, A>(&self, key: &Q, time: &T, ask: &A) -> Result<A::Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
        T: Clock,
        A: Ask,
    {
        let hash = self.shards.hash(key);
        let known = self.shards.read(
            hash,
            |k, _| k.borrow() == key,
            |_, entry| Some(ask.ask(&entry.limiter, time)),
            || None,
        );
        let answer = match known {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => self.ask_after_error(hash, key, time, ask, error)?,
            None => self.ask_unknown(hash, key, time, ask)?,
        };
        if let Decision::Denied(_) = A::decision(&answer) {
            self.counts.denials.add_one();
        }
        Ok(answer)
    }

    /// What `then` makes of a known key's limiter.
    pub(crate) fn known<Q, R>(&self, key: &Q, then: impl FnOnce(&L) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.shards.hash(key);
        self.shards.read(
            hash,
            |k, _| k.borrow() == key,
            |_, entry| Some(then(&entry.limiter)),
            || None,
        )
    }
}

impl<K, L, S, C> KeyedLimiter<K, L, S, C> {
    /// The number of keys held, those being inserted included; never more than
    /// [`max_keys`](Self::max_keys).
    pub fn keys(&self) -> usize {
        self.slots.taken()
    }

    /// The cap on keys.
    pub fn max_keys(&self) -> usize {
        self.slots.cap()
    }

    /// What the store has counted since it was made. O(1).
    pub fn stats(&self) -> Stats {
        Stats {
            keys: self.keys(),
            max_keys: self.max_keys(),
            denials: self.counts.denials.sum(),
            evictions: self.counts.evictions.get(),
            full: self.counts.refusals.get(),
            examined: self.counts.examined.get(),
            most_examined: self.counts.most_examined.get(),
        }
    }

    /// The clock.
    pub fn clock(&self) -> &C {
        &self.clock
    }
}

impl<K, L, S, C, Q> KeyedRateLimiter<Q> for KeyedLimiter<K, L, S, C>
where
    K: KeyOf<Q> + Send + Sync,
    L: RateLimiter,
    S: BuildHasher + Clone + Send + Sync,
    C: Clock + Send + Sync,
    Q: Hash + Eq + ?Sized,
{
    fn quotas(&self, key: &Q) -> Quotas {
        KeyedLimiter::quotas(self, key)
    }

    #[inline]
    fn decide(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError> {
        self.ask(key, &self.clock, &Plain(cost))
    }

    fn decide_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError> {
        self.ask(key, &self.clock, &InDetail(cost))
    }

    fn peek_detailed(&self, key: &Q, cost: Cost) -> Result<Answer, StoreError> {
        self.peek_by(key, &self.clock, cost)
    }

    fn peek(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError> {
        self.peek_plain(key, cost)
    }

    fn reset(&self, key: &Q) {
        KeyedLimiter::reset(self, key);
    }
}

impl<K, L, S, C> fmt::Debug for KeyedLimiter<K, L, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedLimiter")
            .field("keys", &self.keys())
            .field("max_keys", &self.max_keys())
            .finish_non_exhaustive()
    }
}
