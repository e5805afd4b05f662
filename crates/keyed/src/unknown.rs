//! The cold path of an unknown key: its answer, a free slot for it, and its insertion.

use std::hash::{BuildHasher, Hash};
use std::sync::atomic::Ordering;

use windowpane_core::{
    Answer, Clock, Cost, Decision, Denial, Nanos, Quotas, RateLimiter, RequestError, StoreError,
};

use crate::ask::{self, Ask};
use crate::key::KeyOf;
use crate::limiter::{Entry, KeyedLimiter, WhenFull};
use crate::time::{Floored, Kept};

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq,
    L: RateLimiter,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// The answer to a key that was not found, which by now may be there.
    ///
    /// A cost that can never fit and a limit of 0 are decided without a slot. Then a slot is freed, then
    /// the limiter is built, both while no shard is locked. At last, under the lock of its shard, the
    /// key is searched once more, asked, and inserted if it was allowed.
    #[cold]
    pub(crate) fn ask_unknown<Q, T, A>(
        &self,
        hash: u64,
        key: &Q,
        time: &T,
        ask: &A,
    ) -> Result<A::Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
        T: Clock,
        A: Ask,
    {
        loop {
            let tier = self.tiers.of(key);
            tier.quotas.check_cost(ask.cost())?;
            let denied_anyway = tier.quotas.iter().any(|quota| quota.limit() == 0);
            let now = time.now();
            let slot = match denied_anyway && !self.keep_denied {
                true => None,
                false => match self.room(now) {
                    Some(slot) => Some(slot),
                    None => {
                        self.counts.refusals.add(1);
                        if self.when_full == WhenFull::Error && !denied_anyway {
                            let keys = self.keys();
                            return Err(StoreError::Full { keys });
                        }
                        None
                    }
                },
            };
            let limiter = (self.build)(&tier.quotas, now)?;
            let Some(slot) = slot else {
                let answer = ask.ask(&limiter, time)?;
                return Ok(A::unrecorded(answer, &tier.quotas));
            };
            let owned = tier.owned.unwrap_or_else(|| K::owned(key));
            // Taken under the lock if the key is inserted. What is left is dropped after it: a slot has
            // a lock of its own, and the destructors of keys and limiters are the caller's.
            let mut new = Some((owned, limiter, slot));

            let answer = self.shards.write(
                hash,
                |k, _| k.borrow() == key,
                |entry| Some(ask.ask(&entry.limiter, time).map_err(StoreError::from)),
                || {
                    let Some((_, limiter, slot)) = &new else {
                        return (None, None);
                    };
                    slot.announce(hash);
                    if self.tiers.version() != tier.version {
                        return (None, None);
                    }
                    let clock = Floored::new(time, self.floor());
                    let answer = match ask.ask(limiter, &clock) {
                        Ok(answer) => answer,
                        Err(error) => return (Some(Err(error.into())), None),
                    };
                    let keep = self.keep_denied || A::decision(&answer).is_allowed();
                    let kept = new.take_if(|_| keep);
                    let entry = kept.map(|(owned, limiter, slot)| {
                        let slot = slot.keep();
                        (owned, Entry { limiter, slot })
                    });
                    let answer = A::told_later(answer, clock.behind());
                    (Some(Ok(answer)), entry)
                },
            );
            match answer {
                Some(answer) => return answer,
                // The quotas were changed meanwhile.
                None => continue,
            }
        }
    }

    /// The answer to a known key whose limiter has none: if it has outlived its range of time and
    /// nothing that it accepted counts any more, that of a new one.
    #[cold]
    pub(crate) fn ask_after_error<Q, T, A>(
        &self,
        hash: u64,
        key: &Q,
        time: &T,
        ask: &A,
        error: RequestError,
    ) -> Result<A::Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
        T: Clock,
        A: Ask,
    {
        if let RequestError::TimeOutOfRange { now, .. } = error
            && let Some(slot) = self.forget(hash, now, |k, entry| {
                k.borrow() == key && self.is_idle(&entry.limiter, now)
            })
        {
            drop(slot);
            return self.ask_unknown(hash, key, time, ask);
        }
        Err(error.into())
    }

    /// The answer that a request would get. It changes nothing.
    pub(crate) fn peek_by<Q, T>(&self, key: &Q, time: &T, cost: Cost) -> Result<Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
        T: Clock,
    {
        let build = |quotas: &Quotas, now| (self.build)(quotas, now).ok();
        let hash = self.shards.hash(key);
        // All of a peek is at one reading, however often it locks the shard.
        let clock = Kept::new(time);
        let peek = |fresh: Option<&L>| {
            self.shards.read(
                hash,
                |k, _| k.borrow() == key,
                |_, entry| match ask::peek(&entry.limiter, &clock, cost, fresh) {
                    Err(RequestError::TimeOutOfRange { now, .. })
                        if self.is_idle(&entry.limiter, now) =>
                    {
                        Err(Missed::Unknown(self.floor()))
                    }
                    peeked => peeked.map_err(Missed::Error),
                },
                // Read where the key is missing, so that it is the watermark of a key that was evicted.
                || Err(Missed::Unknown(self.floor())),
            )
        };
        let floor = match ask::peek_whole(&clock, cost, peek, build) {
            Ok(answer) => return Ok(answer),
            Err(Missed::Error(error)) => return Err(error.into()),
            Err(Missed::Unknown(floor)) => floor,
        };
        let quotas = self.tiers.of(key).quotas;
        quotas.check_cost(cost)?;
        let limiter = (self.build)(&quotas, clock.now())?;
        let floored = Floored::new(&clock, floor);
        let clock = Kept::new(&floored);
        let peek = |fresh: Option<&L>| ask::peek(&limiter, &clock, cost, fresh);
        let answer = ask::peek_whole(&clock, cost, peek, build)?;
        Ok(ask::InDetail::told_later(answer, floored.behind()))
    }

    /// The decision that a request would get, for a check before it: no limiter is built for an
    /// unknown key.
    pub(crate) fn peek_plain<Q>(&self, key: &Q, cost: Cost) -> Result<Decision, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let known = self.known(key, |limiter| limiter.peek_with(&self.clock, cost));
        match known {
            Some(Ok(detailed)) => return Ok(detailed.decision()),
            Some(Err(RequestError::TimeOutOfRange { .. })) | None => {}
            Some(Err(error)) => return Err(error.into()),
        }
        let quotas = self.tiers.of(key).quotas;
        quotas.check_cost(cost)?;
        let denies = quotas.iter().position(|quota| quota.limit() == 0);
        Ok(match denies {
            Some(quota) => Decision::Denied(Denial::new(quota, None)),
            None => Decision::Allowed {
                at: self.clock.now().max(self.floor()),
            },
        })
    }

    /// The latest reading at which a key was evicted, to be asked while a shard is locked in which a
    /// key is missing.
    fn floor(&self) -> Nanos {
        // Relaxed: the lock orders it.
        self.floor.load(Ordering::Relaxed)
    }
}

/// Why a key's limiter gives no answer to a peek.
enum Missed {
    /// The key is unknown. The latest reading at which a key was evicted.
    Unknown(Nanos),
    /// The limiter's error.
    Error(RequestError),
}
