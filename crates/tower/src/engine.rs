//! The engine of a layer with one limit: it finds a request's key, asks the store, and concludes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, Charge, Cost, Decision, KeyedRateLimiter, Quotas, StoreError,
};

use crate::cost::{Learn, RequestCost};
use crate::headers::Fields;
use crate::key::{Extract, Extracted, MissingKey};
use crate::observe::Outcome;
use crate::rejection::Rejection;
use crate::settings::{Settings, UNRECORDED};
use crate::settle::{Meanwhile, Settling, Settlings, Using};
use crate::store::{InMemory, Remote};

/// Replaces a charge in a store by a number of permits.
type Replace<L, K> = Arc<dyn Fn(&L, &K, Charge, u64) + Send + Sync>;

/// How charges are settled.
pub(crate) struct Settles<L, K> {
    /// Finds what was used.
    pub(crate) using: Using,
    /// Replaces a charge by a number of permits.
    pub(crate) replace: Replace<L, K>,
}

/// A store, an extractor and a cost with their settings.
pub(crate) struct Engine<L, E: Extract, C> {
    pub(crate) store: L,
    pub(crate) extract: E,
    pub(crate) cost: C,
    pub(crate) missing: MissingKey<E::Key>,
    pub(crate) settle: Option<Settles<L, E::Key>>,
    pub(crate) meanwhile: Meanwhile,
    pub(crate) settings: Settings,
}

/// An engine whose types are erased, so that layers and services can be named without them.
pub(crate) trait Decide: Send + Sync {
    /// Decides a request, charges it and reports to the operators.
    fn decide(&self, request: &Parts) -> Deciding;

    /// Whether charges are settled.
    fn settles(&self) -> bool;

    /// The settings.
    fn settings(&self) -> &Settings;
}

/// A verdict, now or later.
pub(crate) enum Deciding {
    Now(Verdict),
    Later(Pin<Box<dyn Future<Output = Verdict> + Send>>),
}

/// The result of a decision.
#[derive(Default)]
pub(crate) struct Verdict {
    /// Why the request does not pass, if it does not.
    pub(crate) rejection: Option<Box<Rejection>>,
    /// The default body of the response to it, if it is cached.
    pub(crate) problem: Option<Bytes>,
    /// How to settle what was charged.
    pub(crate) settlings: Settlings,
    /// The headers.
    pub(crate) told: Told,
}

/// The headers about each limit.
#[derive(Default)]
pub(crate) struct Told(pub(crate) Vec<Fields>);

impl Told {
    pub(crate) fn add_to(self, headers: &mut HeaderMap) {
        for fields in self.0 {
            fields.add_to(headers);
        }
    }
}

/// An engine that its verdicts may outlive.
pub(crate) struct Shared<T>(pub(crate) Arc<T>);

impl<S, E, C> Decide for Shared<Engine<InMemory<S>, E, C>>
where
    S: KeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn decide(&self, request: &Parts) -> Deciding {
        let engine = &self.0;
        let key = match engine.key(request) {
            Ok(key) => key,
            Err(verdict) => return Deciding::Now(*verdict),
        };
        let (cost, store) = (engine.cost.cost(request), &engine.store.0);
        let learn = engine.learn(request);
        let started = engine.settings.starts();
        let answer = match engine.settings.needs_detail() {
            true => store.decide_detailed(&key, cost).map(Seen::InDetail),
            false => store.decide(&key, cost).map(Seen::Plain),
        };
        let time = started.map(|started| started.elapsed());
        Deciding::Now(
            engine.concluded((key, cost, learn), answer, time, Outcome::Full, |key| {
                store.quotas(key)
            }),
        )
    }

    fn settles(&self) -> bool {
        self.0.settle.is_some()
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }
}

impl<S, E, C> Decide for Shared<Engine<Remote<S>, E, C>>
where
    S: AsyncKeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    fn decide(&self, request: &Parts) -> Deciding {
        let engine = Arc::clone(&self.0);
        let key = match engine.key(request) {
            Ok(key) => key,
            Err(verdict) => return Deciding::Now(*verdict),
        };
        let (cost, learn) = (engine.cost.cost(request), engine.learn(request));
        Deciding::Later(Box::pin(async move {
            let started = engine.settings.starts();
            let store = &engine.store.0;
            let answer = store.decide_detailed(&key, cost).await;
            let time = started.map(|started| started.elapsed());
            let answer = answer.map(Seen::InDetail);
            engine.concluded(
                (key, cost, learn),
                answer,
                time,
                Outcome::Unavailable,
                |key| store.quotas(key),
            )
        }))
    }

    fn settles(&self) -> bool {
        self.0.settle.is_some()
    }

    fn settings(&self) -> &Settings {
        &self.0.settings
    }
}

