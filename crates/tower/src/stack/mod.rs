//! A layer with several limits and one decision.

mod limit;
mod part;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::request::Parts;
use smallvec::SmallVec;
use thiserror::Error;
use windowpane_core::stack::{self, Ask, Cancel, PerLimit, Reason};
use windowpane_core::{Answer, Charge, Denial, KeyedRateLimiter, KeyedSettle, StoreError};

pub use self::limit::Limit;
use self::part::{Held, HeldPart, Part};
use crate::common::common_settings;
use crate::cost::RequestCost;
use crate::engine::{Decide, Deciding, Told, Verdict};
use crate::headers::{Draft, Reset};
use crate::key::Extract;
use crate::observe::{Event, Outcome};
use crate::policy::NameError;
use crate::rejection::{OnFailure, Rejection};
use crate::service::RateLimitLayer;
use crate::settings::{Settings, UNRECORDED};

/// A builder of a [`RateLimitLayer`] with several limits: a request passes if all of them allow it,
/// and one that any of them denies is charged to none.
///
/// All limits but the first are peeked at; then they are charged in the order given, and what was
/// charged is taken back if a later one denies. [`windowpane_core::stack`] says what concurrent
/// requests can see of that. A store that cannot take back a charge, such as one of `CasRing` or
/// `Gcra`, is charged last: [`and_last`](Self::and_last). Remote stores have no place in a stack.
///
/// A response names all quotas of all limits in its headers. A denial names the quota with the
/// longest wait, and `violated-policies` those of all limits that deny.
///
/// ```
/// use std::net::IpAddr;
/// use windowpane_cas_ring::CasRing;
/// use windowpane_keyed::KeyedLimiter;
/// use windowpane_mutex_log::MutexLog;
/// use windowpane_tower::{ClientAddress, Everyone, FromHeader, Limit, RateLimitLayer};
///
/// let by_user = KeyedLimiter::<String, MutexLog>::new("1/1s")?;
/// let by_address = KeyedLimiter::<IpAddr, MutexLog>::new("10/10s")?;
/// let global = KeyedLimiter::<(), CasRing>::new("8/10s")?;
/// let layer = RateLimitLayer::stack()
///     .and(Limit::new("user", by_user, FromHeader::new("x-api-key".parse()?))?)
///     .and(Limit::new("address", by_address, ClientAddress::new())?)
///     .and_last(Limit::new("global", global, Everyone)?)
///     .build()?;
/// # let _ = layer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct StackBuilder {
    limits: Vec<Box<dyn Part>>,
    last: Vec<Box<dyn Part>>,
    settings: Settings,
}

/// A stack that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StackError {
    /// It has no limit.
    #[error("a stack needs at least one limit: add one with `and` or `and_last`")]
    NoLimits,
    /// Several limits are to be charged last.
    #[error(
        "`{first}` and `{second}` are both to be charged last, and one limit can be: a denial by one \
         would stay charged to the other. Take a store that gives back for one of them, of MutexLog \
         (exact) or PackedCounter (one quota, approximate), and add it with `and`"
    )]
    SeveralLast {
        /// The name of the first.
        first: String,
        /// The name of the second.
        second: String,
    },
    /// Two limits have one name, and clients could not tell their quotas apart.
    #[error("two limits are named `{name}`: give each a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
}

impl StackBuilder {
    /// Returns a builder without limits.
    pub fn new() -> StackBuilder {
        StackBuilder::default()
    }

    /// Adds a limit. Its store gives back what a later limit denies.
    pub fn and<S, E, C>(mut self, limit: Limit<S, E, C>) -> StackBuilder
    where
        S: KeyedSettle<E::Key> + 'static,
        E: Extract,
        C: RequestCost,
    {
        self.limits.push(limit.into_part());
        self
    }

    /// Adds the limit that is charged after all others, whose store need not give back. There can be
    /// one.
    pub fn and_last<S, E, C>(mut self, limit: Limit<S, E, C>) -> StackBuilder
    where
        S: KeyedRateLimiter<E::Key> + 'static,
        E: Extract,
        C: RequestCost,
    {
        self.last.push(limit.into_last_part());
        self
    }

