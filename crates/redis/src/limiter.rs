//! A limiter whose keys are in a store.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, RwLock};

use redis::Cmd;
use tokio::time::Instant;
use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, Charge, Cost, IntoQuotas, Nanos, Quotas,
    StoreError,
};

use crate::algorithm::{Algorithm, LARGEST_COUNT, Plan, Settles};
use crate::builder::Builder;
use crate::counters::{LimiterCounters, LimiterStats};
use crate::decided::{By, Decided};
use crate::deny_cache::DenyCache;
use crate::error::ConfigError;
use crate::policy::{ByPolicy, UNRECORDED, WhenUnavailable};
use crate::reply;
use crate::store::{Failure, Probe, Store};
use crate::tiers::Tiers;

/// A rate limiter whose keys are in a [`Store`], so that every machine that shares the store shares
/// the quotas. `A` is the algorithm: [`Log`](crate::Log), [`TwoCounter`](crate::TwoCounter) or
/// [`Gcra`](crate::Gcra).
///
/// A decision takes one round trip, by the server's clock. A denial that the [deny
/// cache](Builder::deny_cache) holds takes none. Clones share everything.
///
/// ```no_run
/// use windowpane_redis::{Log, RedisLimiter, Store};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::at("redis://127.0.0.1:6379")?.connect().await?;
/// let limiter = RedisLimiter::<Log>::new(store, "100/60s, 10/1s")?;
/// match limiter.try_acquire("alice").await {
///     Ok(_) => println!("allowed"),
///     Err(error) => println!("{error}"),
/// }
/// # Ok(())
/// # }
/// ```
pub struct RedisLimiter<A> {
    inner: Arc<Inner>,
    algorithm: PhantomData<fn() -> A>,
}

struct Inner {
    store: Store,
    /// What the server lets this limiter run.
    probe: Arc<Probe>,
    prefix: String,
    plan: RwLock<Arc<Plan>>,
    tiers: Tiers,
    when_unavailable: WhenUnavailable,
    deny_cache: DenyCache,
    counters: LimiterCounters,
}

impl<A: Algorithm> RedisLimiter<A> {
    /// A limiter of `quotas` for every key, with the default options.
    ///
    /// # Errors
    /// [`ConfigError`] if the algorithm cannot hold the quotas; it names what can.
    pub fn new(store: Store, quotas: impl IntoQuotas) -> Result<Self, ConfigError> {
        Self::builder(store, quotas).build()
    }