/// A store's answer, with what remains or without.
enum Seen {
    Plain(Decision),
    InDetail(Answer),
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
            ..Verdict::default()
        }))
    }

    /// Returns the verdict that follows from an answer. `by_policy` is the outcome if a policy of
    /// the store gave the answer and no quota was read.
    fn concluded(
        self: &Arc<Self>,
        (key, cost, learn): (E::Key, Cost, Option<Learn>),
        seen: Result<Seen, StoreError>,
        time: Option<Duration>,
        by_policy: Outcome,
        quotas: impl Fn(&E::Key) -> Quotas,
    ) -> Verdict {
        let settings = &self.settings;
        if let Ok(Seen::Plain(Decision::Allowed { at })) = seen
            && at != UNRECORDED
            && self.settle.is_none()
            && !settings.is_observed()
        {
            return Verdict::default();
        }
        let seen = match seen {
            Ok(seen) => seen,
            Err(error) => return self.failed(&error, time, || quotas(&key)),
        };
        let decision = match &seen {
            Seen::Plain(decision) => *decision,
            Seen::InDetail(answer) => answer.detailed.decision(),
        };
        let mut problem = None;
        let (outcome, rejection) = match decision {
            Decision::Allowed { at: UNRECORDED } => (by_policy, None),
            Decision::Allowed { .. } => (Outcome::Allowed, None),
            Decision::Denied(denial) => {
                let rejection;
                (rejection, problem) = match &seen {
                    Seen::Plain(_) => settings.denied(&settings.names, &quotas(&key), denial),
                    Seen::InDetail(answer) => {
                        settings.denied(&settings.names, &answer.quotas, denial)
                    }
                };
                match rejection {
                    Rejection::Denied { .. } => (Outcome::Denied, Some(rejection)),
                    _ => (by_policy, Some(rejection)),
                }
            }
        };
        let is_by_quotas = outcome != by_policy;
        let charge = decision
            .at()
            .map(|at| Charge::new(at, cost))
            .filter(|_| is_by_quotas);
        let mut told = Told::default();
        if let (Seen::InDetail(answer), true) = (&seen, is_by_quotas && settings.needs_detail()) {
            let fields = settings.headers.of_answer(&settings.names, answer, cost);
            told.0.push(fields);
        }
        Verdict {
            rejection: settings.conclude(outcome, rejection, None, time),
            problem,
            settlings: charge
                .and_then(|charge| self.settling(key, charge, learn))
                .into_iter()
                .collect(),
            told,
        }
    }

    /// Returns the verdict on a request about which the store has no decision.
    #[cold]
    fn failed(
        &self,
        error: &StoreError,
        time: Option<Duration>,
        quotas: impl Fn() -> Quotas,
    ) -> Verdict {
        let settings = &self.settings;
        let (outcome, rejection) = settings.failed(error, &settings.names, &quotas);
        let mut told = Told::default();
        if outcome == Outcome::NeverFits && settings.needs_detail() {
            let fields = settings.headers.of_quotas(&settings.names, &quotas());
            told.0.push(fields);
        }
        Verdict {
            rejection: settings.conclude(outcome, rejection, Some(error), time),
            told,
            ..Verdict::default()
        }
    }

    /// Returns the function that learns from the cost of a request, if its cost is settled.
    fn learn(&self, request: &Parts) -> Option<Learn> {
        self.settle.as_ref()?;
        self.cost.learn(request)
    }

    /// Returns how to settle a charge, if charges are settled.
    fn settling(
        self: &Arc<Self>,
        key: E::Key,
        charge: Charge,
        learn: Option<Learn>,
    ) -> Option<Settling> {
        let Settles { using, replace } = self.settle.as_ref()?;
        let (engine, replace, at) = (Arc::clone(self), Arc::clone(replace), charge.at());
        let replace = move |charged: Cost, actual: u64| {
            replace(&engine.store, &key, Charge::new(at, charged), actual);
        };
        let using = Arc::clone(using);
        let estimate = charge.estimate();
        Some(Settling::new(
            estimate,
            using,
            &self.meanwhile,
            learn,
            replace,
        ))
    }
}
