//! The layer and its service.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use windowpane_core::KeyedRateLimiter;

use crate::body::ResponseBody;
use crate::builder::RateLimitBuilder;
use crate::engine::{Decide, Deciding};
use crate::future::ResponseFuture;
use crate::key::Extract;
use crate::stack::StackBuilder;
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

    /// Returns a builder of a layer with several limits, as [`StackBuilder::new`] does.
    pub fn stack() -> StackBuilder {
        StackBuilder::new()
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
    S: Service<Request<B>, Response = Response<R>> + Clone,
    R: Body<Data = Bytes>,
{
    type Response = Response<ResponseBody<R>>;
    type Error = S::Error;
    type Future = ResponseFuture<S, B>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<S, B> {
        let (parts, body) = request.into_parts();
        match self.engine.decide(&parts) {
            Deciding::Now(verdict) => {
                ResponseFuture::judged(&*self.engine, verdict, &mut self.inner, parts, body)
            }
            Deciding::Later(verdict) => {
                // The service that is ready goes with the request; its clone waits for the next.
                let clone = self.inner.clone();
                let inner = mem::replace(&mut self.inner, clone);
                ResponseFuture::later(Arc::clone(&self.engine), verdict, inner, parts, body)
            }
        }
    }
}

impl fmt::Debug for RateLimitLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.engine.settings();
        f.debug_struct("RateLimitLayer")
            .field("name", &settings.limiter())
            .field("shadow", &settings.shadow)
            .finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for RateLimitService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.engine.settings();
        f.debug_struct("RateLimitService")
            .field("name", &settings.limiter())
            .field("shadow", &settings.shadow)
            .finish_non_exhaustive()
    }
}
