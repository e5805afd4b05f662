//! Rejected requests: the responses to them, and what operators see.

mod common;

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use common::{by_peer, header, request, send, store};
use http::{HeaderName, Request, Response, StatusCode};
use http_body_util::{Empty, Full};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};
use windowpane_cas_ring::CasRing;
use windowpane_core::{Answer, AsyncKeyedRateLimiter, Cost, Quotas, StoreError};
use windowpane_tower::{
    Extracted, FromHeader, MissingKey, Outcome, RateLimitBuilder, Rejection, from_fn,
};

const CLIENT: &str = "192.0.2.1";
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// A store that never has a decision.
#[derive(Clone)]
struct Broken(StoreError);

impl AsyncKeyedRateLimiter<IpAddr> for Broken {
    fn quotas(&self, _: &IpAddr) -> Quotas {
        Quotas::parse(["2/1s"]).unwrap()
    }

    async fn decide_detailed(&self, _: &IpAddr, _: Cost) -> Result<Answer, StoreError> {
        tokio::task::yield_now().await;
        Err(self.0.clone())
    }
}

fn unavailable() -> Broken {
    Broken(StoreError::Unavailable {
        reason: "connection to 10.1.2.3 refused".into(),
    })
}

fn problem(response: &Response<String>) -> Value {
    assert_eq!(
        header(response, "content-type"),
        Some("application/problem+json")
    );
    serde_json::from_str(response.body()).unwrap()
}

#[tokio::test]
async fn denial_is_a_problem_of_the_registered_type() {
    let (store, _) = store::<_, CasRing>(&["1/60s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .policy_names(["\"per\" minute"])
        .unwrap()
        .build();
    let _ = send(&layer, request(CLIENT, &[])).await;
    let response = send(&layer, request(CLIENT, &[])).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        problem(&response),
        json!({
            "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
            "title": "Quota exceeded",
            "status": 429,
            "detail": "the quota of 1/60s is used up",
            "violated-policies": ["\"per\" minute"],
        })
    );
    let length = http_body::Body::size_hint(&windowpane_length(&layer).await).exact();
    assert_eq!(length, Some(response.body().len() as u64));
}

/// The body of one more denial.
async fn windowpane_length<L, S>(layer: &L) -> windowpane_tower::ResponseBody<Full<Bytes>>
where
    L: Layer<common::OkService, Service = S>,
    S: tower::Service<
            Request<Empty<Bytes>>,
            Response = Response<windowpane_tower::ResponseBody<Full<Bytes>>>,
            Error = Infallible,
        >,
{
    let service = layer.layer(common::ok_service());
    service
        .oneshot(request(CLIENT, &[]))
        .await
        .unwrap()
        .into_body()
}

#[tokio::test]
async fn custom_response_keeps_the_wait_of_the_layer() {
    let (store, _) = store::<_, CasRing>(&["1/60s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .respond(|refusal| {
            assert!(matches!(refusal, Rejection::Denied { policy, .. } if policy == "1/60s"));
            let mut response = Response::new(Bytes::from("slow down"));
            *response.status_mut() = StatusCode::IM_A_TEAPOT;
            response.headers_mut().insert("retry-after", 1.into());
            response
        })
        .build();
    let _ = send(&layer, request(CLIENT, &[])).await;
    let response = send(&layer, request(CLIENT, &[])).await;
    assert_eq!(response.status(), StatusCode::IM_A_TEAPOT);
    assert_eq!(response.body(), "slow down");
    assert_eq!(header(&response, "retry-after"), Some("60"));
}

#[tokio::test]
async fn request_without_a_key_is_rejected_shares_or_passes() {
    let limit = || {
        let (store, _) = store::<_, CasRing>(&["1/60s"]);
        RateLimitBuilder::new(store, FromHeader::new(API_KEY))
    };
    let keyless = || request(CLIENT, &[]);
    let response = send(&limit().build(), keyless()).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(
        problem(&response)["detail"]
            .as_str()
            .unwrap()
            .contains("key")
    );

    let shared = limit()
        .missing_key(MissingKey::Share(String::new()))
        .build();
    assert_eq!(send(&shared, keyless()).await.status(), StatusCode::OK);
    assert_eq!(
        send(&shared, keyless()).await.status(),
        StatusCode::TOO_MANY_REQUESTS
    );
    // A value that is as good as none is in the same bucket; a real one is not.
    let blank = request(CLIENT, &[("x-api-key", "  ")]);
    assert_eq!(
        send(&shared, blank).await.status(),
        StatusCode::TOO_MANY_REQUESTS
    );
    let keyed = request(CLIENT, &[("x-api-key", "alpha")]);
    assert_eq!(send(&shared, keyed).await.status(), StatusCode::OK);

    let passing = limit().missing_key(MissingKey::Allow).build();
    for _ in 0..3 {
        let response = send(&passing, keyless()).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "ratelimit"), None);
    }
}

