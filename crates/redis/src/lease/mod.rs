//! Leases: batches of permits that a process takes in one call and spends on its own.
//!
//! A process takes `b` permits for a time, the *life*, and spends them only before the life is over
//! by its own monotonic clock, read before the request was sent. So all of them are spent in
//! `[g, g + life)` if the server granted them at `g`. They are charged as of `g + life`, later than
//! any of them can be spent: in the log that is a charge at `g` under a window longer by the life.
//!
//! **No window holds more than the limit.** Take any window `(t - W, t]`, and of the leases of which
//! something is spent in it the one granted last, at `g <= t`. Each of the others was spent in part
//! after `t - W`, so its end, `g' + life`, is after `t - W >= g - W`. So the server still counted it
//! at `g`, and all of them together are at most the limit. It does not matter which process died,
//! slept or was cut off: what it did not return is counted, spent or not.
//!
//! **The price** is that permits come back up to one life late: over a long time at least
//! `W / (W + life)` of the limit is allowed, less what processes hold and do not spend. A scheme in
//! which the server learns nothing between the grant and the end of a lease cannot do without: it
//! must count each permit as if it were spent at the last possible moment.

mod slot;

#[cfg(test)]
mod model;

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use windowpane_core::{AcquireError, Allowed, IntoQuotas, Nanos, Quota, Quotas, Unit};

use crate::algorithm::Log;
use crate::decided::By;
use crate::error::ConfigError;
use crate::limiter::RedisLimiter;
use crate::store::Store;
use slot::{MOST, Slot};

/// A limiter for keys so hot that not every request can be a call.
///
/// All processes that share a key must use leases of the same quotas and life.
#[derive(Clone, Debug)]
pub struct Leases {
    limiter: RedisLimiter<Log>,
    life: Duration,
    /// The most permits of one lease: an eighth of the smallest limit, so that an idle process
    /// holds little.
    most: u64,
}

/// A future whose type is forgotten.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A key of [`Leases`]. Clones share its lease, and a process should have one for each key.
#[derive(Clone, Debug)]
pub struct Leased(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    leases: Leases,
    key: String,
    opened: Instant,
    slot: Slot,
    renewal: Mutex<Renewal>,
    spent: AtomicU64,
    calls: AtomicU64,
}

/// What is known of the lease, for those who renew it.
#[derive(Debug)]
struct Renewal {
    lease: Option<Lease>,
    /// The size of the next batch.
    batch: u64,
    /// Whether a task waits for the end of the lease.
    is_kept: bool,
    denied: Option<DeniedFor>,
}

/// The last denial, which holds for a while without another call: a quarter of a life at most, because
/// other processes return permits.
#[derive(Debug)]
struct DeniedFor {
    cost: u64,
    until: Nanos,
    error: AcquireError,
}

#[derive(Debug)]
struct Lease {
    charge: Allowed,
    batch: u64,
    end: Nanos,
}

impl Leases {
    /// Leases of `quotas`, of permits, which live for `life`: a longer life means fewer calls, and
    /// permits that come back later. A twentieth of the window is a good choice; 10 ms at least.
    ///
    /// # Errors
    /// [`ConfigError::Lease`] for quotas of requests, for a limit that is 0 and for a life that is
    /// shorter than 10 ms or longer than a window.
    pub fn new(
        store: Store,
        quotas: impl IntoQuotas,
        life: Duration,
    ) -> Result<Leases, ConfigError> {
        let quotas = quotas.into_quotas()?;
        let nanos = u64::try_from(life.as_nanos()).unwrap_or(u64::MAX);
        let shortest = quotas.iter().map(Quota::window).min().unwrap_or(0);
        let wrong = |reason| Err(ConfigError::Lease { reason });
        if quotas.iter().any(|quota| quota.unit() == Unit::Requests) {
            return wrong("a quota counts requests, and a lease is a batch of permits");
        }
        if quotas.iter().any(|quota| quota.limit() == 0) {
            return wrong("a limit is 0, so nothing can be leased");
        }
        if nanos < 10_000_000 || nanos > shortest {
            return wrong("the life is shorter than 10 ms or longer than a window");
        }
        // Whole microseconds, rounded up: counted for longer, never for less.
        let life_of_charge = nanos.div_ceil(1_000) * 1_000;
        let longer = quotas.iter().map(|quota| {
            Quota::from_nanos(quota.limit(), quota.window() + life_of_charge, quota.unit())
        });
        let Ok(longer) = longer.collect::<Result<Vec<_>, _>>() else {
            return wrong("a window and the life together are longer than 365 days");
        };
        let longer = Quotas::new(longer)?;
        let least = quotas.iter().map(Quota::limit).min().unwrap_or(1);
        let limiter = RedisLimiter::builder(store, longer)
            .prefix("windowpane-lease")
            // Other processes return permits all the time, which it would not see.
            .deny_cache(0)
            .build()?;
        Ok(Leases {
            limiter,
            life,
            most: (least / 8).clamp(1, MOST),
        })
    }

