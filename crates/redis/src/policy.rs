//! The policies for an unavailable store.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use windowpane_core::{
    Answer, Cost, Decision, Denial, Detailed, KeyedRateLimiter, Nanos, PerQuota, Quota, Quotas,
    RequestError, StoreError,
};

/// The `at` of a decision that has no record in the store. Scripts return whole microseconds, so no
/// record is made under it.
pub(crate) const UNRECORDED: Nanos = Nanos::MAX;

const _: () = assert!(!UNRECORDED.is_multiple_of(1_000));

/// What a limiter does when its store is unavailable.
///
/// A quota of 0 denies everything, so it does under every policy but [`Error`](Self::Error).
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum WhenUnavailable {
    /// The caller receives [`AcquireError::Unavailable`](windowpane_core::AcquireError::Unavailable).
    #[default]
    Error,
    /// Allowed without a record: the service goes on, without a limit.
    Allow,
    /// Denied until the next attempt to reach the store: nothing gets past the quota, and an outage of
    /// the store is an outage of the service. The caller receives
    /// [`AcquireError::DeniedByPolicy`](windowpane_core::AcquireError::DeniedByPolicy). A decision as a
    /// value names the first quota, because it has to name one.
    Deny,
    /// A limiter on this machine decides, for instance by this machine's [`share`] of the quotas: the
    /// service goes on, within a limit. The charge stays at its estimate, because the store has no
    /// record that could be settled.
    Local(Arc<dyn KeyedRateLimiter<str>>),
}

impl WhenUnavailable {
    /// Returns the decision of the policy; `Err(None)` for [`Error`](Self::Error).
    pub(crate) fn decide(
        &self,
        quotas: &Quotas,
        key: &str,
        cost: Cost,
        retry_after: Nanos,
    ) -> Result<ByPolicy, Option<StoreError>> {
        let zero = quotas.iter().position(|q| q.limit() == 0);
        match (self, zero) {
            (WhenUnavailable::Error, _) => Err(None),
            (_, Some(quota)) => Ok(denial(quotas, Denial::new(quota, None)).into()),
            (WhenUnavailable::Deny, None) => Ok(not_yet(quotas, retry_after)),
            (WhenUnavailable::Allow, None) => {
                let left = |q: &Quota| q.limit().saturating_sub(q.charge(cost));
                let left: PerQuota = quotas.iter().map(left).collect();
                Ok(Answer::new(
                    Detailed::new(UNRECORDED_ALLOWANCE, quotas, left),
                    quotas.clone(),
                )
                .into())
            }
            (WhenUnavailable::Local(local), None) => {
                match local.decide_detailed(key, cost) {
                    Ok(answer) => Ok(local_answer(answer, quotas, retry_after)),
                    // It fits the quotas, though not this machine's share of them. The store will
                    // allow it.
                    Err(StoreError::Request(RequestError::NeverFits { .. })) => {
                        Ok(not_yet(quotas, retry_after))
                    }
                    Err(error) => Err(Some(error)),
                }
            }
        }
    }
}

const UNRECORDED_ALLOWANCE: Decision = Decision::Allowed { at: UNRECORDED };

/// A policy's answer.
pub(crate) struct ByPolicy {
    pub(crate) answer: Answer,
    /// Whether a quota denied, if it is a denial.
    pub(crate) by_quota: bool,
}

impl From<Answer> for ByPolicy {
    fn from(answer: Answer) -> ByPolicy {
        ByPolicy {
            answer,
            by_quota: true,
        }
    }
}

/// The local limiter's answer, as one of the limiter of `quotas`.
fn local_answer(answer: Answer, quotas: &Quotas, retry_after: Nanos) -> ByPolicy {
    match answer.detailed.decision() {
        // Its time is of another clock, and the store must not find a record under it.
        Decision::Allowed { .. } => {
            let left = PerQuota::from_slice(answer.detailed.remaining_per_quota());
            let detailed = Detailed::new(UNRECORDED_ALLOWANCE, &answer.quotas, left);
            Answer::new(detailed, answer.quotas)
                .with_more_after(answer.more_after)
                .into()
        }
        // This machine's share is 0, and the quota is not: the store will allow it.
        Decision::Denied(denied) if denied.retry_after().is_none() => not_yet(quotas, retry_after),
        Decision::Denied(_) => answer.into(),
    }
}

/// A denial until the store may be reached again. It has to name a quota, and names the first.
fn not_yet(quotas: &Quotas, retry_after: Nanos) -> ByPolicy {
    ByPolicy {
        answer: denial(quotas, Denial::new(0, Some(retry_after))),
        by_quota: false,
    }
}

fn denial(quotas: &Quotas, denied: Denial) -> Answer {
    let left = PerQuota::from_elem(0, quotas.len());
    Answer::new(
        Detailed::new(Decision::Denied(denied), quotas, left),
        quotas.clone(),
    )
    .with_more_after(denied.retry_after_nanos())
}

impl fmt::Debug for WhenUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhenUnavailable::Error => "Error",
            WhenUnavailable::Allow => "Allow",
            WhenUnavailable::Deny => "Deny",
            WhenUnavailable::Local(_) => "Local",
        })
    }
}

/// The quotas for each of `machines` that decide on their own, so that all together keep `quotas`: a
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
        Quota::from_nanos(limit, q.window(), q.unit()).expect("the window is valid")
    };
    Quotas::new(quotas.iter().map(part)).expect("one quota each")
}