    /// Names the layer, in metrics and traces. The names of quotas begin with their limits' names.
    ///
    /// # Errors
    /// [`NameError`] if it is empty or not printable ASCII.
    pub fn named(mut self, name: &str) -> Result<Self, NameError> {
        self.settings.names.policies.set_limiter(name)?;
        Ok(self)
    }

    common_settings!();

    /// Returns the layer.
    ///
    /// # Errors
    /// [`StackError`]; it says what to do.
    pub fn build(mut self) -> Result<RateLimitLayer, StackError> {
        if let [first, second, ..] = &self.last[..] {
            return Err(StackError::SeveralLast {
                first: first.name().to_owned(),
                second: second.name().to_owned(),
            });
        }
        let returning = self.limits.len();
        self.limits.append(&mut self.last);
        let names: Vec<&str> = self.limits.iter().map(|limit| limit.name()).collect();
        if names.is_empty() {
            return Err(StackError::NoLimits);
        }
        let same = (1..names.len()).find(|index| names[..*index].contains(&names[*index]));
        if let Some(same) = same {
            return Err(StackError::SameName {
                name: names[same].to_owned(),
            });
        }
        Ok(RateLimitLayer::of(Arc::new(Stack {
            settles: self.limits.iter().any(|limit| limit.settles()),
            limits: self.limits,
            returning,
            settings: self.settings,
        })))
    }
}

impl fmt::Debug for StackBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.limits.iter().chain(&self.last);
        f.debug_struct("StackBuilder")
            .field(
                "limits",
                &names.map(|limit| limit.name()).collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}

/// The engine of a layer with several limits.
struct Stack {
    limits: Vec<Box<dyn Part>>,
    /// The number of limits that give back; at most one more follows.
    returning: usize,
    settles: bool,
    settings: Settings,
}

/// The limits that hold for one request, each with its index.
type HeldLimits = SmallVec<[(usize, Box<dyn Held>); 4]>;

impl Decide for Stack {
    fn decide(&self, request: &Parts) -> Deciding {
        Deciding::Now(match self.hold(request) {
            Ok(held) if held.is_empty() => self.verdict(Outcome::Exempt, None, None, None),
            Ok(held) => self.judge(held),
            Err((outcome, rejection)) => self.verdict(outcome, Some(rejection), None, None),
        })
    }