    /// The options of a limiter of `quotas` for every key.
    ///
    /// ```no_run
    /// use windowpane_redis::{Log, RedisLimiter, Store, WhenUnavailable};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = Store::at("redis://127.0.0.1:6379")?.connect().await?;
    /// let limiter = RedisLimiter::<Log>::builder(store, "100/60s, 10/1s")
    ///     .prefix("login")
    ///     .when_unavailable(WhenUnavailable::Deny)
    ///     .deny_cache(1_000)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(store: Store, quotas: impl IntoQuotas) -> Builder<A> {
        Builder::new(store, quotas)
    }

    pub(crate) fn of(
        store: Store,
        prefix: String,
        plan: Plan,
        tiers: Tiers,
        when_unavailable: WhenUnavailable,
        deny_cache: DenyCache,
    ) -> Self {
        let probe = Probe::new(A::probe(), format!("{prefix}:{}:probe", A::NAME));
        RedisLimiter {
            inner: Arc::new(Inner {
                probe: store.add_probe(probe),
                store,
                prefix,
                plan: RwLock::new(Arc::new(plan)),
                tiers,
                when_unavailable,
                deny_cache,
                counters: LimiterCounters::default(),
            }),
            algorithm: PhantomData,
        }
    }

    /// Changes the quotas of every key without a [tier](Builder::tiers), from this process's next
    /// decision on. What was accepted is kept and counts
    /// against the new quotas. Processes with different quotas on the same keys each decide by their
    /// own.
    ///
    /// # Errors
    /// [`ConfigError`]; the old quotas stay in force then.
    pub fn change_quotas(&self, quotas: impl IntoQuotas) -> Result<(), ConfigError> {
        let plan = A::plan(quotas.into_quotas()?)?;
        let mut current = self.inner.plan.write().unwrap_or_else(|e| e.into_inner());
        // Under the lock: a call that reads the new plan finds no denial of the old one.
        self.inner.deny_cache.clear();
        *current = Arc::new(plan);
        Ok(())
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns the counts of decisions since the limiter was made. O(1).
    pub fn stats(&self) -> LimiterStats {
        self.inner.counters.read()
    }

    /// Returns the name of the key in the store that holds what was accepted for `key`.
    pub fn key_in_store(&self, key: &str) -> String {
        format!("{}:{}:{{{key}}}", self.inner.prefix, A::NAME)
    }

    /// The quotas of `key`.
    pub(crate) fn plan_for(&self, key: &str) -> Arc<Plan> {
        let tier = self.inner.tiers.of(key);
        tier.cloned().unwrap_or_else(|| self.plan())
    }

    /// The quotas of every key without a tier.
    pub(crate) fn plan(&self) -> Arc<Plan> {
        let plan = self.inner.plan.read().unwrap_or_else(|e| e.into_inner());
        plan.clone()
    }

    /// Decides a request of `cost` for `key` now, charges it if it is allowed, and returns what made
    /// the decision. The decision is a value, and `Ok` also when the request is denied: for middleware
    /// that answers each case by itself.
    ///
    /// # Errors
    /// [`StoreError::Request`] for a cost that could never fit. [`StoreError::Unavailable`] if the
    /// policy is [`WhenUnavailable::Error`]; it is unknown then whether the request was charged.
    pub async fn decide(&self, key: &str, cost: Cost) -> Result<Decided, StoreError> {
        let (epoch, plan) = self.plan_of(key);
        self.decide_by(&plan, epoch, key, cost).await
    }

    /// The plan, and the epoch of the deny cache that goes with it.
    pub(crate) fn plan_of(&self, key: &str) -> (u64, Arc<Plan>) {
        // Before the plan: what is denied under a plan that is changed meanwhile is of an epoch past.
        let epoch = self.inner.deny_cache.epoch(key);
        (epoch, self.plan_for(key))
    }

    /// [`decide`](Self::decide) by `plan`, read together with `epoch`.
    pub(crate) async fn decide_by(
        &self,
        plan: &Plan,
        epoch: u64,
        key: &str,
        cost: Cost,
    ) -> Result<Decided, StoreError> {
        // Calls that end without the store never wait. In a loop they would starve other tasks.
        tokio::task::consume_budget().await;
        let started = Instant::now();
        let Inner {
            deny_cache,
            counters,
            ..
        } = &*self.inner;
        self.check(plan, cost)?;
        if let Some(answer) = deny_cache.denial(key, cost, started.into_std(), &plan.quotas, epoch)
        {
            counters.denied_by_cache.add();
            return Ok(Decided {
                answer,
                by: By::DenyCache,
            });
        }
        let reason = match self.ask(false, key, cost, plan, started).await {
            Ok(answer) => {
                match answer.detailed.is_allowed() {
                    true => counters.allowed.add(),
                    false => {
                        counters.denied.add();
                        let answered = std::time::Instant::now();
                        deny_cache.remember(
                            key,
                            cost,
                            &answer,
                            started.into_std(),
                            answered,
                            epoch,
                        );
                    }
                }
                return Ok(Decided {
                    answer,
                    by: By::Store,
                });
            }
            Err(failure) => failure.reason,
        };
        counters.unavailable.add();
        self.by_policy(&plan.quotas, key, cost, reason)
    }

    fn by_policy(
        &self,
        quotas: &Quotas,
        key: &str,
        cost: Cost,
        reason: String,
    ) -> Result<Decided, StoreError> {
        let counters = &self.inner.counters;
        let retry_after = self.inner.store.retry_after().as_nanos() as Nanos;
        match self
            .inner
            .when_unavailable
            .decide(quotas, key, cost, retry_after)
        {
            Ok(ByPolicy { answer, by_quota }) => {
                match answer.detailed.is_allowed() {
                    true => counters.allowed_by_policy.add(),
                    false => counters.denied_by_policy.add(),
                }
                let by = By::Policy { reason, by_quota };
                Ok(Decided { answer, by })
            }
            Err(Some(error)) => Err(error),
            Err(None) => Err(StoreError::Unavailable { reason }),
        }
    }

    /// Returns what [`decide`](Self::decide) would return if the store is reached. It changes nothing,
    /// creates no key and asks no policy.
    ///
    /// # Errors
    /// [`StoreError::Request`], [`StoreError::Unavailable`].
    pub async fn peek_detailed(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        self.peek_by(&self.plan_for(key), key, cost).await
    }

    pub(crate) async fn peek_by(
        &self,
        plan: &Plan,
        key: &str,
        cost: Cost,
    ) -> Result<Answer, StoreError> {
        self.check(plan, cost)?;
        let answer = self.ask(true, key, cost, plan, Instant::now()).await;
        Ok(answer?)
    }

    pub(crate) async fn forget(&self, key: &str) -> Result<(), Failure> {
        let mut command = redis::cmd("DEL");
        command.arg(self.key_in_store(key));
        let _forgets = self.inner.deny_cache.forget_at_end(key);
        let deleted = self.inner.store.command(&command, Instant::now()).await;
        deleted.map(drop)
    }

    fn check(&self, plan: &Plan, cost: Cost) -> Result<(), StoreError> {
        plan.quotas.check_cost(cost).map_err(|error| {
            self.inner.counters.never_fits.add();
            error.into()
        })
    }

    async fn ask(
        &self,
        peek: bool,
        key: &str,
        cost: Cost,
        plan: &Plan,
        started: Instant,
    ) -> Result<Answer, Failure> {
        let key = self.key_in_store(key);
        let arguments = |command: &mut Cmd| plan.add_arguments(command, cost, peek);
        let store = &self.inner.store;
        if let Some(reason) = self.inner.probe.refused() {
            return Err(store.not_sent(&reason));
        }
        let value = store
            .run(A::decide(), key.as_bytes(), arguments, started)
            .await?;
        reply::answer(&value, &plan.quotas).ok_or_else(|| Failure {
            reason: format!("unexpected answer of the script: {value:?}"),
        })
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        StoreError::Unavailable {
            reason: failure.reason,
        }
    }
}

