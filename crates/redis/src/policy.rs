//! What a caller is told when the store does not answer.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use windowpane_core::{
    AcquireError, Answer, Cost, Decision, Denied, Detailed, KeyedRateLimiter, Nanos, PerQuota,
    Quota, Quotas, StoreError,
};

/// What a limiter answers when its store is unavailable.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum WhenUnavailable {
    /// [`StoreError::Unavailable`]: the caller decides.
    #[default]
    Tell,
    /// Denied, and to come back when the store has been tried again: nothing gets past the quota,
    /// and an outage of the store is one of the service.
    Deny,
    /// Allowed, as if nothing had been used: the service goes on, without a limit.
    Allow,
    /// As a limiter on this machine decides, by [`share`] of the quotas for instance: the service
    /// goes on, within a limit. What it charges it keeps: a charge of its is [settled] in the store,
    /// which does not find it, so it stays at its estimate until it leaves the window.
    ///
    /// [settled]: windowpane_core::AsyncKeyedSettle::settle
    Ask(Arc<dyn KeyedRateLimiter<str>>),
}

impl WhenUnavailable {
    /// The answer of the policy; `Err(None)` where the caller is to be told that there is none.
    pub(crate) fn answer(
        &self,
        quotas: &Quotas,
        key: &str,
        cost: Cost,
        retry_after: Nanos,
    ) -> Result<Answer, Option<StoreError>> {
        match self {
            WhenUnavailable::Tell => Err(None),
            WhenUnavailable::Deny => Ok(denial(quotas, retry_after)),
            WhenUnavailable::Allow => {
                let left = |q: &Quota| q.limit().saturating_sub(q.charge(cost));
                // Recorded nowhere, so under no time: settling it changes nothing.
                let decision = match quotas.iter().position(|q| q.limit() == 0) {
                    Some(quota) => Decision::Denied(Denied::new(quota, None)),
                    None => Decision::Allowed { at: 0 },
                };
                Ok(Answer {
                    detailed: Detailed::new(decision, quotas, quotas.iter().map(left).collect()),
                    more_after: None,
                    quotas: quotas.clone(),
                })
            }
            WhenUnavailable::Ask(local) => match local.acquire_detailed(key, cost) {
                Ok(answer) => Ok(answer),
                // It fits the quota, if not this machine's share of it: it is not the caller's
                // fault, and the store will take it.
                Err(StoreError::Request(AcquireError::NeverFits { .. })) => {
                    Ok(denial(quotas, retry_after))
                }
                Err(error) => Err(Some(error)),
            },
        }
    }
}

/// A denial by nobody in particular: the first quota is named.
fn denial(quotas: &Quotas, retry_after: Nanos) -> Answer {
    let denied = Decision::Denied(Denied::new(0, Some(retry_after)));
    Answer {
        detailed: Detailed::new(denied, quotas, PerQuota::from_elem(0, quotas.len())),
        more_after: Some(retry_after),
        quotas: quotas.clone(),
    }
}

impl fmt::Debug for WhenUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhenUnavailable::Tell => "Tell",
            WhenUnavailable::Deny => "Deny",
            WhenUnavailable::Allow => "Allow",
            WhenUnavailable::Ask(_) => "Ask",
        })
    }
}

/// What one of `machines` may let through on its own so that all together keep the quotas: a
/// `machines`-th of each limit, rounded down, so 0 for limits that are smaller.
///
/// ```
/// use std::num::NonZeroU32;
/// use windowpane_core::Quotas;
/// use windowpane_redis::share;
///
/// let quotas = Quotas::parse(["100/60s", "10req/1s"])?;
/// let mine = share(&quotas, NonZeroU32::new(4).unwrap());
/// assert_eq!(mine.to_string(), "25/60s and 2req/1s");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn share(quotas: &Quotas, machines: NonZeroU32) -> Quotas {
    let part = |q: &Quota| {
        let limit = q.limit() / u64::from(machines.get());
        Quota::from_nanos(limit, q.window(), q.unit()).expect("the window is one already")
    };
    Quotas::new(quotas.iter().map(part)).expect("as many quotas as before")
}
