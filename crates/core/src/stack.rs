//! Several limits in one decision: a request is charged to all of them, or to none.
//!
//! ```
//! # use windowpane_core::{AcquireError, Cost, KeyedRateLimiter, KeyedSettle};
//! use windowpane_core::stack::{self, Limit};
//!
//! # fn example(by_user: impl KeyedSettle<str>, everybody: impl KeyedRateLimiter<()>) {
//! let user = Limit::new(&by_user, "alice", Cost::ONE);
//! let all = Limit::new(&everybody, &(), Cost::ONE);
//! match stack::try_acquire(&[&user], Some(&all)) {
//!     Ok(_) => println!("go ahead"),
//!     Err(rejected) => println!("limit {}: {}", rejected.limit(), rejected.error()),
//! }
//! # }
//! ```
//!
//! # How
//!
//! All limits but the first are peeked at. If none denies, the limits are charged in the order
//! given, the last one after all others. If one denies then, what was charged is cancelled. So a
//! rejected request is charged nowhere once its call has returned, and no limit ever exceeds its
//! quotas.
//!
//! A limit that cannot give back is charged last, or not at all: the type of the last one alone
//! allows it.
//!
//! # What other calls can see
//!
//! Between a charge and its cancellation, other calls count the charge. Such a call can be denied
//! although no allowed request uses the permits, and its wait is then that of the charge: at most
//! the quota's window. It happens only if a later limit fills up after it was peeked at. At most the
//! costs of the calls that run at that moment are counted too much, and nothing after they return.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::SmallVec;
use thiserror::Error;

use crate::clock::Nanos;
use crate::cost::Cost;
use crate::decision::{Decision, Denial, Detailed};
use crate::keyed::{Answer, KeyedRateLimiter, KeyedSettle, StoreError};
use crate::outcome::AcquireError;
use crate::per_quota::PerQuota;
use crate::quotas::Quotas;
use crate::settle::Charge;

/// One value for each limit; up to four without an allocation.
pub type PerLimit<T> = SmallVec<[T; 4]>;

/// A limit of one request: its store, key and cost are known.
pub trait Ask {
    /// Returns the quotas.
    fn quotas(&self) -> Quotas;

    /// Returns the decision that [`decide`](Self::decide) would make, and changes nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    fn peek(&self) -> Result<Decision, StoreError>;

    /// [`peek`](Self::peek), with what remains.
    ///
    /// # Errors
    /// [`StoreError`].
    fn peek_detailed(&self) -> Result<Answer, StoreError>;

    /// Decides, and charges what is allowed.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was charged then.
    fn decide(&self) -> Result<Decision, StoreError>;

    /// [`decide`](Self::decide), with what remains.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was charged then.
    fn decide_detailed(&self) -> Result<Answer, StoreError>;

    /// Returns the cost.
    fn cost(&self) -> Cost;
}

/// A limit of one request that can give back what it has charged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot give back what it has charged",
    note = "take a store of `MutexLog` (exact), or of `PackedCounter` for one quota (approximate)",
    note = "or let it be the last limit, of which there is one"
)]
pub trait Cancel: Ask {
    /// Takes a charge of this request back.
    fn cancel(&self, charge: Charge);
}

/// A store, a key and a cost.
pub struct Limit<'s, S, Q: ?Sized> {
    store: &'s S,
    key: &'s Q,
    cost: Cost,
}

impl<'s, S, Q: ?Sized> Limit<'s, S, Q> {
    /// Returns the limit of `key` in `store` on a request of `cost`.
    pub const fn new(store: &'s S, key: &'s Q, cost: Cost) -> Self {
        Limit { store, key, cost }
    }
}

impl<S: KeyedRateLimiter<Q>, Q: ?Sized> Ask for Limit<'_, S, Q> {
    fn quotas(&self) -> Quotas {
        self.store.quotas(self.key)
    }

    fn peek(&self) -> Result<Decision, StoreError> {
        self.store.peek(self.key, self.cost)
    }

    fn peek_detailed(&self) -> Result<Answer, StoreError> {
        self.store.peek_detailed(self.key, self.cost)
    }

    fn decide(&self) -> Result<Decision, StoreError> {
        self.store.decide(self.key, self.cost)
    }

    fn decide_detailed(&self) -> Result<Answer, StoreError> {
        self.store.decide_detailed(self.key, self.cost)
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}

