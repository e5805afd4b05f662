//! The requests that the tests of metrics and of traces watch.

use std::net::IpAddr;

use http::Request;
use http_body_util::Empty;
use windowpane_cas_ring::CasRing;
use windowpane_core::{Answer, AsyncKeyedRateLimiter, Cost, Quotas, StoreError};
use windowpane_tower::RateLimitBuilder;

use super::{by_peer, request, send, store};

/// Whose requests are sent; no metric and no trace may name it.
pub const CLIENT: &str = "192.0.2.1";

struct Broken;

impl AsyncKeyedRateLimiter<IpAddr> for Broken {
    fn quotas(&self, _: &IpAddr) -> Quotas {
        Quotas::parse(["2/1s"]).unwrap()
    }

    async fn decide_detailed(&self, _: &IpAddr, _: Cost) -> Result<Answer, StoreError> {
        let reason = "no answer within 50ms".into();
        Err(StoreError::Unavailable { reason })
    }
}

/// Three allowed, two denied, two without a peer address, one on which the store failed.
pub async fn traffic() {
    let (store, _) = store::<_, CasRing>(&["9/1s", "3/60s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .named("address")
        .unwrap()
        .build();
    for _ in 0..5 {
        let _ = send(&layer, request(CLIENT, &[])).await;
    }
    for _ in 0..2 {
        let _ = send(&layer, Request::new(Empty::new())).await;
    }
    let broken = RateLimitBuilder::remote(Broken, by_peer())
        .named("far")
        .unwrap()
        .build();
    let _ = send(&broken, request(CLIENT, &[])).await;
}
