//! The layer and its service: decide, pass on or refuse, tell.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use windowpane_core::{
    AcquireError, Answer, AsyncKeyedRateLimiter, Charge, Cost, Decision, Quotas, StoreError,
};

use crate::body::ResponseBody;
use crate::cost::RequestCost;
use crate::key::{Extract, Extracted, MissingKey};
use crate::limit::RateLimit;
use crate::observe::{Event, Outcome, is_timed, observe};
use crate::refusal::{OnFailure, Refusal, is_grpc};
use crate::settle::{Meter, Settlement};

/// Puts a rate limit before a service; built by [`RateLimit`], cheap to clone. All services behind
/// clones of one layer share its store.
pub struct RateLimitLayer<L, E: Extract, C = Cost> {
    limit: Arc<RateLimit<L, E, C>>,
}

impl<L, E: Extract, C> RateLimitLayer<L, E, C> {
    pub(crate) fn new(limit: RateLimit<L, E, C>) -> RateLimitLayer<L, E, C> {
        RateLimitLayer {
            limit: Arc::new(limit),
        }
    }
}

impl<S, L, E: Extract, C> Layer<S> for RateLimitLayer<L, E, C> {
    type Service = RateLimitService<S, L, E, C>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimitService {
            inner,
            limit: Arc::clone(&self.limit),
        }
    }
}

/// A service behind a rate limit.
pub struct RateLimitService<S, L, E: Extract, C = Cost> {
    inner: S,
    limit: Arc<RateLimit<L, E, C>>,
}

impl<S, L, E, C, B, R> Service<Request<B>> for RateLimitService<S, L, E, C>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    L: AsyncKeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
    B: Send + 'static,
    R: Body<Data = Bytes> + 'static,
{
    type Response = Response<ResponseBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that was found ready goes with the request; its clone waits for the next.
        let clone = self.inner.clone();
        let inner = mem::replace(&mut self.inner, clone);
        Box::pin(serve(Arc::clone(&self.limit), inner, request))
    }
}

/// What was decided of a request, and what is told of it.
struct Verdict<K> {
    /// Why it does not pass, if it does not.
    refusal: Option<Refusal>,
    /// The charge, for one that passes.
    charge: Option<(K, Charge)>,
    /// What the headers tell.
    told: Option<Told>,
}

/// What there is to tell a client.
enum Told {
    Answer(Answer),
    /// There was no decision: of such quotas the request can never fit one.
    Quotas(Quotas),
}

async fn serve<S, L, E, C, B, R>(
    limit: Arc<RateLimit<L, E, C>>,
    mut inner: S,
    request: Request<B>,
) -> Result<Response<ResponseBody<R>>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>>,
    L: AsyncKeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
    R: Body<Data = Bytes>,
{
    let (mut parts, body) = request.into_parts();
    let verdict = limit.decide(&parts).await;

    if let Some(refusal) = verdict.refusal {
        let mut response = limit.put(&refusal, &parts.headers);
        limit.tell(response.headers_mut(), verdict.told);
        return Ok(response.map(ResponseBody::refusal));
    }

    let meter = limit.meter(&mut parts);
    // From here on, whatever drops this future settles the charge.
    let mut settlement = verdict
        .charge
        .zip(meter)
        .map(|((key, charge), meter)| RateLimit::settlement(&limit, key, charge, meter));
    let mut response = inner.call(Request::from_parts(parts, body)).await?;
    if let Some(settlement) = &mut settlement {
        settlement.responded(&response);
    }
    limit.tell(response.headers_mut(), verdict.told);
    Ok(response.map(|body| ResponseBody::passed(body, settlement)))
}

