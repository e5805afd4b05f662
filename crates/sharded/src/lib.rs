#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use windowpane_core::sync::CachePadded;
use windowpane_core::{
    BuildError, Cost, Decision, Denial, Detailed, FromQuotas, Nanos, PerQuota, Quota, Quotas,
    RateLimiter, RequestError,
};

thread_local! {
    /// Which shard this thread asks first, before it is masked to the number of shards.
    static THREAD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
}

/// A limiter for one key that many threads share: several limiters of the algorithm `L`, the
/// *shards*, each with a share of every limit.
///
/// A thread asks a shard of its own first, and the others if that one denies. So threads write to
/// the same cache lines only when the quota is nearly used up.
///
/// It never exceeds a quota, if `L` does not. With one quota and costs of 1, and while no other
/// thread decides, it answers as one limiter would. Otherwise it can deny early, never allow early:
/// see [the crate's page](crate#error).
///
/// A decision costs O(shards) where it is denied and up to that where it is allowed. An allowance is
/// linearized where the shard's is. A denial is several decisions at slightly different instants:
/// it is not linearizable, and can miss a permit that another shard got back meanwhile.
///
/// ```
/// use windowpane_cas_ring::CasRing;
/// use windowpane_core::{Cost, Quotas, RateLimiter};
/// use windowpane_sharded::Sharded;
///
/// let limiter = Sharded::<CasRing>::with_shards(Quotas::parse("10/1s")?, 4)?;
/// let allowed = (0..20).filter(|_| limiter.decide_at(0, Cost::ONE).unwrap().is_allowed());
/// assert_eq!(allowed.count(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sharded<L> {
    /// A power of two of them.
    shards: Box<[CachePadded<L>]>,
    quotas: Quotas,
}

impl<L: FromQuotas> Sharded<L> {
    /// A limiter that has accepted nothing, with a shard for each processor of this machine.
    ///
    /// # Errors
    /// [`BuildError`] if the algorithm cannot hold a shard's share of the quotas.
    pub fn new(quotas: impl Into<Quotas>) -> Result<Sharded<L>, BuildError> {
        Sharded::starting_at(quotas.into(), processors(), 0)
    }

    /// A limiter that has accepted nothing, with `shards` shards: rounded down to a power of two, at
    /// least one, and at most as many as the smallest limit has permits.
    ///
    /// # Errors
    /// [`BuildError`] if the algorithm cannot hold a shard's share of the quotas.
    pub fn with_shards(quotas: impl Into<Quotas>, shards: usize) -> Result<Sharded<L>, BuildError> {
        Sharded::starting_at(quotas.into(), shards, 0)
    }

    fn starting_at(quotas: Quotas, shards: usize, start: Nanos) -> Result<Sharded<L>, BuildError> {
        let smallest = quotas.iter().map(Quota::limit).min().unwrap_or(1);
        let most = usize::try_from(smallest).unwrap_or(usize::MAX);
        let shards = 1 << shards.min(most).max(1).ilog2();
        let shards = (0..shards)
            .map(|nth| {
                Ok(CachePadded::new(L::from_quotas(
                    &share(&quotas, nth, shards)?,
                    start,
                )?))
            })
            .collect::<Result<_, BuildError>>()?;
        Ok(Sharded { shards, quotas })
    }
}

