//! The log behind its lock.

use std::fmt;

use windowpane_core::{
    BuildError, ChangeQuotas, Clock, Cost, Decision, Detailed, FromQuotas, Nanos, PerQuota, Quota,
    Quotas, RateLimiter, RequestError, Settle,
};

use crate::lock::{Lock, LockKind, StdMutex};
use crate::log::{Entry, Log};

/// What a time before the latest recorded one means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnRegression {
    /// It is read as the latest recorded time. Only accepted requests record a time.
    #[default]
    Clamp,
    /// It is an error that changes nothing. Every valid call, denied or not, records its time.
    Reject,
}

/// An exact sliding-window limiter: a mutex around a deque of what was accepted.
///
/// It takes any number of quotas, of permits and of requests, and any cost. Memory: 16 bytes for
/// each accepted request inside the longest window when one was last accepted, and the deque's spare
/// room. A decision is amortized O(1) while times do not go to and fro; a denial adds the entries
/// that it waits for. It is linearized inside the lock, where the clock
/// is read too ([`decide_with`](RateLimiter::decide_with)): the order of the lock and the order
/// of the times are one.
///
/// ```
/// use windowpane_core::{Cost, Quotas, RateLimiter};
/// use windowpane_mutex_log::MutexLog;
///
/// let log = <MutexLog>::new(Quotas::parse(["2/10s"])?);
/// let second = 1_000_000_000;
/// assert!(log.decide_at(0, Cost::ONE)?.is_allowed());
/// assert!(log.decide_at(4 * second, Cost::ONE)?.is_allowed());
/// let denied = log.decide_at(9 * second, Cost::ONE)?;
/// assert_eq!(denied.retry_after().unwrap().as_secs(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MutexLog<K: LockKind = StdMutex> {
    quotas: Quotas,
    on_regression: OnRegression,
    log: K::Lock<Log>,
}

impl<K: LockKind> MutexLog<K> {
    /// A log that has accepted nothing and clamps times that step back.
    pub fn new(quotas: impl Into<Quotas>) -> Self {
        Self::with_regression(quotas, OnRegression::Clamp)
    }

    /// A log that has accepted nothing.
    pub fn with_regression(quotas: impl Into<Quotas>, on_regression: OnRegression) -> Self {
        let quotas = quotas.into();
        MutexLog {
            on_regression,
            log: Lock::new(Log::new(&quotas)),
            quotas,
        }
    }

    /// A copy of what was accepted and not yet dropped, oldest first.
    pub fn snapshot(&self) -> Vec<Entry> {
        self.log.with(|log| log.entries().collect())
    }

    /// Records a request without asking whether it fits, and answers what is used of each quota
    /// right after it, which can be more than the limit.
    ///
    /// This is how the laboratory lets the exact log judge another limiter: it feeds the log what
    /// the other accepted. A time before the latest recorded one is read as that one.
    pub fn record_at(&self, now: Nanos, cost: Cost) -> PerQuota {
        self.log.with(|log| {
            let t = now.max(log.latest());
            log.seek(&self.quotas, t);
            log.prune(t);
            log.record(&self.quotas, t, cost);
            log.used()
        })
    }

    /// The time a call at `now` counts as.
    fn effective(&self, log: &Log, now: Nanos) -> Result<Nanos, RequestError> {
        let latest = log.latest();
        match self.on_regression {
            OnRegression::Reject if now < latest => {
                Err(RequestError::ClockWentBack { now, latest })
            }
            _ => Ok(now.max(latest)),
        }
    }