impl<L, E, C> RateLimit<L, E, C>
where
    L: AsyncKeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    /// Decides, charges and tells the operators.
    async fn decide(&self, request: &Parts) -> Verdict<E::Key> {
        let key = match self.extract.extract(request) {
            Extracted::Key(key) => key,
            Extracted::Exempt => return self.uncounted(Outcome::Exempt, None),
            Extracted::Missing(what) => match &self.options.missing {
                MissingKey::Share(key) => key.clone(),
                MissingKey::Pass => return self.uncounted(Outcome::MissingKey, None),
                MissingKey::Refuse => {
                    let refusal = Refusal::MissingKey { what };
                    return self.uncounted(Outcome::MissingKey, Some(refusal));
                }
            },
        };
        let cost = self.cost.cost(request);
        let started = is_timed(self.options.observer.as_ref()).then(Instant::now);
        let answer = self.limiter.acquire_detailed(&key, cost).await;
        let time = started.map(|started| started.elapsed());
        match answer {
            Ok(answer) => self.answered(key, cost, answer, time),
            Err(error) => self.failed(&key, error, time),
        }
    }

    /// What follows from an answer.
    fn answered(
        &self,
        key: E::Key,
        cost: Cost,
        answer: Answer,
        time: Option<Duration>,
    ) -> Verdict<E::Key> {
        let decision = answer.detailed.decision();
        let (outcome, refusal) = match decision {
            Decision::Allowed { .. } => (Outcome::Allowed, None),
            Decision::Denied(denied) => {
                let index = denied.quota();
                let refusal = Refusal::Denied {
                    policy: self
                        .options
                        .policies
                        .name(&answer.quotas, index)
                        .into_owned(),
                    // A store of one's own may name any; there is always one.
                    quota: *answer.quotas.get(index).unwrap_or(&answer.quotas[0]),
                    retry_after: denied.retry_after(),
                };
                (Outcome::Denied, Some(refusal))
            }
        };
        Verdict {
            refusal: self.conclude(outcome, refusal, None, time),
            charge: Charge::of(decision, cost).map(|charge| (key, charge)),
            told: (!self.options.shadow).then_some(Told::Answer(answer)),
        }
    }

    /// What follows where the store has no decision.
    fn failed(&self, key: &E::Key, error: StoreError, time: Option<Duration>) -> Verdict<E::Key> {
        let options = &self.options;
        let by_policy = |policy| match policy {
            OnFailure::Refuse => Some(Refusal::Failed(error.clone())),
            OnFailure::Pass => None,
        };
        let (outcome, refusal, told) = match error {
            StoreError::Request(AcquireError::NeverFits { cost, quota, limit }) => {
                let quotas = self.limiter.quotas(key);
                let refusal = Refusal::NeverFits {
                    policy: options.policies.name(&quotas, quota).into_owned(),
                    cost,
                    limit,
                };
                let told = (!options.shadow).then_some(Told::Quotas(quotas));
                (Outcome::NeverFits, Some(refusal), told)
            }
            StoreError::Full { .. } => (Outcome::Full, by_policy(options.on_full), None),
            _ => (
                Outcome::Unavailable,
                by_policy(options.on_unavailable),
                None,
            ),
        };
        Verdict {
            refusal: self.conclude(outcome, refusal, Some(&error), time),
            charge: None,
            told,
        }
    }

    /// What follows where the store is not asked.
    fn uncounted(&self, outcome: Outcome, refusal: Option<Refusal>) -> Verdict<E::Key> {
        Verdict {
            refusal: self.conclude(outcome, refusal, None, None),
            charge: None,
            told: None,
        }
    }

    /// Tells the operators, and leaves of a refusal what shadow mode does.
    fn conclude(
        &self,
        outcome: Outcome,
        refusal: Option<Refusal>,
        error: Option<&StoreError>,
        decision_time: Option<Duration>,
    ) -> Option<Refusal> {
        let passed = refusal.is_none() || self.options.shadow;
        let (policy, retry_after) = match &refusal {
            Some(Refusal::Denied {
                policy,
                retry_after,
                ..
            }) => (Some(policy.as_str()), *retry_after),
            Some(Refusal::NeverFits { policy, .. }) => (Some(policy.as_str()), None),
            _ => (None, None),
        };
        let event = Event {
            limiter: self.options.policies.limiter(),
            outcome,
            passed,
            policy,
            retry_after,
            error,
            decision_time,
        };
        observe(self.options.observer.as_ref(), &event);
        refusal.filter(|_| !passed)
    }

    /// Adds the headers that tell the client.
    fn tell(&self, headers: &mut HeaderMap, told: Option<Told>) {
        let (tells, policies) = (&self.options.headers, &self.options.policies);
        match &told {
            None => {}
            Some(Told::Answer(answer)) => tells.tell(headers, policies, answer),
            Some(Told::Quotas(quotas)) => tells.tell_policy(headers, policies, quotas),
        }
    }

    /// Puts a refusal to the client of a request with these headers.
    fn put(&self, refusal: &Refusal, request: &HeaderMap) -> Response<Bytes> {
        match &self.options.respond {
            _ if is_grpc(request) => refusal.grpc_response(),
            Some(respond) => respond(refusal),
            None => refusal.response(),
        }
    }

    /// The meter that a request's handler reports to, if anything is settled. A layer further
    /// outside may have given it one: there is one a request.
    fn meter(&self, request: &mut Parts) -> Option<Meter> {
        self.options.settle.as_ref()?;
        let extensions = &mut request.extensions;
        Some(match extensions.get::<Meter>() {
            Some(meter) => meter.clone(),
            None => {
                let meter = Meter::new();
                extensions.insert(meter.clone());
                meter
            }
        })
    }

    fn settlement(limit: &Arc<Self>, key: E::Key, charge: Charge, meter: Meter) -> Settlement {
        let limit = Arc::clone(limit);
        Settlement::new(charge.estimate(), meter, move |used| {
            if let Some(settle) = &limit.options.settle {
                settle(&limit.limiter, key, charge, used);
            }
        })
    }
}

impl<L, E: Extract, C> Clone for RateLimitLayer<L, E, C> {
    fn clone(&self) -> Self {
        RateLimitLayer {
            limit: Arc::clone(&self.limit),
        }
    }
}

impl<S: Clone, L, E: Extract, C> Clone for RateLimitService<S, L, E, C> {
    fn clone(&self) -> Self {
        RateLimitService {
            inner: self.inner.clone(),
            limit: Arc::clone(&self.limit),
        }
    }
}

impl<L, E: Extract, C> fmt::Debug for RateLimitLayer<L, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RateLimitLayer").field(&self.limit).finish()
    }
}

impl<S, L, E: Extract, C> fmt::Debug for RateLimitService<S, L, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitService")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