impl<S: KeyedSettle<Q>, Q: ?Sized> Cancel for Limit<'_, S, Q> {
    fn cancel(&self, charge: Charge) {
        self.store.cancel(self.key, charge);
    }
}

impl<S, Q: ?Sized> fmt::Debug for Limit<'_, S, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}

/// A request that was charged to no limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("limit {limit}: {error}")]
pub struct Rejected {
    limit: usize,
    error: Box<AcquireError>,
}

impl Rejected {
    /// Returns the index of the limit that denied: of several the one with the longest wait, of
    /// equals the first. The last limit comes after the others.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Returns why that limit rejected the request.
    pub const fn error(&self) -> &AcquireError {
        &self.error
    }
}

/// Takes the costs of a request from all limits now, or nothing from any.
///
/// Returns a charge for each limit, `last` after the others, for a settlement. Without one it stays
/// charged.
///
/// # Errors
/// [`Rejected`]; nothing is charged then.
pub fn try_acquire(
    limits: &[&dyn Cancel],
    last: Option<&dyn Ask>,
) -> Result<PerLimit<Charge>, Rejected> {
    match decide(limits, last) {
        Ok((charges, _)) => Ok(charges),
        Err(refusal) => {
            let limit = limits.get(refusal.limit).map(|limit| *limit as &dyn Ask);
            let quotas = limit.or(last).map(|limit| limit.quotas());
            // Fewer by now, if they were changed meanwhile.
            let quota = |index: usize| {
                let quotas = quotas.expect("a limit that was asked");
                quotas.get(index).copied().unwrap_or(quotas[0])
            };
            let error = match refusal.reason {
                Reason::Denied(denial) => AcquireError::of_denial(denial, quota(denial.quota())),
                Reason::Failed(error) => AcquireError::of_store(error, quota),
            };
            Err(Rejected {
                limit: refusal.limit,
                error: Box::new(error),
            })
        }
    }
}

/// Why a request was charged nowhere. `T` is what was seen of each limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal<T> {
    /// The index of the limit that refused, as [`Rejected::limit`] says. An error comes before a
    /// denial.
    pub limit: usize,
    /// Why.
    pub reason: Reason,
    /// The denials of all limits that deny, with the limits' indices, in their order.
    pub denials: PerLimit<(usize, Denial)>,
    /// What was seen of each limit; `None` of one that failed.
    pub seen: PerLimit<Option<T>>,
}

/// Why a limit refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A quota denied.
    Denied(Denial),
    /// The store has no decision.
    Failed(StoreError),
}

/// The charges of an allowed request, and what was seen of each limit.
pub type Charged<T> = (PerLimit<Charge>, PerLimit<T>);

/// Decides a request under several limits. The decisions are values; programs call [`try_acquire`].
///
/// # Errors
/// [`Refusal`]; nothing is charged then.
pub fn decide(
    limits: &[&dyn Cancel],
    last: Option<&dyn Ask>,
) -> Result<Charged<()>, Box<Refusal<()>>> {
    let peek = |limit: &dyn Ask| limit.peek().map(|decision| (decision, ()));
    let decide = |limit: &dyn Ask| limit.decide().map(|decision| (decision, ()));
    all_or_nothing(limits, last, peek, decide)
}

/// [`decide`], with what remains of each limit.
///
/// # Errors
/// [`Refusal`]; nothing is charged then.
pub fn decide_detailed(
    limits: &[&dyn Cancel],
    last: Option<&dyn Ask>,
) -> Result<Charged<Answer>, Box<Refusal<Answer>>> {
    let with_decision = |answer: Answer| (answer.detailed.decision(), answer);
    let peek = |limit: &dyn Ask| {
        let answer = limit.peek_detailed()?;
        Ok(with_decision(untaken(answer, limit.cost())))
    };
    let decide = |limit: &dyn Ask| limit.decide_detailed().map(with_decision);
    all_or_nothing(limits, last, peek, decide)
}