    /// Returns a key, without a lease yet.
    pub fn of(&self, key: impl Into<String>) -> Leased {
        Leased(Arc::new(Inner {
            leases: self.clone(),
            key: key.into(),
            opened: Instant::now(),
            slot: Slot::default(),
            renewal: Mutex::new(Renewal {
                lease: None,
                batch: 1,
                is_kept: false,
                denied: None,
            }),
            spent: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        }))
    }
}

impl Leased {
    /// Takes one permit: from the lease, or by one call that takes a new lease.
    ///
    /// # Errors
    /// [`AcquireError`]. The wait of a denial is exact for the server's count a moment ago. It is an
    /// estimate, because other processes return permits: at most one life and a quarter too long if
    /// none does.
    pub async fn try_acquire(&self) -> Result<Allowed, AcquireError> {
        self.try_acquire_many(1).await
    }

    /// Takes `cost` permits or none.
    ///
    /// # Errors
    /// [`AcquireError`], as [`try_acquire`](Self::try_acquire).
    pub async fn try_acquire_many(&self, cost: u64) -> Result<Allowed, AcquireError> {
        Ok(self.decide(cost).await?.0)
    }

    /// The same, with what made the decision: [`By::Lease`] or [`By::Store`].
    ///
    /// # Errors
    /// [`AcquireError`], as [`try_acquire`](Self::try_acquire).
    pub async fn decide(&self, cost: u64) -> Result<(Allowed, By), AcquireError> {
        let cost_of = windowpane_core::Cost::new(cost).ok_or(AcquireError::ZeroCost)?;
        // The server has the record, and of the batch: there is none of this request to settle.
        let allowed = || Allowed::new(None, cost_of);
        tokio::task::consume_budget().await;
        if self.0.spend(cost) {
            return Ok((allowed(), By::Lease));
        }
        let mut renewal = self.0.renewal.lock().await;
        // Another task may have renewed it meanwhile.
        if self.0.spend(cost) {
            return Ok((allowed(), By::Lease));
        }
        // Behind a pointer: the future of a call stays small, and so does its type.
        let renewing: Boxed<'_, Result<(), AcquireError>> =
            Box::pin(self.0.renew(&mut renewal, cost));
        renewing.await?;
        if !std::mem::replace(&mut renewal.is_kept, true) {
            tokio::spawn(keep(Arc::downgrade(&self.0)));
        }
        Ok((allowed(), By::Store))
    }

    /// Returns how many permits were spent, and how many calls took leases.
    pub fn counts(&self) -> (u64, u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.0.spent), read(&self.0.calls))
    }

    /// Returns what is left of the lease to the server, for instance at the end of the program. A
    /// lease is returned by itself when its life is over.
    pub async fn close(&self) {
        let mut renewal = self.0.renewal.lock().await;
        self.0.end_lease(&mut renewal).await;
    }
}