/// The share of the `nth` of `shards` shards: the limits of all shards add up to the quotas' own.
fn share(quotas: &Quotas, nth: usize, shards: usize) -> Result<Quotas, BuildError> {
    let (nth, shards) = (nth as u64, shards as u64);
    let share = |quota: &Quota| {
        let limit = quota.limit() / shards + u64::from(nth < quota.limit() % shards);
        Quota::from_nanos(limit, quota.window(), quota.unit())
    };
    // A quota's window was checked when the quota was made.
    Quotas::new(quotas.iter().filter_map(|quota| share(quota).ok()))
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl<L> Sharded<L> {
    /// The number of shards.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// The shards, the calling thread's own first.
    #[inline]
    fn own_first(&self) -> impl Iterator<Item = &L> {
        // A thread that is ending has no number any more.
        let thread = THREAD.try_with(|thread| *thread).unwrap_or(0);
        self.from(thread)
    }

    /// The shards, the one of that number first.
    #[inline]
    fn from(&self, thread: usize) -> impl Iterator<Item = &L> {
        let (before, from) = self.shards.split_at(thread & (self.shards.len() - 1));
        from.iter().chain(before).map(|shard| &**shard)
    }
}

impl<L: RateLimiter> Sharded<L> {
    #[inline]
    fn decide<'l>(
        &'l self,
        shards: impl Iterator<Item = &'l L>,
        now: Nanos,
        cost: Cost,
    ) -> Result<Decision, RequestError> {
        let mut refused = Refused::default();
        for shard in shards {
            if let Some(allowed) = refused.or_allowed(shard.decide_at(now, cost))? {
                return Ok(allowed);
            }
        }
        refused.answer(&self.quotas, cost)
    }

    /// Decides by `decide`, which charges or peeks, and adds what is left in the shard that has
    /// most.
    fn detailed(
        &self,
        now: Nanos,
        cost: Cost,
        decide: impl Fn(&L) -> Result<Detailed, RequestError>,
    ) -> Result<Detailed, RequestError> {
        let (mut refused, mut decision, mut left) = (Refused::default(), None, Left::default());
        for shard in self.own_first() {
            if decision.is_none() {
                let detailed = decide(shard);
                let told = detailed
                    .as_ref()
                    .map(Detailed::decision)
                    .map_err(|error| *error);
                decision = refused.or_allowed(told)?;
                if let Ok(detailed) = detailed {
                    left.take(&self.quotas, detailed.remaining_per_quota().iter().copied());
                    continue;
                }
            }
            // What a request of 1 would leave, and its 1 if it would be allowed.
            let peeked = shard.peek_at(now, Cost::ONE)?;
            let one = u64::from(peeked.is_allowed());
            left.take(
                &self.quotas,
                peeked.remaining_per_quota().iter().map(|left| left + one),
            );
        }
        let decision = match decision {
            Some(allowed) => allowed,
            None => refused.answer(&self.quotas, cost)?,
        };
        Ok(Detailed::new(decision, &self.quotas, left.most))
    }
}

/// What the shards that refused have said.
#[derive(Default)]
struct Refused {
    denial: Option<Denial>,
    /// Of shards in which the cost can never fit, the one that comes nearest.
    unfit: Option<RequestError>,
}