#[tokio::test]
async fn exempt_requests_are_neither_limited_nor_counted() {
    let (store, _) = store::<_, CasRing>(&["1/60s"]);
    let but_health = from_fn(|request| match request.uri.path() {
        "/health" => Extracted::Exempt,
        path => Extracted::Key(path.to_owned()),
    });
    let layer = RateLimitBuilder::new(Arc::clone(&store), but_health).build();
    for _ in 0..3 {
        let mut request = request(CLIENT, &[]);
        *request.uri_mut() = "/health".parse().unwrap();
        let response = send(&layer, request).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "ratelimit"), None);
    }
    assert_eq!(store.keys(), [] as [String; 0]);
}

#[tokio::test]
async fn shadow_mode_allows_all_and_reports_rejections() {
    let (store, _) = store::<_, CasRing>(&["2/60s"]);
    let denied = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&denied);
    let cost = |request: &http::request::Parts| match request.headers.contains_key("huge") {
        true => Cost::of::<9>(),
        false => Cost::ONE,
    };
    let layer = RateLimitBuilder::new(Arc::clone(&store), by_peer())
        .cost(cost)
        .shadow(true)
        .observe(move |event| {
            assert!(event.passed);
            if event.outcome == Outcome::Denied {
                assert_eq!(event.policy, Some("2/60s"));
                assert!(event.retry_after.is_some());
                count.fetch_add(1, Ordering::SeqCst);
            }
        })
        .build();
    for _ in 0..5 {
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.body(), "ok");
        for name in ["ratelimit", "ratelimit-policy", "retry-after"] {
            assert_eq!(header(&response, name), None);
        }
    }
    assert_eq!(denied.load(Ordering::SeqCst), 3);
    for request in [request(CLIENT, &[("huge", "")]), Request::new(Empty::new())] {
        let response = send(&layer, request).await;
        assert_eq!(response.status(), StatusCode::OK);
        for name in ["ratelimit", "ratelimit-policy", "retry-after"] {
            assert_eq!(header(&response, name), None);
        }
    }
    let broken = RateLimitBuilder::remote(unavailable(), by_peer())
        .shadow(true)
        .build();
    assert_eq!(
        send(&broken, request(CLIENT, &[])).await.status(),
        StatusCode::OK
    );
}

#[tokio::test]
async fn grpc_calls_get_a_grpc_status() {
    let grpc = || request(CLIENT, &[("content-type", "application/grpc+proto")]);
    let (small, _) = store::<_, CasRing>(&["1/60s"]);
    let (store, clock) = store::<_, CasRing>(&["1/60s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .respond(|_| panic!("a custom answer is HTTP's"))
        .build();
    assert_eq!(header(&send(&layer, grpc()).await, "grpc-status"), None);
    clock.set(1_500_000);
    let response = send(&layer, grpc()).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(header(&response, "content-type"), Some("application/grpc"));
    assert_eq!(header(&response, "grpc-status"), Some("8"));
    assert_eq!(header(&response, "grpc-retry-pushback-ms"), Some("59999"));
    assert_eq!(header(&response, "retry-after"), Some("60"));
    assert_eq!(
        header(&response, "grpc-message"),
        Some("the quota of 1/60s is used up")
    );

    let broken = RateLimitBuilder::remote(unavailable(), by_peer()).build();
    let response = send(&broken, grpc()).await;
    assert_eq!(header(&response, "grpc-status"), Some("14"));

    assert_eq!(header(&response, "grpc-retry-pushback-ms"), Some("1000"));

    // No retry helps.
    let never = RateLimitBuilder::new(small, by_peer())
        .cost(|_: &http::request::Parts| Cost::of::<9>())
        .build();
    let mut peerless = Request::new(Empty::new());
    peerless
        .headers_mut()
        .insert("content-type", "application/grpc".parse().unwrap());
    for (request, code) in [(grpc(), "3"), (peerless, "13")] {
        let response = send(&never, request).await;
        assert_eq!(header(&response, "grpc-status"), Some(code));
        assert_eq!(header(&response, "grpc-retry-pushback-ms"), None);
    }
}

#[tokio::test]
async fn pairs_and_changed_keys_are_keys_of_their_own() {
    let (store, _) = store::<_, CasRing>(&["1/60s"]);
    let route = from_fn(|request| Extracted::Key(request.uri.path().to_owned()));
    let client = windowpane_tower::Extract::map(by_peer(), |address: IpAddr| address.is_ipv4());
    let layer = RateLimitBuilder::new(Arc::clone(&store), (route, client)).build();
    let at = |path: &str, peer| {
        let mut request = request(peer, &[]);
        *request.uri_mut() = path.parse().unwrap();
        request
    };
    for (path, peer, status) in [
        ("/a", CLIENT, 200),
        ("/b", CLIENT, 200),
        ("/a", "2001:db8::1", 200),
        ("/a", "192.0.2.200", 429),
    ] {
        let response = send(&layer, at(path, peer)).await;
        assert_eq!(response.status().as_u16(), status, "{path} {peer}");
    }
    assert_eq!(store.keys().len(), 3);
}
