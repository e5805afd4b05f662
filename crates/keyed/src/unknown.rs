//! The way of an unknown key: what it would be answered, room for it, and its insertion.

use std::hash::{BuildHasher, Hash};
use std::sync::atomic::Ordering;

use windowpane_core::{AcquireError, Answer, Clock, Cost, Nanos, RateLimiter, StoreError};

use crate::ask::{self, Ask};
use crate::key::KeyOf;
use crate::limiter::{Entry, KeyedLimiter, WhenFull};
use crate::time::Floored;

impl<K, L, S, C> KeyedLimiter<K, L, S, C>
where
    K: Hash + Eq,
    L: RateLimiter,
    S: BuildHasher + Clone,
    C: Clock,
{
    /// The answer to a key that was not found, which by now may be there.
    ///
    /// What can be decided without room is: a cost that can never fit, a limit of 0. Then room is
    /// made, then the limiter is built, both while no shard is locked; at last, under the lock of
    /// its shard, the key is looked for once more, asked, and inserted if it was allowed.
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
                        if self.when_full == WhenFull::Deny && !denied_anyway {
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

            let answer = self.shards.write(
                hash,
                |k, _| k.borrow() == key,
                |entry| Some(ask.ask(&entry.limiter, time).map_err(StoreError::from)),
                || {
                    slot.announce(hash);
                    if self.tiers.version() != tier.version {
                        return (None, None);
                    }
                    let clock = Floored::new(time, self.floor());
                    let answer = match ask.ask(&limiter, &clock) {
                        Ok(answer) => answer,
                        Err(error) => return (Some(Err(error.into())), None),
                    };
                    let keep = self.keep_denied || A::decision(&answer).is_allowed();
                    let entry = keep.then(|| {
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
        error: AcquireError,
    ) -> Result<A::Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
        T: Clock,
        A: Ask,
    {
        if let AcquireError::TimeOutOfRange { now, .. } = error
            && let Some(slot) = self.forget(hash, now, |k, entry| {
                k.borrow() == key && self.is_idle(&entry.limiter, now)
            })
        {
            drop(slot);
            return self.ask_unknown(hash, key, time, ask);
        }
        Err(error.into())
    }

    /// What a request would be answered, changing nothing.
    pub(crate) fn look<Q, T>(&self, key: &Q, time: &T, cost: Cost) -> Result<Answer, StoreError>
    where
        K: KeyOf<Q>,
        Q: Hash + Eq + ?Sized,
        T: Clock,
    {
        let like = |limiter: &L, now| (self.build)(&limiter.quotas(), now).ok();
        let hash = self.shards.hash(key);
        let known = self.shards.read(
            hash,
            |k, _| k.borrow() == key,
            |_, entry| match ask::look(&entry.limiter, time, cost, |now| like(&entry.limiter, now))
            {
                Err(AcquireError::TimeOutOfRange { now, .. })
                    if self.is_idle(&entry.limiter, now) =>
                {
                    Err(self.floor())
                }
                answer => Ok(answer),
            },
            // Read where the key is missing, so that it is the floor of a key that was evicted.
            || Err(self.floor()),
        );
        match known {
            Ok(answer) => Ok(answer?),
            Err(floor) => {
                let quotas = self.tiers.of(key).quotas;
                quotas.check_cost(cost)?;
                let limiter = (self.build)(&quotas, time.now())?;
                let clock = Floored::new(time, floor);
                let answer = ask::look(&limiter, &clock, cost, |now| like(&limiter, now))?;
                Ok(ask::InDetail::told_later(answer, clock.behind()))
            }
        }
    }

    /// The latest reading at which a key was evicted, to be asked while a shard is locked in which a
    /// key is missing.
    fn floor(&self) -> Nanos {
        // Relaxed: the lock orders it.
        self.floor.load(Ordering::Relaxed)
    }
}
