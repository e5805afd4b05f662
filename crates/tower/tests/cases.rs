//! Faults that users of other limiters reported, each a test with the right value.

mod common;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{SECOND, by_peer, header, number, request, send, store};
use http::StatusCode;
use windowpane_cas_ring::CasRing;
use windowpane_core::{Answer, AsyncKeyedRateLimiter, Cost, Local, Quotas, StoreError};
use windowpane_tower::{OnFailure, RateLimitBuilder};

const CLIENT: &str = "192.0.2.1";

/// Case 13: half a second, or less, was told as `Retry-After: 0`.
#[tokio::test]
async fn wait_below_a_second_is_at_least_1() {
    let (store, clock) = store::<_, CasRing>(&["1/10s"]);
    let layer = RateLimitBuilder::new(store, by_peer()).build();
    let _ = send(&layer, request(CLIENT, &[])).await;
    for (wait, told) in [
        (1, 1),
        (SECOND / 2, 1),
        (SECOND - 1, 1),
        (SECOND, 1),
        (SECOND + 1, 2),
        (10 * SECOND - 1, 10),
    ] {
        clock.set(10 * SECOND - wait);
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(number(&response, "retry-after"), Some(told), "{wait} ns");
    }
}

/// Case 22: each address of one IPv6 prefix had an allowance of its own.
#[tokio::test]
async fn addresses_of_one_ipv6_prefix_share_a_quota() {
    let (store, _) = store::<_, CasRing>(&["5/60s"]);
    let layer = RateLimitBuilder::new(Arc::clone(&store), by_peer()).build();
    let mut allowed = 0;
    for host in 0..1000_u32 {
        let address = format!("2001:db8:0:1:{:x}:{host:x}::1", host % 7);
        let response = send(&layer, request(&address, &[])).await;
        allowed += u32::from(response.status().is_success());
    }
    assert_eq!(allowed, 5);
    assert_eq!(store.keys(), ["2001:db8:0:1::".parse::<IpAddr>().unwrap()]);
    // The neighbour is somebody else, and so is an IPv4 client, however it is written.
    let neighbour = send(&layer, request("2001:db8:0:2::1", &[])).await;
    assert_eq!(neighbour.status(), StatusCode::OK);
    for _ in 0..5 {
        let mapped = send(&layer, request("::ffff:192.0.2.1", &[])).await;
        assert_eq!(mapped.status(), StatusCode::OK);
    }
    let plain = send(&layer, request(CLIENT, &[])).await;
    assert_eq!(plain.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(store.keys().contains(&Ipv4Addr::new(192, 0, 2, 1).into()));
}

/// A store that fails on demand.
struct Failing {
    store: Local<Arc<common::Store<IpAddr, CasRing>>>,
    fails: AtomicBool,
}

impl AsyncKeyedRateLimiter<IpAddr> for Failing {
    fn quotas(&self, key: &IpAddr) -> Quotas {
        AsyncKeyedRateLimiter::quotas(&self.store, key)
    }

    async fn decide_detailed(&self, key: &IpAddr, cost: Cost) -> Result<Answer, StoreError> {
        if self.fails.load(Ordering::SeqCst) {
            let reason = "no answer within 50ms".into();
            return Err(StoreError::Unavailable { reason });
        }
        AsyncKeyedRateLimiter::decide_detailed(&self.store, key, cost).await
    }
}

/// Case 23: with limit 2, cost 3 and 100 per second while the store fails, the cost that did not fit
/// was taken for an outage, and admitted.
#[tokio::test]
async fn denial_is_not_taken_for_an_outage() {
    let (store, _) = store::<_, CasRing>(&["2/60s"]);
    let failing = Failing {
        store: Local(store),
        fails: false.into(),
    };
    let failing = Arc::new(failing);
    let cost = |request: &http::request::Parts| match request.headers.contains_key("cost-3") {
        true => Cost::of::<3>(),
        false => Cost::ONE,
    };
    let layer = RateLimitBuilder::remote(Shared(Arc::clone(&failing)), by_peer())
        .cost(cost)
        .on_unavailable(OnFailure::Allow)
        .build();

    // It can never fit, and that is an answer of the store, not a failure.
    let never = send(&layer, request(CLIENT, &[("cost-3", "")])).await;
    assert_eq!(never.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(header(&never, "retry-after"), None);
    for status in [200, 200, 429, 429] {
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.status().as_u16(), status);
    }
    // An outage is one: the policy for it holds, and tells nothing of quotas it has not seen.
    failing.fails.store(true, Ordering::SeqCst);
    let outage = send(&layer, request(CLIENT, &[])).await;
    assert_eq!(outage.status(), StatusCode::OK);
    assert_eq!(header(&outage, "ratelimit"), None);
    failing.fails.store(false, Ordering::SeqCst);
    let after = send(&layer, request(CLIENT, &[])).await;
    assert_eq!(after.status(), StatusCode::TOO_MANY_REQUESTS);
}

/// A store that the test keeps a hand on.
struct Shared<S>(Arc<S>);

impl<S: AsyncKeyedRateLimiter<IpAddr>> AsyncKeyedRateLimiter<IpAddr> for Shared<S> {
    fn quotas(&self, key: &IpAddr) -> Quotas {
        self.0.quotas(key)
    }

    async fn decide_detailed(&self, key: &IpAddr, cost: Cost) -> Result<Answer, StoreError> {
        self.0.decide_detailed(key, cost).await
    }
}
