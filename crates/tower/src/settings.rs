//! The settings of a layer that depend on no type, and what follows from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, header};
use windowpane_core::{Denial, Nanos, Quotas, RequestError, StoreError};

use crate::headers::{Draft, Headers, whole_seconds};
use crate::observe::{self, Event, Observer, Outcome, is_timed, observe};
use crate::policy::Names;
use crate::rejection::{OnFailure, Rejection, is_grpc};

/// Writes the response to a rejected request.
pub(crate) type Respond = Arc<dyn Fn(&Rejection) -> Response<Bytes> + Send + Sync>;

/// The time of an allowance that the store recorded nowhere: a policy of the store allowed it, and
/// no quota was read.
pub(crate) const UNRECORDED: Nanos = Nanos::MAX;

/// The settings that depend on no type.
pub(crate) struct Settings {
    pub(crate) names: Names,
    pub(crate) headers: Headers,
    pub(crate) on_full: OnFailure,
    pub(crate) on_unavailable: OnFailure,
    pub(crate) failure_retry_after: Duration,
    pub(crate) shadow: bool,
    pub(crate) respond: Option<Respond>,
    pub(crate) observer: Option<Observer>,
    /// Whether a fault of the server was logged: once is enough.
    fault_logged: AtomicBool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            names: Names::default(),
            headers: Headers {
                draft: Some(Draft::default()),
                trio: None,
            },
            on_full: OnFailure::Error,
            on_unavailable: OnFailure::Error,
            failure_retry_after: Duration::from_secs(1),
            shadow: false,
            respond: None,
            observer: None,
            fault_logged: AtomicBool::new(false),
        }
    }
}

impl Settings {
    /// The layer's name.
    pub(crate) fn limiter(&self) -> &str {
        self.names.policies.limiter()
    }

    /// Whether allowed requests are reported to anyone.
    pub(crate) fn is_observed(&self) -> bool {
        cfg!(any(feature = "metrics", feature = "tracing")) || self.observer.is_some()
    }

    /// Whether what remains is needed: headers are sent.
    pub(crate) fn needs_detail(&self) -> bool {
        self.headers.any() && !self.shadow
    }

    /// Returns the rejection of a request that a limit of these quotas denied, and the default body of
    /// the response to it.
    pub(crate) fn denied(
        &self,
        names: &Names,
        quotas: &Quotas,
        denial: Denial,
    ) -> (Rejection, Option<Bytes>) {
        let index = denial.quota();
        let Some(quota) = quotas.get(index) else {
            // A policy of the store denied, and no quota was read.
            let rejection = Rejection::DeniedOnFailure {
                error: None,
                retry_after: denial.retry_after().unwrap_or(self.failure_retry_after),
            };
            return (rejection, None);
        };
        let mut policy = String::new();
        let mut problem = None;
        let draft = self.headers.draft.unwrap_or_default();
        names.written(quotas, draft, |written| {
            if let Some((name, body)) = written.denial(index) {
                policy = name.to_owned();
                problem = Some(body);
            }
        });
        let rejection = Rejection::Denied {
            policy,
            quota: *quota,
            retry_after: denial.retry_after(),
            others: Vec::new(),
        };
        (rejection, problem)
    }

    /// Returns the outcome of a request on which a store failed, and its rejection.
    pub(crate) fn failed(
        &self,
        error: &StoreError,
        names: &Names,
        quotas: impl FnOnce() -> Quotas,
    ) -> (Outcome, Option<Rejection>) {
        let (outcome, policy) = match *error {
            StoreError::Request(RequestError::NeverFits { cost, quota, limit }) => {
                let rejection = Rejection::NeverFits {
                    policy: names.policies.name(&quotas(), quota).into_owned(),
                    cost,
                    limit,
                };
                return (Outcome::NeverFits, Some(rejection));
            }
            StoreError::Full { .. } => (Outcome::Full, self.on_full),
            _ => (Outcome::Unavailable, self.on_unavailable),
        };
        let rejection = match policy {
            OnFailure::Error => Some(Rejection::Failed {
                error: error.clone(),
                retry_after: self.failure_retry_after,
            }),
            OnFailure::Deny => Some(Rejection::DeniedOnFailure {
                error: Some(error.clone()),
                retry_after: self.failure_retry_after,
            }),
            OnFailure::Allow => None,
        };
        (outcome, rejection)
    }

    /// Returns the time at which a decision begins, if decisions are timed.
    pub(crate) fn starts(&self) -> Option<Instant> {
        is_timed(self.observer.as_ref()).then(Instant::now)
    }

    /// Logs a fault of the server, once for each layer.
    pub(crate) fn log_fault(&self, what: &str) {
        if !self.fault_logged.swap(true, Ordering::Relaxed) {
            observe::log_fault(self.limiter(), what);
        }
    }

    /// Reports to the operators; in shadow mode the rejection is dropped.
    pub(crate) fn conclude(
        &self,
        outcome: Outcome,
        rejection: Option<Rejection>,
        error: Option<&StoreError>,
        decision_time: Option<Duration>,
    ) -> Option<Box<Rejection>> {
        let passed = rejection.is_none() || self.shadow;
        let policy = match &rejection {
            Some(Rejection::Denied { policy, .. } | Rejection::NeverFits { policy, .. }) => {
                Some(policy.as_str())
            }
            _ => None,
        };
        let event = Event {
            limiter: self.limiter(),
            outcome,
            passed,
            policy,
            retry_after: rejection.as_ref().and_then(Rejection::retry_after),
            error,
            decision_time,
        };
        observe(self.observer.as_ref(), &event);
        rejection.filter(|_| !passed).map(Box::new)
    }

    /// Returns the response to a rejected request that had these headers.
    pub(crate) fn response(
        &self,
        rejection: &Rejection,
        problem: Option<Bytes>,
        request: &HeaderMap,
    ) -> Response<Bytes> {
        let mut response = match (&self.respond, problem) {
            _ if is_grpc(request) => rejection.grpc_response(),
            (Some(respond), _) => respond(rejection),
            (None, Some(problem)) => rejection.response_of(problem),
            (None, None) => rejection.response(),
        };
        if let Some(wait) = rejection.retry_after() {
            let wait = Nanos::try_from(wait.as_nanos()).unwrap_or(Nanos::MAX);
            let wait = HeaderValue::from(whole_seconds(wait));
            response.headers_mut().insert(header::RETRY_AFTER, wait);
        }
        response
    }
}
