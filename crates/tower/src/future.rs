//! The future of a response behind the layer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::body::ResponseBody;
use crate::engine::{Decide, Told, Verdict};
use crate::settle::{Meter, Settlement};

pin_project! {
    /// The future of a [`RateLimitService`](crate::RateLimitService).
    pub struct ResponseFuture<S, B>
    where
        S: Service<Request<B>>,
    {
        #[pin]
        state: State<S, S::Future, B>,
    }
}

pin_project! {
    #[project = StateProjected]
    enum State<S, F, B> {
        Rejected { response: Option<Response<Bytes>> },
        Serving {
            #[pin]
            future: F,
            told: Option<Told>,
            settlement: Option<Settlement>,
        },
        Deciding { later: Option<Box<Later<S, B>>> },
    }
}

/// A request about which a remote store decides.
struct Later<S, B> {
    engine: Arc<dyn Decide>,
    verdict: Pin<Box<dyn Future<Output = Verdict> + Send>>,
    inner: S,
    parts: Parts,
    body: B,
}

impl<S, B> ResponseFuture<S, B>
where
    S: Service<Request<B>>,
{
    pub(crate) fn judged(
        engine: &dyn Decide,
        verdict: Verdict,
        inner: &mut S,
        parts: Parts,
        body: B,
    ) -> Self {
        let state = judge(engine, verdict, inner, parts, body);
        ResponseFuture { state }
    }

    pub(crate) fn later(
        engine: Arc<dyn Decide>,
        verdict: Pin<Box<dyn Future<Output = Verdict> + Send>>,
        inner: S,
        parts: Parts,
        body: B,
    ) -> Self {
        let later = Some(Box::new(Later {
            engine,
            verdict,
            inner,
            parts,
            body,
        }));
        ResponseFuture {
            state: State::Deciding { later },
        }
    }
}

/// Calls the service, or answers in its place.
fn judge<S, B>(
    engine: &dyn Decide,
    verdict: Verdict,
    inner: &mut S,
    mut parts: Parts,
    body: B,
) -> State<S, S::Future, B>
where
    S: Service<Request<B>>,
{
    if let Some(rejection) = verdict.rejection {
        let mut response = engine
            .settings()
            .response(&rejection, verdict.problem, &parts.headers);
        verdict.told.add_to(response.headers_mut());
        return State::Rejected {
            response: Some(response),
        };
    }
    let meter = engine.settles().then(|| meter(&mut parts));
    // From here on, dropping the future settles the charge.
    let settlement = meter
        .filter(|_| !verdict.settlings.is_empty())
        .map(|meter| Settlement::new(verdict.settlings, meter));
    State::Serving {
        future: inner.call(Request::from_parts(parts, body)),
        told: Some(verdict.told),
        settlement,
    }
}

impl<S, B, R> Future for ResponseFuture<S, B>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Body<Data = Bytes>,
{
    type Output = Result<Response<ResponseBody<R>>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            let next = match state.as_mut().project() {
                StateProjected::Rejected { response } => {
                    let response = response.take().expect("polled after completion");
                    return Poll::Ready(Ok(response.map(ResponseBody::rejection)));
                }
                StateProjected::Serving {
                    future,
                    told,
                    settlement,
                } => {
                    let Poll::Ready(response) = future.poll(context) else {
                        if let Some(settlement) = settlement {
                            settlement.poll_expiry(context);
                        }
                        return Poll::Pending;
                    };
                    let mut response = response?;
                    let mut settlement = settlement.take();
                    if let Some(settlement) = &mut settlement {
                        settlement.responded(&response);
                    }
                    told.take()
                        .unwrap_or_default()
                        .add_to(response.headers_mut());
                    let response = response.map(|body| ResponseBody::passed(body, settlement));
                    return Poll::Ready(Ok(response));
                }
                StateProjected::Deciding { later } => {
                    let waiting = later.as_mut().expect("polled after a panic");
                    let verdict = ready!(waiting.verdict.as_mut().poll(context));
                    let mut later = later.take().expect("it was there");
                    judge(
                        &*later.engine,
                        verdict,
                        &mut later.inner,
                        later.parts,
                        later.body,
                    )
                }
            };
            state.set(next);
        }
    }
}

/// Returns the meter that a request's handler reports to. There is one for each request: a layer
/// further outside may have added it.
fn meter(request: &mut Parts) -> Meter {
    let extensions = &mut request.extensions;
    match extensions.get::<Meter>() {
        Some(meter) => meter.clone(),
        None => {
            let meter = Meter::new();
            extensions.insert(meter.clone());
            meter
        }
    }
}

impl<S: Service<Request<B>>, B> fmt::Debug for ResponseFuture<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