impl Refused {
    /// The allowance, if it is one; otherwise keeps what was said.
    #[inline]
    fn or_allowed(
        &mut self,
        decided: Result<Decision, RequestError>,
    ) -> Result<Option<Decision>, RequestError> {
        match decided {
            Ok(allowed @ Decision::Allowed { .. }) => return Ok(Some(allowed)),
            Ok(Decision::Denied(denial)) => self.denial = Some(sooner(self.denial, denial)),
            // The first shards have the largest shares.
            Err(unfit @ RequestError::NeverFits { .. }) => {
                if self.unfit.is_none_or(|kept| limit(kept) < limit(unfit)) {
                    self.unfit = Some(unfit);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// What all shards say together.
    fn answer(self, quotas: &Quotas, cost: Cost) -> Result<Decision, RequestError> {
        match (self.denial, self.unfit) {
            (Some(denial), _) => Ok(Decision::Denied(denial)),
            (None, Some(unfit)) => quotas.check_cost(cost).and(Err(unfit)),
            // There is at least one shard, and it has said something.
            (None, None) => Ok(Decision::Denied(Denial::new(0, None))),
        }
    }
}

fn limit(error: RequestError) -> u64 {
    match error {
        RequestError::NeverFits { limit, .. } => limit,
        _ => 0,
    }
}

/// Of two denials, the one that ends sooner: any shard can serve.
fn sooner(kept: Option<Denial>, next: Denial) -> Denial {
    let wait = |denial: Denial| denial.retry_after_nanos().unwrap_or(Nanos::MAX);
    match kept {
        Some(kept) if wait(kept) <= wait(next) => kept,
        _ => next,
    }
}

/// What is left in the shard that can take the largest cost.
#[derive(Default)]
struct Left {
    most: PerQuota,
}

impl Left {
    fn take(&mut self, quotas: &Quotas, left: impl Iterator<Item = u64>) {
        let left: PerQuota = left.collect();
        if self.most.is_empty() || quotas.largest_cost(&left) > quotas.largest_cost(&self.most) {
            self.most = left;
        }
    }
}

impl<L: RateLimiter> RateLimiter for Sharded<L> {
    fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    #[inline]
    fn quota(&self, index: usize) -> Quota {
        self.quotas[index]
    }

    #[inline]
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.decide(self.own_first(), now, cost)
    }

    /// What remains is that of the shard that can take the largest cost, so it is less than what is
    /// left of the quota.
    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.detailed(now, cost, |shard| shard.decide_detailed_at(now, cost))
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.detailed(now, cost, |shard| shard.peek_at(now, cost))
    }

    /// One shard after the other.
    fn reset(&self) {
        self.shards.iter().for_each(|shard| shard.reset());
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.shards.iter().all(|shard| shard.is_idle_at(now))
    }
}

impl<L: FromQuotas> FromQuotas for Sharded<L> {
    const NAME: &'static str = "sharded";

    fn from_quotas(quotas: &Quotas, start: Nanos) -> Result<Self, BuildError> {
        Sharded::starting_at(quotas.clone(), processors(), start)
    }
}

impl<L> fmt::Debug for Sharded<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharded")
            .field("quotas", &self.quotas)
            .field("shards", &self.shards())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use windowpane_cas_ring::CasRing;
    use windowpane_mutex_log::MutexLog;

    use super::*;

    proptest! {
        /// One quota, costs of 1, calls one after the other from any threads: as one limiter.
        #[test]
        fn one_call_after_the_other_is_decided_as_by_the_log(
            limit in 0..12_u64, shards in 1..9_usize,
            calls in prop::collection::vec((0..40_u64, 0..16_usize), 1..200),
        ) {
            let quotas = Quotas::from(Quota::from_nanos(limit, 100, Default::default()).unwrap());
            let sharded = Sharded::<CasRing>::with_shards(quotas.clone(), shards).unwrap();
            let log = <MutexLog>::new(quotas);
            let mut now = 0;
            for (later, thread) in calls {
                now += later;
                let decided = sharded.decide(sharded.from(thread), now, Cost::ONE);
                prop_assert_eq!(decided, log.decide_at(now, Cost::ONE));
            }
        }

        /// Several quotas, any cost: what is allowed never exceeds a quota, and a denial tells a wait
        /// after which the request is allowed.
        #[test]
        fn no_quota_is_exceeded_and_the_wait_is_enough(
            limits in (1..20_u64, 1..20_u64), shards in 1..9_usize,
            calls in prop::collection::vec((0..40_u64, 0..16_usize, 1..4_u64), 1..100),
        ) {
            let quota = |limit, window| Quota::from_nanos(limit, window, Default::default()).unwrap();
            let quotas = Quotas::new([quota(limits.0, 100), quota(limits.1, 30)]).unwrap();
            let sharded = Sharded::<CasRing>::with_shards(quotas.clone(), shards).unwrap();
            let (mut now, mut accepted) = (0, Vec::new());
            for (later, thread, cost) in calls {
                now += later;
                let cost = Cost::new(cost).unwrap();
                let decided = sharded.decide(sharded.from(thread), now, cost);
                if let Ok(Decision::Allowed { at }) = decided {
                    accepted.push((at, cost.get()));
                }
                if let Ok(Decision::Denied(denial)) = decided {
                    let later = now + denial.retry_after_nanos().unwrap();
                    prop_assert!(sharded.peek_at(later, cost).unwrap().is_allowed());
                    prop_assert!(!sharded.peek_at(later - 1, cost).unwrap().is_allowed());
                }
                for quota in quotas.iter() {
                    let inside = accepted.iter().filter(|(at, _)| at + quota.window() > now);
                    prop_assert!(inside.map(|(_, cost)| cost).sum::<u64>() <= quota.limit());
                }
            }
        }

        #[test]
        fn shares_add_up_to_the_limit(limit: u64, shards in 1..300_usize) {
            let quotas = Quotas::from(Quota::from_nanos(limit, 1, Default::default()).unwrap());
            let share = |nth| share(&quotas, nth, shards).unwrap()[0].limit();
            prop_assert_eq!((0..shards).map(share).sum::<u64>(), limit);
        }
    }

    #[test]
    fn shards_are_a_power_of_two_and_no_more_than_permits() {
        let shards = |limit, asked| {
            let quotas = Quotas::from(Quota::from_nanos(limit, 1, Default::default()).unwrap());
            Sharded::<CasRing>::with_shards(quotas, asked)
                .unwrap()
                .shards()
        };
        assert_eq!([shards(100, 0), shards(100, 7), shards(100, 8)], [1, 4, 8]);
        assert_eq!([shards(0, 8), shards(1, 8), shards(7, 8)], [1, 1, 4]);
    }

    #[test]
    fn a_cost_above_the_largest_share_never_fits_and_the_error_has_that_share() {
        let sharded = Sharded::<CasRing>::with_shards(Quotas::parse("10/1s").unwrap(), 4).unwrap();
        let limit_in = |cost| match sharded.decide_at(0, Cost::new(cost).unwrap()) {
            Err(RequestError::NeverFits { limit, .. }) => limit,
            other => panic!("{other:?}"),
        };
        assert_eq!([limit_in(4), limit_in(11)], [3, 10]);
        assert!(
            sharded
                .decide_at(0, Cost::new(3).unwrap())
                .unwrap()
                .is_allowed()
        );
    }

    #[test]
    fn what_remains_is_that_of_the_shard_with_most() {
        let sharded = Sharded::<CasRing>::with_shards(Quotas::parse("8/1s").unwrap(), 4).unwrap();
        let three_used: Vec<u64> = (0..9)
            .map(|_| {
                sharded
                    .decide_detailed_at(0, Cost::ONE)
                    .unwrap()
                    .remaining()
            })
            .collect();
        assert_eq!(three_used, [2, 2, 2, 2, 2, 2, 1, 0, 0]);
        sharded.reset();
        assert_eq!(sharded.peek_at(0, Cost::ONE).unwrap().remaining(), 2);
        assert!(sharded.is_idle_at(0));
    }

    /// Eight threads hammer: no window of what was accepted holds more than the limit.
    #[test]
    fn threads_together_never_exceed_the_quota() {
        let (limit, window) = (64, 1_000_000);
        let quotas = Quotas::from(Quota::from_nanos(limit, window, Default::default()).unwrap());
        let sharded = Sharded::<CasRing>::with_shards(quotas, 4).unwrap();
        let opened = std::time::Instant::now();
        let mut accepted = std::thread::scope(|scope| {
            let hammer = || {
                let decide = |_| {
                    let now = opened.elapsed().as_nanos() as u64;
                    match sharded.decide_at(now, Cost::ONE) {
                        Ok(Decision::Allowed { at }) => Some(at),
                        _ => None,
                    }
                };
                (0..50_000).filter_map(decide).collect::<Vec<_>>()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(hammer)).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect::<Vec<Nanos>>()
        });
        accepted.sort_unstable();
        assert!(accepted.len() >= limit as usize);
        for pair in accepted.windows(limit as usize + 1) {
            assert!(pair[limit as usize] - pair[0] >= window, "{pair:?}");
        }
    }
}
