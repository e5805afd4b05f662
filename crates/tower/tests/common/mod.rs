//! What the tests share: a small store, a client in the same process, one on the loopback interface,
//! a runtime within a time bound.
#![allow(dead_code, unreachable_pub)] // each test takes what it needs

#[path = "../../../core/tests/bounded/mod.rs"]
pub mod bounded;
pub mod fields;
pub mod observed;
pub mod wire;

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use tower::{Layer, Service, ServiceExt};
use windowpane_core::clock::ManualClock;
use windowpane_core::{
    Answer, Charge, Clock, Cost, Decision, FromQuotas, KeyedRateLimiter, KeyedSettle, Nanos,
    Quotas, Settle, StoreError,
};
use windowpane_tower::{ClientAddress, ResponseBody};

pub const SECOND: Nanos = 1_000_000_000;

/// Runs a test on a runtime of its own, within the time bound.
pub fn on_tokio<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    bounded::bounded(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(test());
    });
}

/// One limiter a key behind one mutex: as plain as a store can be.
pub struct Store<K, L, C = Arc<ManualClock>> {
    quotas: Quotas,
    clock: C,
    limiters: Mutex<HashMap<K, Arc<L>>>,
}

/// A store of limiters of that kind, on a clock that is moved by hand.
pub fn store<K: Hash + Eq, L>(quotas: &[&str]) -> (Arc<Store<K, L>>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(0));
    (store_on(quotas, Arc::clone(&clock)), clock)
}

pub fn store_on<K: Hash + Eq, L, C>(quotas: &[&str], clock: C) -> Arc<Store<K, L, C>> {
    Arc::new(Store {
        quotas: Quotas::parse(quotas).unwrap(),
        clock,
        limiters: Mutex::new(HashMap::new()),
    })
}

impl<K: Hash + Eq + Clone, L: FromQuotas, C: Clock> Store<K, L, C> {
    pub fn of(&self, key: &K) -> Arc<L> {
        let mut limiters = self.limiters.lock().unwrap();
        let new = || Arc::new(L::from_quotas(&self.quotas, self.clock.now()).unwrap());
        Arc::clone(limiters.entry(key.clone()).or_insert_with(new))
    }

    /// The keys known, in no order.
    pub fn keys(&self) -> Vec<K> {
        self.limiters.lock().unwrap().keys().cloned().collect()
    }

    /// What is left for a key: the largest cost that fits.
    pub fn left(&self, key: &K) -> u64 {
        let now = self.clock.now();
        let peeked = self.of(key).peek_at(now, Cost::ONE).unwrap();
        match peeked.decision() {
            Decision::Allowed { .. } => peeked.remaining() + 1,
            Decision::Denied(_) => peeked.remaining(),
        }
    }
}

impl<K, L, C> KeyedRateLimiter<K> for Store<K, L, C>
where
    K: Hash + Eq + Clone + Send + Sync,
    L: FromQuotas,
    C: Clock + Send + Sync,
{
    fn quotas(&self, _: &K) -> Quotas {
        self.quotas.clone()
    }

    fn decide(&self, key: &K, cost: Cost) -> Result<Decision, StoreError> {
        Ok(self.of(key).decide_at(self.clock.now(), cost)?)
    }

    fn decide_detailed(&self, key: &K, cost: Cost) -> Result<Answer, StoreError> {
        let now = self.clock.now();
        let limiter = self.of(key);
        let detailed = limiter.decide_detailed_at(now, cost)?;
        // More remains once a request for one more than remains would be allowed.
        let more = Cost::new(detailed.remaining() + 1).and_then(|more| {
            let peeked = limiter.peek_at(now, more).ok()?;
            peeked.decision().denied()?.retry_after_nanos()
        });
        Ok(Answer::new(detailed, self.quotas.clone()).with_more_after(more))
    }

    fn peek_detailed(&self, key: &K, cost: Cost) -> Result<Answer, StoreError> {
        let detailed = self.of(key).peek_at(self.clock.now(), cost)?;
        Ok(Answer::new(detailed, self.quotas.clone()))
    }

    fn reset(&self, key: &K) {
        self.of(key).reset();
    }
}

impl<K, L, C> KeyedSettle<K> for Store<K, L, C>
where
    K: Hash + Eq + Clone + Send + Sync,
    L: FromQuotas + Settle,
    C: Clock + Send + Sync,
{
    fn settle(&self, key: &K, charge: Charge, actual: u64) {
        self.of(key)
            .settle_at(charge.at(), charge.estimate(), actual);
    }

    fn cancel(&self, key: &K, charge: Charge) {
        self.of(key).cancel_at(charge.at(), charge.estimate());
    }
}

type OkFuture = std::future::Ready<Result<Response<Full<Bytes>>, Infallible>>;
pub type OkService = tower::util::ServiceFn<fn(Request<Empty<Bytes>>) -> OkFuture>;

/// A service that answers `ok`.
pub fn ok_service() -> OkService {
    tower::service_fn(|_| std::future::ready(Ok(Response::new(Full::from("ok")))))
}

/// A request from that peer, with these headers.
pub fn request(peer: &str, headers: &[(&'static str, &str)]) -> Request<Empty<Bytes>> {
    let mut request = Request::builder().uri("/");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Empty::new()).unwrap();
    let peer = windowpane_tower::Peer((peer.parse::<std::net::IpAddr>().unwrap(), 4711).into());
    request.extensions_mut().insert(peer);
    request
}

/// The client's address by the connection alone.
pub fn by_peer() -> ClientAddress {
    ClientAddress::new()
}

/// Sends a request through a layer to [`ok_service`]; the body read to its end.
pub async fn send<L, S>(layer: &L, request: Request<Empty<Bytes>>) -> Response<String>
where
    L: Layer<OkService, Service = S>,
    S: Service<
            Request<Empty<Bytes>>,
            Response = Response<ResponseBody<Full<Bytes>>>,
            Error = Infallible,
        >,
{
    let service = layer.layer(ok_service());
    let response = service.oneshot(request).await.unwrap();
    read(response).await
}

/// Reads a response's body to its end.
pub async fn read<B>(response: Response<B>) -> Response<String>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Response::from_parts(parts, String::from_utf8(body.to_vec()).unwrap())
}

/// The value of a header, if the response has it.
pub fn header<'r, B>(response: &'r Response<B>, name: &str) -> Option<&'r str> {
    let mut values = response.headers().get_all(name).iter();
    let value = values.next().map(|value| value.to_str().unwrap());
    assert!(values.next().is_none(), "{name} stands more than once");
    value
}

/// A header that is a number.
pub fn number<B>(response: &Response<B>, name: &str) -> Option<u64> {
    header(response, name).map(|value| value.parse().unwrap())
}
