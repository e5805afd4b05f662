//! A request without headers allocates nothing in the layer.

#![cfg(not(feature = "metrics"))] // labels of metrics are allocated

mod common;

use std::alloc::System;
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::net::IpAddr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use common::request;
use http::{Request, Response};
use http_body_util::Empty;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tower::{Layer, Service, ServiceExt};
use windowpane_cas_ring::CasRing;
use windowpane_keyed::KeyedLimiter;
use windowpane_tower::{ClientAddress, RateLimitBuilder};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn inner(_: Request<Empty<Bytes>>) -> Ready<Result<Response<Empty<Bytes>>, Infallible>> {
    ready(Ok(Response::new(Empty::new())))
}

/// The allocations of one call of a service, without those of the request.
fn allocations<S, B>(service: &mut S) -> usize
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible>,
{
    let mut fewest = usize::MAX;
    // The first call inserts the key. The test harness has a thread of its own, which allocates now
    // and then; what a call allocates, it allocates each time.
    for _ in 0..8 {
        let request = request("192.0.2.1", &[]);
        let region = Region::new(ALLOCATOR);
        let response = pin!(service.ready().now_or_panic().call(request));
        let response = response.poll(&mut Context::from_waker(Waker::noop()));
        fewest = fewest.min(region.change().allocations);
        let Poll::Ready(Ok(response)) = response else {
            panic!("the service answers immediately");
        };
        assert_eq!(response.status(), 200);
    }
    fewest
}

/// The output of a future that is ready.
trait NowOrPanic: Future + Sized {
    fn now_or_panic<T>(self) -> T
    where
        Self: Future<Output = Result<T, Infallible>>,
    {
        match pin!(self).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(output)) => output,
            Poll::Ready(Err(never)) => match never {},
            Poll::Pending => panic!("a future that is not ready"),
        }
    }
}

impl<F: Future> NowOrPanic for F {}

#[test]
fn layer_without_headers_allocates_nothing() {
    let layer = |headers: bool| {
        let store = KeyedLimiter::<IpAddr, CasRing>::new("1000/60s").unwrap();
        let layer = RateLimitBuilder::new(store, ClientAddress::new());
        layer.draft_headers(headers).build()
    };
    let service = tower::service_fn(inner);
    assert_eq!(allocations(&mut service.clone()), 0);
    assert_eq!(allocations(&mut layer(false).layer(service.clone())), 0);
    // Otherwise the count shows nothing.
    assert!(allocations(&mut layer(true).layer(service)) > 0);
}
