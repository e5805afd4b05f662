//! The engine of a layer: it finds a request's key, asks the store, and concludes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, header};
use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, Charge, Cost, Decision, KeyedRateLimiter, Nanos, Quotas,
    RequestError, StoreError,
};

use crate::cost::RequestCost;
use crate::headers::{Headers, whole_seconds};
use crate::key::{Extract, Extracted, MissingKey};
use crate::observe::{self, Event, Observer, Outcome, is_timed, observe};
use crate::policy::Policies;
use crate::rejection::{OnFailure, Rejection, is_grpc};
use crate::settle::{Settling, Used};
use crate::store::{InMemory, Remote};

/// Replaces a charge by what was used.
pub(crate) type Settle<L, K> = Arc<dyn Fn(&L, K, Charge, &Used) + Send + Sync>;

/// Writes the response to a rejected request.
pub(crate) type Respond = Arc<dyn Fn(&Rejection) -> Response<Bytes> + Send + Sync>;

/// The time of an allowance that the store recorded nowhere: a policy of the store allowed it, and
/// no quota was read.
const UNRECORDED: Nanos = Nanos::MAX;

/// The settings that depend on no type.
pub(crate) struct Settings {
    pub(crate) policies: Policies,
    pub(crate) headers: Headers,
    pub(crate) on_full: OnFailure,
    pub(crate) on_unavailable: OnFailure,
    pub(crate) failure_retry_after: Duration,
    pub(crate) shadow: bool,
    pub(crate) respond: Option<Respond>,
    pub(crate) observer: Option<Observer>,
    /// Whether a fault of the server was logged: once is enough.
    pub(crate) fault_logged: AtomicBool,
}

/// A store, an extractor and a cost with their settings.
pub(crate) struct Engine<L, E: Extract, C> {
    pub(crate) store: L,
    pub(crate) extract: E,
    pub(crate) cost: C,
    pub(crate) missing: MissingKey<E::Key>,
    pub(crate) settle: Option<Settle<L, E::Key>>,
    pub(crate) settings: Settings,
}

/// An engine whose types are erased, so that layers and services can be named without them.
pub(crate) trait Decide: Send + Sync {
    /// Decides a request, charges it and reports to the operators.
    fn decide(self: Arc<Self>, request: &Parts) -> Deciding;

    /// Whether charges are settled.
    fn settles(&self) -> bool;

    /// The settings.
    fn settings(&self) -> &Settings;
}

/// A verdict, now or later.
#[expect(
    clippy::large_enum_variant,
    reason = "a box would allocate for every decision in memory"
)]
pub(crate) enum Deciding {
    Now(Verdict),
    Later(Pin<Box<dyn Future<Output = Verdict> + Send>>),
}

/// The result of a decision.
pub(crate) struct Verdict {
    /// Why the request does not pass, if it does not.
    pub(crate) rejection: Option<Rejection>,
    /// The estimate that was charged, and how to settle it.
    pub(crate) settling: Option<(Cost, Settling)>,
    /// The content of the headers.
    pub(crate) told: Option<Told>,
}

/// The content of the headers.
pub(crate) enum Told {
    /// A decision by quotas.
    Answer(Answer),
    /// Quotas without a decision: the request can never fit one of them.
    Quotas(Quotas),
}

