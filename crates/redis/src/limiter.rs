//! A limiter whose keys are in a store.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, RwLock};

use redis::Cmd;
use tokio::time::Instant;
use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, Charge, Cost, Nanos, Quotas, StoreError,
};

use crate::algorithm::{Algorithm, LARGEST_COUNT, Plan, Settles};
use crate::counters::{LimiterCounters, LimiterCounts};
use crate::deny_cache::DenyCache;
use crate::error::ConfigError;
use crate::policy::WhenUnavailable;
use crate::reply;
use crate::store::{Failure, Store};

/// How many denied keys a limiter remembers unless said.
pub const DENY_CACHE: usize = 10_000;

/// A rate limiter whose keys are in a [`Store`], so that every machine that shares the store shares
/// the quotas: [`Log`](crate::Log), [`TwoCounter`](crate::TwoCounter) or [`Gcra`](crate::Gcra).
///
/// One round trip a decision, by the server's clock; none for a denial that the [deny
/// cache](Self::deny_cache) knows. Clones share everything.
///
/// ```no_run
/// use windowpane_core::{AsyncKeyedRateLimiter, Cost, Quotas};
/// use windowpane_redis::{Log, RedisLimiter, Store};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::at("redis://127.0.0.1:6379")?.connect().await?;
/// let limiter = RedisLimiter::<Log>::new(store, Quotas::parse(["100/60s", "10/1s"])?)?;
/// let answer = limiter.acquire_detailed("alice", Cost::ONE).await?;
/// if let Some(wait) = answer.detailed.decision().retry_after() {
///     println!("come back in {wait:?}");
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
    prefix: String,
    plan: RwLock<Arc<Plan>>,
    when_unavailable: WhenUnavailable,
    deny_cache: DenyCache,
    counters: LimiterCounters,
}

/// An answer, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that nobody reads limits nothing"]
pub struct Decided {
    /// The decision and what remains.
    pub answer: Answer,
    /// Who decided.
    pub by: By,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum By {
    /// The store.
    Store,
    /// The store, earlier: it had denied this cost, and not before a time that is not yet.
    DenyCache,
    /// The [policy](WhenUnavailable), because the store is unavailable.
    Policy {
        /// What happened.
        reason: String,
    },
}

impl<A: Algorithm> RedisLimiter<A> {
    /// A limiter of `quotas` for every key.
    ///
    /// # Errors
    /// [`ConfigError`] if the algorithm cannot hold the quotas; it says what can.
    pub fn new(store: Store, quotas: impl Into<Quotas>) -> Result<Self, ConfigError> {
        let plan = A::plan(quotas.into())?;
        Ok(Self::of(Inner {
            store,
            prefix: "windowpane".into(),
            plan: RwLock::new(Arc::new(plan)),
            when_unavailable: WhenUnavailable::default(),
            deny_cache: DenyCache::new(DENY_CACHE),
            counters: LimiterCounters::default(),
        }))
    }

    fn of(inner: Inner) -> Self {
        RedisLimiter {
            inner: Arc::new(inner),
            algorithm: PhantomData,
        }
    }

    /// The same before it is shared, with something changed.
    fn with(self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner =
            Arc::into_inner(self.inner).expect("a limiter is set up before it is cloned");
        change(&mut inner);
        Self::of(inner)
    }

    /// Keys are called `prefix:ALGORITHM:{KEY}`; the prefix is `windowpane` unless said. Limiters of
    /// one prefix and algorithm share what was accepted for a key, others share nothing.
    ///
    /// # Errors
    /// [`ConfigError::BraceInPrefix`]: braces mark what a cluster hashes, which is the key.
    ///
    /// # Panics
    /// If the limiter has been cloned.
    pub fn prefix(self, prefix: impl Into<String>) -> Result<Self, ConfigError> {
        let prefix = prefix.into();
        if prefix.contains(['{', '}']) {
            return Err(ConfigError::BraceInPrefix { prefix });
        }
        Ok(self.with(|inner| inner.prefix = prefix))
    }

    /// What to answer when the store is unavailable; [`WhenUnavailable::Tell`] unless said.
    ///
    /// # Panics
    /// If the limiter has been cloned.
    pub fn when_unavailable(self, policy: WhenUnavailable) -> Self {
        self.with(|inner| inner.when_unavailable = policy)
    }

    /// For how many keys to remember until when the store denies them: [`DENY_CACHE`] unless said, 0
    /// for none. A remembered denial costs no round trip. It is right unless room is made before its
    /// time, by another process that settles a charge at less than its estimate, resets the key or
    /// raises the limit: then the key is denied for as long as it was told.
    ///
    /// # Panics
    /// If the limiter has been cloned.
    pub fn deny_cache(self, keys: usize) -> Self {
        self.with(|inner| inner.deny_cache = DenyCache::new(keys))
    }

