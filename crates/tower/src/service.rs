//! The layer and its service.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use windowpane_core::KeyedRateLimiter;

use crate::body::ResponseBody;
use crate::builder::RateLimitBuilder;
use crate::engine::{Decide, Deciding};
use crate::key::Extract;
use crate::settle::{Meter, Settlement};
use crate::store::InMemory;

/// A `tower` layer that puts a rate limit before a service.
///
/// It has no type parameters, so a struct can hold it whatever its store and its key are. It is
/// cheap to clone; the services behind all clones share one store.
#[derive(Clone)]
pub struct RateLimitLayer {
    engine: Arc<dyn Decide>,
}

impl RateLimitLayer {
    /// Returns a layer with every default: each key that `key` finds is limited by its quotas in
    /// `store`, and a request costs one permit.
    pub fn new<S, E>(store: S, key: E) -> RateLimitLayer
    where
        S: KeyedRateLimiter<E::Key> + 'static,
        E: Extract,
    {
        RateLimitLayer::builder(store, key).build()
    }

    /// Returns a builder, as [`RateLimitBuilder::new`] does.
    pub fn builder<S, E>(store: S, key: E) -> RateLimitBuilder<InMemory<S>, E>
    where
        S: KeyedRateLimiter<E::Key> + 'static,
        E: Extract,
    {
        RateLimitBuilder::new(store, key)
    }

    pub(crate) fn of(engine: Arc<dyn Decide>) -> RateLimitLayer {
        RateLimitLayer { engine }
    }
}

impl<S> Layer<S> for RateLimitLayer {
    type Service = RateLimitService<S>;

    fn layer(&self, inner: S) -> RateLimitService<S> {
        RateLimitService {
            inner,
            engine: Arc::clone(&self.engine),
        }
    }
}

/// A service behind a [`RateLimitLayer`].
#[derive(Clone)]
pub struct RateLimitService<S> {
    inner: S,
    engine: Arc<dyn Decide>,
}

impl<S, B, R> Service<Request<B>> for RateLimitService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
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
        // The service that is ready goes with the request; its clone waits for the next.
        let clone = self.inner.clone();
        let inner = mem::replace(&mut self.inner, clone);
        Box::pin(serve(Arc::clone(&self.engine), inner, request))
    }
}

async fn serve<S, B, R>(
    engine: Arc<dyn Decide>,
    mut inner: S,
    request: Request<B>,
) -> Result<Response<ResponseBody<R>>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Body<Data = Bytes>,
{
    let (mut parts, body) = request.into_parts();
    let verdict = match Arc::clone(&engine).decide(&parts) {
        Deciding::Now(verdict) => verdict,
        Deciding::Later(verdict) => verdict.await,
    };
    let settings = engine.settings();

    if let Some(rejection) = verdict.rejection {
        let mut response = settings.response(&rejection, &parts.headers);
        settings.tell(response.headers_mut(), verdict.told);
        return Ok(response.map(ResponseBody::rejection));
    }

    let meter = engine.settles().then(|| meter(&mut parts));
    // From here on, dropping this future settles the charge.
    let mut settlement = verdict
        .settling
        .zip(meter)
        .map(|((estimate, settling), meter)| Settlement::new(estimate, meter, settling));
    let mut response = inner.call(Request::from_parts(parts, body)).await?;
    if let Some(settlement) = &mut settlement {
        settlement.responded(&response);
    }
    settings.tell(response.headers_mut(), verdict.told);
    Ok(response.map(|body| ResponseBody::passed(body, settlement)))
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

impl fmt::Debug for RateLimitLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.engine.settings();
        f.debug_struct("RateLimitLayer")
            .field("name", &settings.policies.limiter())
            .field("shadow", &settings.shadow)
            .finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for RateLimitService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.engine.settings();
        f.debug_struct("RateLimitService")
            .field("name", &settings.policies.limiter())
            .field("shadow", &settings.shadow)
            .finish_non_exhaustive()
    }
}