    fn settles(&self) -> bool {
        self.settles
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Stack {
    /// Finds the key of each limit. A limit from which the request is exempt does not hold for it.
    fn hold(&self, request: &Parts) -> Result<HeldLimits, (Outcome, Rejection)> {
        let mut held = HeldLimits::new();
        for (index, limit) in self.limits.iter().enumerate() {
            match limit.hold(request, &self.settings) {
                HeldPart::Held(limit) => held.push((index, limit)),
                HeldPart::DoesNotHold => {}
                HeldPart::Missing(what) => {
                    return Err((Outcome::MissingKey, Rejection::MissingKey { what }));
                }
                HeldPart::ServerFault(what) => {
                    self.settings.log_fault(what);
                    return Err((Outcome::ServerFault, Rejection::ServerFault { what }));
                }
            }
        }
        Ok(held)
    }

    fn judge(&self, held: HeldLimits) -> Verdict {
        let started = self.settings.starts();
        let returning = held.partition_point(|(index, _)| *index < self.returning);
        let limits: PerLimit<&dyn Cancel> = held[..returning]
            .iter()
            .map(|(_, limit)| &**limit as &dyn Cancel)
            .collect();
        let last = held.get(returning).map(|(_, limit)| &**limit as &dyn Ask);
        let decided = match self.settings.needs_detail() {
            true => match stack::decide_detailed(&limits, last) {
                Ok((charges, seen)) => Ok((charges, self.told(&held, seen.iter().map(Some)))),
                Err(refusal) => {
                    let told = self.told(&held, refusal.seen.iter().map(Option::as_ref));
                    Err((refusal.limit, refusal.reason, refusal.denials, told))
                }
            },
            false => match stack::decide(&limits, last) {
                Ok((charges, _)) => Ok((charges, Told::default())),
                Err(refusal) => {
                    let told = Told::default();
                    Err((refusal.limit, refusal.reason, refusal.denials, told))
                }
            },
        };
        let time = started.map(|started| started.elapsed());
        drop(limits);
        match decided {
            Ok((charges, told)) => self.allowed(held, charges, told, time),
            Err((limit, reason, denials, mut told)) => {
                let mut verdict = self.refused(&held, limit, &reason, &denials, time);
                told.0.append(&mut verdict.told.0);
                verdict.told = told;
                verdict
            }
        }
    }

    fn allowed(
        &self,
        held: HeldLimits,
        charges: PerLimit<Charge>,
        told: Told,
        time: Option<Duration>,
    ) -> Verdict {
        let failure = held.iter().find_map(|(_, limit)| limit.failure());
        let outcome = match &failure {
            None if charges.iter().all(|charge| charge.at() == UNRECORDED) => Outcome::Full,
            None => Outcome::Allowed,
            Some(StoreError::Full { .. }) => Outcome::Full,
            Some(_) => Outcome::Unavailable,
        };
        let mut verdict = self.verdict(outcome, None, failure.as_ref(), time);
        verdict.told = told;
        verdict.settlings = held
            .into_iter()
            .zip(charges)
            .filter(|(_, charge)| charge.at() != UNRECORDED)
            .filter_map(|((_, limit), charge)| limit.settling(charge))
            .collect();
        verdict
    }

    #[cold]
    fn refused(
        &self,
        held: &HeldLimits,
        refusing: usize,
        reason: &Reason,
        denials: &[(usize, Denial)],
        time: Option<Duration>,
    ) -> Verdict {
        let of = |limit: usize| {
            let (index, held) = &held[limit];
            (self.limits[*index].names(), held)
        };
        let settings = &self.settings;
        let (names, limit) = of(refusing);
        match reason {
            Reason::Failed(error) => {
                let (outcome, rejection) = settings.failed(error, names, || limit.quotas());
                let mut verdict = self.verdict(outcome, rejection, Some(error), time);
                if outcome == Outcome::NeverFits && settings.needs_detail() {
                    let fields = settings.headers.of_quotas(names, &limit.quotas());
                    verdict.told.0.push(fields);
                }
                verdict
            }
            Reason::Denied(denial) => {
                let (mut rejection, problem) = settings.denied(names, &limit.quotas(), *denial);
                let mut outcome = Outcome::Full;
                if let Rejection::Denied { others: also, .. } = &mut rejection {
                    outcome = Outcome::Denied;
                    let others = denials.iter().filter(|(other, _)| *other != refusing);
                    also.extend(others.map(|(other, denial)| {
                        let (names, limit) = of(*other);
                        let name = names.policies.name(&limit.quotas(), denial.quota());
                        name.into_owned()
                    }));
                }
                let mut verdict = self.verdict(outcome, Some(rejection), None, time);
                verdict.problem = problem.filter(|_| denials.len() == 1);
                verdict
            }
        }
    }

    fn verdict(
        &self,
        outcome: Outcome,
        rejection: Option<Rejection>,
        error: Option<&StoreError>,
        time: Option<Duration>,
    ) -> Verdict {
        Verdict {
            rejection: self.settings.conclude(outcome, rejection, error, time),
            ..Verdict::default()
        }
    }

    /// The headers about the limits that were read.
    fn told<'a>(&self, held: &HeldLimits, seen: impl Iterator<Item = Option<&'a Answer>>) -> Told {
        let mut told = Told::default();
        for ((index, limit), seen) in held.iter().zip(seen) {
            let names = self.limits[*index].names();
            let read = seen.filter(|answer| answer.detailed.decision() != part::UNCHARGED);
            // If a policy allowed the request, no quota was read.
            if let (Some(answer), None) = (read, limit.failure()) {
                told.0
                    .push(self.settings.headers.of_answer(names, answer, limit.cost()));
            }
        }
        told
    }
}