impl<A> Clone for RedisLimiter<A> {
    fn clone(&self) -> Self {
        RedisLimiter {
            inner: self.inner.clone(),
            algorithm: PhantomData,
        }
    }
}

impl<A: Algorithm> AsyncKeyedRateLimiter<str> for RedisLimiter<A> {
    fn quotas(&self, key: &str) -> Quotas {
        self.plan_for(key).quotas.clone()
    }

    /// [`decide`](RedisLimiter::decide), without what made the decision.
    async fn decide_detailed(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        Ok(self.decide(key, cost).await?.answer)
    }
}

impl<A: Settles> AsyncKeyedSettle<str> for RedisLimiter<A> {
    async fn settle(&self, key: &str, charge: Charge, actual: u64) -> Result<(), StoreError> {
        let (at, estimate) = (charge.at() / 1_000, charge.estimate().get());
        let plan = self.plan_for(key);
        if charge.at() == UNRECORDED {
            // The store has no record to replace.
            return Ok(());
        }
        let of_requests = |q: &windowpane_core::Quota| q.unit() == windowpane_core::Unit::Requests;
        if plan.quotas.iter().all(of_requests) {
            // A request counts as one whatever it cost.
            return Ok(());
        }
        let arguments = |command: &mut Cmd| {
            command.arg(at).arg(estimate).arg(actual.min(LARGEST_COUNT));
        };
        let in_store = self.key_in_store(key);
        let store = &self.inner.store;
        let started = Instant::now();
        let frees = actual < estimate;
        let _forgets = frees.then(|| self.inner.deny_cache.forget_at_end(key));
        let found = store
            .run(A::settle(), in_store.as_bytes(), arguments, started)
            .await?;
        if found == redis::Value::Int(1) {
            self.inner.counters.settled.add();
        }
        Ok(())
    }
}

impl<A: Algorithm> fmt::Debug for RedisLimiter<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLimiter")
            .field("algorithm", &A::NAME)
            .field("quotas", &self.plan().quotas)
            .field("prefix", &self.inner.prefix)
            .field("store", &self.inner.store)
            .finish_non_exhaustive()
    }
}
