//! One limit of a stack, its types erased, and the same for one request.

use std::sync::{Arc, OnceLock};

use http::request::Parts;
use windowpane_core::stack::{Ask, Cancel};
use windowpane_core::{
    Answer, Charge, Cost, Decision, Detailed, KeyedRateLimiter, KeyedSettle, Quotas, StoreError,
};

use super::limit::Limit;
use crate::cost::{Learn, RequestCost};
use crate::key::{Extract, Extracted, MissingKey};
use crate::policy::Names;
use crate::rejection::OnFailure;
use crate::settings::{Settings, UNRECORDED};
use crate::settle::Settling;

/// The decision of a limit that charged nothing: a policy allowed the request.
pub(super) const UNCHARGED: Decision = Decision::Allowed { at: UNRECORDED };

/// One limit of a stack.
pub(super) trait Part: Send + Sync {
    fn name(&self) -> &str {
        self.names().policies.limiter()
    }

    fn names(&self) -> &Names;

    fn settles(&self) -> bool;

    /// Finds the key and the cost of a request.
    fn hold(&self, request: &Parts, settings: &Settings) -> HeldPart;
}

/// What a limit says of a request.
pub(super) enum HeldPart {
    Held(Box<dyn Held>),
    DoesNotHold,
    Missing(&'static str),
    ServerFault(&'static str),
}

/// A limit of one request.
pub(super) trait Held: Cancel + Send + Sync {
    /// Returns how to settle a charge of the request, if charges are settled.
    fn settling(self: Box<Self>, charge: Charge) -> Option<Settling>;

    /// Returns the failure of the store that a policy has allowed.
    fn failure(&self) -> Option<StoreError>;
}

/// A limit that gives back what it has charged.
pub(super) struct Returning<S, E: Extract, C>(pub(super) Arc<Limit<S, E, C>>);

/// A limit that is charged after all others and gives nothing back.
pub(super) struct Last<S, E: Extract, C>(pub(super) Arc<Limit<S, E, C>>);

impl<S, E, C> Part for Returning<S, E, C>
where
    S: KeyedSettle<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn names(&self) -> &Names {
        &self.0.names
    }

    fn settles(&self) -> bool {
        self.0.settle.is_some()
    }

    fn hold(&self, request: &Parts, settings: &Settings) -> HeldPart {
        held(&self.0, request, settings, |held| {
            Box::new(ReturningHeld(held))
        })
    }
}

impl<S, E, C> Part for Last<S, E, C>
where
    S: KeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn names(&self) -> &Names {
        &self.0.names
    }

    fn settles(&self) -> bool {
        false
    }

    fn hold(&self, request: &Parts, settings: &Settings) -> HeldPart {
        held(&self.0, request, settings, |held| Box::new(LastHeld(held)))
    }
}

fn held<S, E: Extract, C: RequestCost>(
    limit: &Arc<Limit<S, E, C>>,
    request: &Parts,
    settings: &Settings,
    erase: impl FnOnce(OfRequest<S, E, C>) -> Box<dyn Held>,
) -> HeldPart {
    let key = match limit.extract.extract(request) {
        Extracted::Key(key) => key,
        Extracted::Exempt => return HeldPart::DoesNotHold,
        Extracted::ServerFault(what) => return HeldPart::ServerFault(what),
        Extracted::Missing(what) => match &limit.missing {
            MissingKey::Share(key) => key.clone(),
            MissingKey::Allow => return HeldPart::DoesNotHold,
            MissingKey::Reject => return HeldPart::Missing(what),
        },
    };
    HeldPart::Held(erase(OfRequest {
        key,
        cost: limit.cost.cost(request),
        limit: Arc::clone(limit),
        on_full: settings.on_full,
        on_unavailable: settings.on_unavailable,
        failure: OnceLock::new(),
        learn: match limit.settle {
            Some(_) => limit.cost.learn(request),
            None => None,
        },
    }))
}

/// A limit with a request's key and cost.
struct OfRequest<S, E: Extract, C> {
    limit: Arc<Limit<S, E, C>>,
    key: E::Key,
    cost: Cost,
    on_full: OnFailure,
    on_unavailable: OnFailure,
    failure: OnceLock<StoreError>,
    learn: Option<Learn>,
}