/// The answer to a peek with what remains before the request instead of after it.
fn untaken(mut answer: Answer, cost: Cost) -> Answer {
    let decision = answer.detailed.decision();
    if decision.is_allowed() {
        let left = answer.detailed.remaining_per_quota().iter();
        let left = left.zip(answer.quotas.iter());
        let left: PerQuota = left
            .map(|(left, quota)| left.saturating_add(quota.charge(cost)).min(quota.limit()))
            .collect();
        let is_used = left.iter().zip(answer.quotas.iter());
        let is_used = is_used
            .into_iter()
            .any(|(left, quota)| *left < quota.limit());
        answer.more_after = answer.more_after.filter(|_| is_used);
        answer.detailed = Detailed::new(decision, &answer.quotas, left);
    }
    answer
}

type Seen<T> = Result<(Decision, T), StoreError>;

fn all_or_nothing<T>(
    limits: &[&dyn Cancel],
    last: Option<&dyn Ask>,
    peek: impl Fn(&dyn Ask) -> Seen<T>,
    decide: impl Fn(&dyn Ask) -> Seen<T>,
) -> Result<Charged<T>, Box<Refusal<T>>> {
    let all: PerLimit<&dyn Ask> = limits
        .iter()
        .map(|limit| *limit as &dyn Ask)
        .chain(last)
        .collect();
    // A request that the first limit denies is charged nowhere, so no check comes before it.
    for (index, limit) in all.iter().enumerate().skip(1) {
        if let Err(found) = denial(limit.peek()) {
            return Err(refused(&all, index, found, peek));
        }
    }
    let mut provisional = Provisional {
        limits,
        charges: PerLimit::new(),
    };
    let mut seen = PerLimit::new();
    for (index, limit) in all.iter().enumerate() {
        let (decision, what) = match decide(*limit) {
            Ok((decision, what)) => (Ok(decision), Some(what)),
            Err(error) => (Err(error), None),
        };
        match denial(decision) {
            Ok(at) => provisional.charges.push(Charge::new(at, limit.cost())),
            Err(found) => {
                drop(provisional);
                return Err(refused(&all, index, found, peek));
            }
        }
        seen.extend(what);
    }
    Ok((std::mem::take(&mut provisional.charges), seen))
}

/// The time of an allowance, or why there is none.
fn denial(decision: Result<Decision, StoreError>) -> Result<Nanos, Reason> {
    match decision {
        Ok(Decision::Allowed { at }) => Ok(at),
        Ok(Decision::Denied(denial)) => Err(Reason::Denied(denial)),
        Err(error) => Err(Reason::Failed(error)),
    }
}

/// The refusal of a request that the limit of `index` has refused for the reason `found`. Nothing is
/// charged any more.
#[cold]
fn refused<T>(
    all: &[&dyn Ask],
    index: usize,
    found: Reason,
    peek: impl Fn(&dyn Ask) -> Seen<T>,
) -> Box<Refusal<T>> {
    let mut refusal = Box::new(Refusal {
        limit: index,
        reason: found.clone(),
        denials: PerLimit::new(),
        seen: PerLimit::new(),
    });
    let mut longest: Option<Denial> = None;
    let mut has_failed = false;
    for (other, limit) in all.iter().enumerate() {
        let (decision, what) = match peek(*limit) {
            Ok((decision, what)) => (Ok(decision), Some(what)),
            Err(error) => (Err(error), None),
        };
        // The decision stands, whatever a peek says since.
        let failed_before = other == index && matches!(found, Reason::Failed(_));
        refusal.seen.push(what.filter(|_| !failed_before));
        let reason = match other == index {
            true => found.clone(),
            false => match denial(decision) {
                Ok(_) => continue,
                Err(reason) => reason,
            },
        };
        let comes_first = match reason {
            Reason::Failed(_) => !std::mem::replace(&mut has_failed, true),
            Reason::Denied(denial) => {
                refusal.denials.push((other, denial));
                let before = longest.replace(Denial::longest(longest, denial));
                before != longest && !has_failed
            }
        };
        if comes_first {
            (refusal.limit, refusal.reason) = (other, reason);
        }
    }
    refusal
}

/// Charges that are cancelled when they are dropped, also if a store panics.
struct Provisional<'p> {
    limits: &'p [&'p dyn Cancel],
    charges: PerLimit<Charge>,
}

impl Drop for Provisional<'_> {
    fn drop(&mut self) {
        for (limit, charge) in self.limits.iter().zip(self.charges.drain(..)) {
            // A second panic would end the process.
            let _ = catch_unwind(AssertUnwindSafe(|| limit.cancel(charge)));
        }
    }
}