    /// Changes the quotas, from this process's next decision on; what was accepted is kept and
    /// counted under them. Processes with different quotas on the same keys decide each by its own.
    ///
    /// # Errors
    /// [`ConfigError`]; the old quotas hold on then.
    pub fn change_quotas(&self, quotas: impl Into<Quotas>) -> Result<(), ConfigError> {
        let plan = A::plan(quotas.into())?;
        let mut current = self.inner.plan.write().unwrap_or_else(|e| e.into_inner());
        // Under the lock: who reads the new plan finds no denial of the old one.
        self.inner.deny_cache.clear();
        *current = Arc::new(plan);
        Ok(())
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// What was answered.
    pub fn counts(&self) -> LimiterCounts {
        self.inner.counters.read()
    }

    /// The key in the store that holds what was accepted for `key`.
    pub fn key_in_store(&self, key: &str) -> String {
        format!("{}:{}:{{{key}}}", self.inner.prefix, A::NAME)
    }

    fn plan(&self) -> Arc<Plan> {
        let plan = self.inner.plan.read().unwrap_or_else(|e| e.into_inner());
        plan.clone()
    }

    /// Decides a request of `cost` for `key` now and, if it is allowed, charges it; and tells who
    /// decided.
    ///
    /// # Errors
    /// [`StoreError::Request`] for a cost that could never fit. [`StoreError::Unavailable`] if the
    /// policy is to tell; it is not known then whether it was charged.
    pub async fn decide(&self, key: &str, cost: Cost) -> Result<Decided, StoreError> {
        let started = Instant::now();
        let Inner {
            deny_cache,
            counters,
            ..
        } = &*self.inner;
        // Before the plan: what is denied under a plan that is changed meanwhile is of an epoch past.
        let epoch = deny_cache.epoch(key);
        let plan = self.plan();
        self.check(&plan, cost)?;
        if let Some(answer) = deny_cache.denial(key, cost, started.into_std(), &plan.quotas, epoch)
        {
            counters.denied_by_cache.add();
            return Ok(Decided {
                answer,
                by: By::DenyCache,
            });
        }
        let reason = match self.ask(false, key, cost, &plan, started).await {
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
        let retry_after = self.inner.store.retry_every().as_nanos() as Nanos;
        match self
            .inner
            .when_unavailable
            .answer(quotas, key, cost, retry_after)
        {
            Ok(answer) => {
                match answer.detailed.is_allowed() {
                    true => counters.allowed_by_policy.add(),
                    false => counters.denied_by_policy.add(),
                }
                let by = By::Policy { reason };
                Ok(Decided { answer, by })
            }
            Err(Some(error)) => Err(error),
            Err(None) => Err(StoreError::Unavailable { reason }),
        }
    }

    /// What a decision would be; it changes nothing and creates no key. The policy is not asked.
    ///
    /// # Errors
    /// [`StoreError::Request`], [`StoreError::Unavailable`].
    pub async fn peek(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        let plan = self.plan();
        self.check(&plan, cost)?;
        let answer = self.ask(true, key, cost, &plan, Instant::now()).await;
        Ok(answer?)
    }

    /// Forgets all that was accepted for `key`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: it is not known whether it was forgotten.
    pub async fn reset(&self, key: &str) -> Result<(), StoreError> {
        let mut command = redis::cmd("DEL");
        command.arg(self.key_in_store(key));
        let deleted = self.inner.store.command(&command, Instant::now()).await;
        self.inner.deny_cache.forget(key);
        deleted?;
        Ok(())
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
        let arguments = |command: &mut Cmd| plan.tell(command, cost, peek);
        let store = &self.inner.store;
        let value = store
            .run(A::decide(), key.as_bytes(), arguments, started)
            .await?;
        reply::answer(&value, &plan.quotas).ok_or_else(|| Failure {
            reason: format!("the script's answer is not one: {value:?}"),
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
    fn quotas(&self, _key: &str) -> Quotas {
        self.plan().quotas.clone()
    }

    /// [`decide`](RedisLimiter::decide), without who decided.
    async fn acquire_detailed(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        Ok(self.decide(key, cost).await?.answer)
    }
}

impl<A: Settles> AsyncKeyedSettle<str> for RedisLimiter<A> {
    async fn settle(&self, key: &str, charge: Charge, actual: u64) -> Result<(), StoreError> {
        let (at, estimate) = (charge.at() / 1_000, charge.estimate().get());
        let plan = self.plan();
        let of_requests = |q: &windowpane_core::Quota| q.unit() == windowpane_core::Unit::Requests;
        if plan.quotas.iter().all(of_requests) {
            // Requests are counted whatever they cost.
            return Ok(());
        }
        let arguments = |command: &mut Cmd| {
            command.arg(at).arg(estimate).arg(actual.min(LARGEST_COUNT));
        };
        let in_store = self.key_in_store(key);
        let store = &self.inner.store;
        let started = Instant::now();
        let found = store
            .run(A::settle(), in_store.as_bytes(), arguments, started)
            .await;
        if actual < estimate {
            self.inner.deny_cache.forget(key);
        }
        if found? == redis::Value::Int(1) {
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