impl<S, E: Extract, C> OfRequest<S, E, C> {
    /// Replaces a failure by `allowed` if the layer's policy allows the request.
    fn by_policy<T>(
        &self,
        answer: Result<T, StoreError>,
        allowed: impl FnOnce() -> T,
    ) -> Result<T, StoreError> {
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let policy = match &error {
            StoreError::Request(_) => OnFailure::Error,
            StoreError::Full { .. } => self.on_full,
            _ => self.on_unavailable,
        };
        if policy != OnFailure::Allow {
            return Err(error);
        }
        let _ = self.failure.set(error);
        Ok(allowed())
    }
}

impl<S, E, C> Ask for OfRequest<S, E, C>
where
    S: KeyedRateLimiter<E::Key>,
    E: Extract,
{
    fn quotas(&self) -> Quotas {
        self.limit.store.quotas(&self.key)
    }

    fn peek(&self) -> Result<Decision, StoreError> {
        let decision = self.limit.store.peek(&self.key, self.cost);
        self.by_policy(decision, || UNCHARGED)
    }

    fn peek_detailed(&self) -> Result<Answer, StoreError> {
        let answer = self.limit.store.peek_detailed(&self.key, self.cost);
        self.by_policy(answer, || uncharged(self.quotas()))
    }

    fn decide(&self) -> Result<Decision, StoreError> {
        let decision = self.limit.store.decide(&self.key, self.cost);
        self.by_policy(decision, || UNCHARGED)
    }

    fn decide_detailed(&self) -> Result<Answer, StoreError> {
        let answer = self.limit.store.decide_detailed(&self.key, self.cost);
        self.by_policy(answer, || uncharged(self.quotas()))
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}

/// An allowance that is recorded nowhere.
fn uncharged(quotas: Quotas) -> Answer {
    let left = quotas.iter().map(|quota| quota.limit()).collect();
    Answer::new(Detailed::new(UNCHARGED, &quotas, left), quotas)
}

struct ReturningHeld<S, E: Extract, C>(OfRequest<S, E, C>);

struct LastHeld<S, E: Extract, C>(OfRequest<S, E, C>);

macro_rules! asks_as_inside {
    ($held:ident) => {
        impl<S, E, C> Ask for $held<S, E, C>
        where
            S: KeyedRateLimiter<E::Key>,
            E: Extract,
        {
            fn quotas(&self) -> Quotas {
                self.0.quotas()
            }

            fn peek(&self) -> Result<Decision, StoreError> {
                self.0.peek()
            }

            fn peek_detailed(&self) -> Result<Answer, StoreError> {
                self.0.peek_detailed()
            }

            fn decide(&self) -> Result<Decision, StoreError> {
                self.0.decide()
            }

            fn decide_detailed(&self) -> Result<Answer, StoreError> {
                self.0.decide_detailed()
            }

            fn cost(&self) -> Cost {
                self.0.cost()
            }
        }
    };
}

asks_as_inside!(ReturningHeld);
asks_as_inside!(LastHeld);

impl<S, E, C> Cancel for ReturningHeld<S, E, C>
where
    S: KeyedSettle<E::Key>,
    E: Extract,
{
    fn cancel(&self, charge: Charge) {
        if charge.at() != UNRECORDED {
            self.0.limit.store.cancel(&self.0.key, charge);
        }
    }
}

impl<S, E, C> Held for ReturningHeld<S, E, C>
where
    S: KeyedSettle<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn settling(self: Box<Self>, charge: Charge) -> Option<Settling> {
        let OfRequest {
            limit, key, learn, ..
        } = self.0;
        let using = limit.settle.clone()?;
        let (store, at) = (Arc::clone(&limit), charge.at());
        let replace = move |charged: Cost, actual: u64| {
            store.store.settle(&key, Charge::new(at, charged), actual);
        };
        let estimate = charge.estimate();
        Some(Settling::new(
            estimate,
            using,
            &limit.meanwhile,
            learn,
            replace,
        ))
    }

    fn failure(&self) -> Option<StoreError> {
        self.0.failure.get().cloned()
    }
}

/// Nothing is charged after it, so nothing is ever taken back.
impl<S, E, C> Cancel for LastHeld<S, E, C>
where
    S: KeyedRateLimiter<E::Key>,
    E: Extract,
{
    fn cancel(&self, _: Charge) {
        unreachable!("the last limit was charged before another");
    }
}

impl<S, E, C> Held for LastHeld<S, E, C>
where
    S: KeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn settling(self: Box<Self>, _: Charge) -> Option<Settling> {
        None
    }

    fn failure(&self) -> Option<StoreError> {
        self.0.failure.get().cloned()
    }
}