    /// Decides and, if allowed, charges; `then` sees the log right after, at the same instant.
    fn decide<R>(
        &self,
        clock: impl FnOnce() -> Nanos,
        cost: Cost,
        then: impl FnOnce(&Log, Decision) -> R,
    ) -> Result<R, RequestError> {
        self.quotas.check_cost(cost)?;
        self.log.with(|log| {
            let now = clock();
            let t = self.effective(log, now)?;
            log.seek(&self.quotas, t);
            let decision = match log.denial(&self.quotas, now, cost) {
                Some(denied) => {
                    // A denial records nothing, so it must not prune either: an earlier time may
                    // follow and would find room that its window does not have. Where earlier
                    // times are rejected, pruning is safe.
                    if self.on_regression == OnRegression::Reject {
                        log.prune(t);
                    }
                    Decision::Denied(denied)
                }
                None => {
                    log.prune(t);
                    log.record(&self.quotas, t, cost);
                    Decision::Allowed { at: t }
                }
            };
            Ok(then(log, decision))
        })
    }

    fn decide_detailed(
        &self,
        clock: impl FnOnce() -> Nanos,
        cost: Cost,
    ) -> Result<Detailed, RequestError> {
        self.decide(clock, cost, |log, decision| {
            Detailed::new(decision, &self.quotas, log.remaining(&self.quotas))
        })
    }

    fn look(&self, clock: impl FnOnce() -> Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.quotas.check_cost(cost)?;
        self.log.with(|log| {
            let now = clock();
            let t = self.effective(log, now)?;
            log.seek(&self.quotas, t);
            let mut left = log.remaining(&self.quotas);
            let decision = match log.denial(&self.quotas, now, cost) {
                Some(denied) => Decision::Denied(denied),
                None => {
                    for (left, quota) in left.iter_mut().zip(self.quotas.iter()) {
                        *left -= quota.charge(cost);
                    }
                    Decision::Allowed { at: t }
                }
            };
            Ok(Detailed::new(decision, &self.quotas, left))
        })
    }
}

impl<K: LockKind> FromQuotas for MutexLog<K> {
    const NAME: &'static str = "mutex-log";

    fn from_quotas(quotas: &Quotas, _start: Nanos) -> Result<Self, BuildError> {
        Ok(Self::new(quotas.clone()))
    }
}

impl<K: LockKind> RateLimiter for MutexLog<K> {
    fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    #[inline]
    fn quota(&self, index: usize) -> Quota {
        self.quotas[index]
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.decide(|| now, cost, |_, decision| decision)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.decide_detailed(|| now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.look(|| now, cost)
    }

    fn reset(&self) {
        self.log.with(|log| *log = Log::new(&self.quotas));
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.log
            .with(|log| log.is_idle(&self.quotas, now.max(log.latest())))
    }

    #[inline]
    fn decide_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Decision, RequestError> {
        self.decide(|| clock.now(), cost, |_, decision| decision)
    }

    #[inline]
    fn decide_detailed_with<C: Clock>(
        &self,
        clock: &C,
        cost: Cost,
    ) -> Result<Detailed, RequestError> {
        self.decide_detailed(|| clock.now(), cost)
    }

    #[inline]
    fn peek_with<C: Clock>(&self, clock: &C, cost: Cost) -> Result<Detailed, RequestError> {
        self.look(|| clock.now(), cost)
    }
}

/// Exact. A charge is found by its time and estimate, so one that a [`reset`](RateLimiter::reset) or
/// an expired window has dropped is left alone; one made again at the same time for the same estimate
/// looks the same.
impl<K: LockKind> Settle for MutexLog<K> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        self.log
            .with(|log| log.settle(&self.quotas, at, estimate, actual));
    }

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        self.log.with(|log| log.cancel(&self.quotas, at, cost));
    }
}

/// Exact; any quotas do. O(n) for n entries. A request whose cost was settled to 0 while no quota
/// counted requests is forgotten, and a quota of requests put in force later does not count it.
impl<K: LockKind> ChangeQuotas for MutexLog<K> {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        self.log
            .with(|log| log.change(&self.quotas, quotas, now.max(log.latest())));
        self.quotas = quotas.clone();
        Ok(())
    }
}

impl<K: LockKind> fmt::Debug for MutexLog<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MutexLog")
            .field("quotas", &self.quotas)
            .field("on_regression", &self.on_regression)
            .finish_non_exhaustive()
    }
}