impl<S, E, C> Decide for Engine<InMemory<S>, E, C>
where
    S: KeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn decide(self: Arc<Self>, request: &Parts) -> Deciding {
        let key = match self.key(request) {
            Ok(key) => key,
            Err(verdict) => return Deciding::Now(*verdict),
        };
        let cost = self.cost.cost(request);
        let started = self.settings.starts();
        let answer = self.store.0.decide_detailed(&key, cost);
        let time = started.map(|started| started.elapsed());
        Deciding::Now(match answer {
            Ok(answer) => self.answered(key, cost, answer, time, Outcome::Full),
            Err(error) => self.failed(error, time, || self.store.0.quotas(&key)),
        })
    }

    fn settles(&self) -> bool {
        self.settle.is_some()
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl<S, E, C> Decide for Engine<Remote<S>, E, C>
where
    S: AsyncKeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn decide(self: Arc<Self>, request: &Parts) -> Deciding {
        let key = match self.key(request) {
            Ok(key) => key,
            Err(verdict) => return Deciding::Now(*verdict),
        };
        let cost = self.cost.cost(request);
        Deciding::Later(Box::pin(async move {
            let started = self.settings.starts();
            let answer = self.store.0.decide_detailed(&key, cost).await;
            let time = started.map(|started| started.elapsed());
            match answer {
                Ok(answer) => self.answered(key, cost, answer, time, Outcome::Unavailable),
                Err(error) => self.failed(error, time, || self.store.0.quotas(&key)),
            }
        }))
    }

    fn settles(&self) -> bool {
        self.settle.is_some()
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl<L, E, C> Engine<L, E, C>
where
    L: Send + Sync + 'static,
    E: Extract,
    C: RequestCost,
{
    /// Returns the key of a request, or the verdict on a request without one.
    fn key(&self, request: &Parts) -> Result<E::Key, Box<Verdict>> {
        let (outcome, rejection) = match self.extract.extract(request) {
            Extracted::Key(key) => return Ok(key),
            Extracted::Exempt => (Outcome::Exempt, None),
            Extracted::Missing(what) => match &self.missing {
                MissingKey::Share(key) => return Ok(key.clone()),
                MissingKey::Allow => (Outcome::MissingKey, None),
                MissingKey::Reject => (Outcome::MissingKey, Some(Rejection::MissingKey { what })),
            },
            Extracted::ServerFault(what) => {
                self.settings.log_fault(what);
                (Outcome::ServerFault, Some(Rejection::ServerFault { what }))
            }
        };
        Err(Box::new(Verdict {
            rejection: self.settings.conclude(outcome, rejection, None, None),
            settling: None,
            told: None,
        }))
    }

    /// Returns the verdict that follows from an answer. `by_policy` is the outcome if a policy of
    /// the store gave the answer and no quota was read.
    fn answered(
        self: &Arc<Self>,
        key: E::Key,
        cost: Cost,
        answer: Answer,
        time: Option<Duration>,
        by_policy: Outcome,
    ) -> Verdict {
        let settings = &self.settings;
        let decision = answer.detailed.decision();
        let (outcome, rejection) = match decision {
            Decision::Allowed { at: UNRECORDED } => (by_policy, None),
            Decision::Allowed { .. } => (Outcome::Allowed, None),
            Decision::Denied(denial) => match answer.quotas.get(denial.quota()) {
                Some(quota) => {
                    let policy = settings.policies.name(&answer.quotas, denial.quota());
                    let rejection = Rejection::Denied {
                        policy: policy.into_owned(),
                        quota: *quota,
                        retry_after: denial.retry_after(),
                    };
                    (Outcome::Denied, Some(rejection))
                }
                None => {
                    let rejection = Rejection::DeniedOnFailure {
                        error: None,
                        retry_after: denial.retry_after().unwrap_or(settings.failure_retry_after),
                    };
                    (by_policy, Some(rejection))
                }
            },
        };
        let is_by_quotas = outcome != by_policy;
        let charge = decision
            .at()
            .map(|at| Charge::new(at, cost))
            .filter(|_| is_by_quotas);
        Verdict {
            rejection: settings.conclude(outcome, rejection, None, time),
            settling: charge.and_then(|charge| self.settling(key, charge)),
            told: (is_by_quotas && !settings.shadow).then_some(Told::Answer(answer)),
        }
    }

    /// Returns the verdict on a request about which the store has no decision.
    fn failed(
        &self,
        error: StoreError,
        time: Option<Duration>,
        quotas: impl FnOnce() -> Quotas,
    ) -> Verdict {
        let settings = &self.settings;
        let by_policy = |policy| match policy {
            OnFailure::Error => Some(Rejection::Failed {
                error: error.clone(),
                retry_after: settings.failure_retry_after,
            }),
            OnFailure::Deny => Some(Rejection::DeniedOnFailure {
                error: Some(error.clone()),
                retry_after: settings.failure_retry_after,
            }),
            OnFailure::Allow => None,
        };
        let (outcome, rejection, told) = match error {
            StoreError::Request(RequestError::NeverFits { cost, quota, limit }) => {
                let quotas = quotas();
                let rejection = Rejection::NeverFits {
                    policy: settings.policies.name(&quotas, quota).into_owned(),
                    cost,
                    limit,
                };
                let told = (!settings.shadow).then_some(Told::Quotas(quotas));
                (Outcome::NeverFits, Some(rejection), told)
            }
            StoreError::Full { .. } => (Outcome::Full, by_policy(settings.on_full), None),
            _ => (
                Outcome::Unavailable,
                by_policy(settings.on_unavailable),
                None,
            ),
        };
        Verdict {
            rejection: settings.conclude(outcome, rejection, Some(&error), time),
            settling: None,
            told,
        }
    }

    /// Returns how to settle a charge, if charges are settled.
    fn settling(self: &Arc<Self>, key: E::Key, charge: Charge) -> Option<(Cost, Settling)> {
        let settle = self.settle.clone()?;
        let (engine, estimate) = (Arc::clone(self), charge.estimate());
        let settling = move |used: &Used| settle(&engine.store, key, charge, used);
        Some((estimate, Box::new(settling)))
    }
}

impl Settings {
    /// Returns the time at which a decision begins, if decisions are timed.
    fn starts(&self) -> Option<Instant> {
        is_timed(self.observer.as_ref()).then(Instant::now)
    }

    /// Logs a fault of the server, once for each layer.
    fn log_fault(&self, what: &str) {
        if !self.fault_logged.swap(true, Ordering::Relaxed) {
            observe::log_fault(self.policies.limiter(), what);
        }
    }

    /// Reports to the operators; in shadow mode the rejection is dropped.
    fn conclude(
        &self,
        outcome: Outcome,
        rejection: Option<Rejection>,
        error: Option<&StoreError>,
        decision_time: Option<Duration>,
    ) -> Option<Rejection> {
        let passed = rejection.is_none() || self.shadow;
        let policy = match &rejection {
            Some(Rejection::Denied { policy, .. } | Rejection::NeverFits { policy, .. }) => {
                Some(policy.as_str())
            }
            _ => None,
        };
        let event = Event {
            limiter: self.policies.limiter(),
            outcome,
            passed,
            policy,
            retry_after: rejection.as_ref().and_then(Rejection::retry_after),
            error,
            decision_time,
        };
        observe(self.observer.as_ref(), &event);
        rejection.filter(|_| !passed)
    }

    /// Adds the headers about quotas.
    pub(crate) fn tell(&self, headers: &mut HeaderMap, told: Option<Told>) {
        match &told {
            None => {}
            Some(Told::Answer(answer)) => self.headers.tell(headers, &self.policies, answer),
            Some(Told::Quotas(quotas)) => {
                self.headers.tell_policy(headers, &self.policies, quotas);
            }
        }
    }

    /// Returns the response to a rejected request that had these headers.
    pub(crate) fn response(&self, rejection: &Rejection, request: &HeaderMap) -> Response<Bytes> {
        let mut response = match &self.respond {
            _ if is_grpc(request) => rejection.grpc_response(),
            Some(respond) => respond(rejection),
            None => rejection.response(),
        };
        if let Some(wait) = rejection.retry_after() {
            let wait = Nanos::try_from(wait.as_nanos()).unwrap_or(Nanos::MAX);
            let wait = HeaderValue::from(whole_seconds(wait));
            response.headers_mut().insert(header::RETRY_AFTER, wait);
        }
        response
    }
}