impl Inner {
    fn now(&self) -> Nanos {
        u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn spend(&self, cost: u64) -> bool {
        let taken = self.slot.take(self.now(), cost);
        // A thread that slept between the two readings may be late; its permits are lost.
        let is_spent = taken.is_some_and(|end| self.now() < end);
        if is_spent {
            self.spent.fetch_add(cost, Ordering::Relaxed);
        }
        is_spent
    }

    /// Ends the lease and returns what is left of it. Returns whether all was spent before its end.
    async fn end_lease(&self, renewal: &mut Renewal) -> Option<bool> {
        // First of all: what is returned must not be spent any more.
        let left = self.slot.close();
        let Lease { charge, batch, end } = renewal.lease.take()?;
        if left > 0 {
            // Without an answer it stays charged, which is stricter.
            let limiter = &self.leases.limiter;
            let settling: Boxed<'_, Result<(), AcquireError>> =
                Box::pin(limiter.settle(&self.key, charge, batch - left));
            let _ = settling.await;
        }
        if left > batch / 2 {
            renewal.batch = (batch / 2).max(1);
        }
        Some(left == 0 && self.now() < end)
    }

    /// Takes a lease with `cost` permits for the caller.
    async fn renew(&self, renewal: &mut Renewal, cost: u64) -> Result<(), AcquireError> {
        if let Some(denied) = &renewal.denied
            && cost >= denied.cost
            && self.now() < denied.until
        {
            return Err(denied.error.clone());
        }
        renewal.denied = None;
        if self.end_lease(renewal).await == Some(true) {
            renewal.batch = (renewal.batch * 2).min(self.leases.most);
        }
        let limiter = &self.leases.limiter;
        let mut batch = renewal.batch.max(cost).min(MOST.max(cost));
        // Before the request is sent, so before the server grants it.
        let mut sent = self.now();
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut answer = limiter.try_acquire_detailed(&self.key, batch).await;
        if let Err(rejected) = &answer
            && batch > cost
        {
            // Half of what is left, so that others find some, too.
            let left = rejected.status().map_or(0, |status| status.remaining());
            batch = cost.max(left / 2);
            sent = self.now();
            self.calls.fetch_add(1, Ordering::Relaxed);
            answer = limiter.try_acquire_detailed(&self.key, batch).await;
        }
        let (charge, _) = match answer.map_err(AcquireError::from) {
            Ok(granted) => granted,
            Err(error) => {
                if let Some(denied) = error.denied() {
                    let wait = denied.retry_after().min(self.leases.life / 4);
                    renewal.denied = Some(DeniedFor {
                        cost,
                        until: self.now() + wait.as_nanos() as Nanos,
                        error: error.clone(),
                    });
                }
                return Err(error);
            }
        };
        renewal.batch = batch.min(self.leases.most);
        let life = u64::try_from(self.leases.life.as_nanos()).unwrap_or(u64::MAX);
        // Less a thousandth, for clocks that drift apart.
        let end = sent.saturating_add(life - life / 1_000);
        // The slot rounds the end down, so this request is held to the same millisecond.
        if self.now() >= end / 1_000_000 * 1_000_000 {
            let _ = limiter.settle(&self.key, charge, 0).await;
            let reason = "the lease was over before its answer came".into();
            return Err(AcquireError::Unavailable { reason });
        }
        self.spent.fetch_add(cost, Ordering::Relaxed);
        self.slot.open(end, (batch - cost).min(MOST));
        renewal.lease = Some(Lease { charge, batch, end });
        Ok(())
    }
}

/// Returns each lease at the end of its life, as long as there is one.
async fn keep(inner: Weak<Inner>) {
    loop {
        let Some(leased) = inner.upgrade() else {
            return;
        };
        let mut renewal = leased.renewal.lock().await;
        let Some(end) = renewal.lease.as_ref().map(|lease| lease.end) else {
            renewal.is_kept = false;
            return;
        };
        let left = end.saturating_sub(leased.now());
        if left == 0 {
            leased.end_lease(&mut renewal).await;
            renewal.batch = 1.max(renewal.batch / 2);
            continue;
        }
        drop(renewal);
        drop(leased);
        tokio::time::sleep(Duration::from_nanos(left)).await;
    }
}
