//! Over the loopback interface, with a real client: bursts, what the headers tell, retries that
//! honour `Retry-After`, routes.

mod common;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::MatchedPath;
use axum::routing::get;
use common::fields::members;
use common::wire::{Server, by_axum_peer, serve};
use common::{SECOND, header, number, store};
use http::{HeaderName, StatusCode};
use windowpane_cas_ring::CasRing;
use windowpane_core::{Cost, KeyedRateLimiter};
use windowpane_mutex_log::MutexLog;
use windowpane_tower::{FromExtension, FromHeader, RateLimitBuilder, Reset};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

fn hello() -> Router {
    Router::new().route("/", get(|| async { "hello" }))
}

#[tokio::test]
async fn of_a_burst_exactly_the_quota_passes_and_every_answer_tells_the_truth() {
    let (store, clock) = store::<IpAddr, CasRing>(&["20/60s", "8/1s"]);
    let limit = RateLimitBuilder::new(store, by_axum_peer())
        .x_headers(Reset::Seconds)
        .build();
    let server = Arc::new(serve(hello().layer(limit)).await);
    // At 0, 1 and 2 s the burst's quota binds, then that of the minute.
    for (at, passes, retry_after) in [(0, 8, 1), (1, 8, 1), (2, 4, 58)] {
        clock.set(at * SECOND);
        let burst = (0..30).map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { server.get("/", &[]).await })
        });
        let mut told = Vec::new();
        for answer in burst.collect::<Vec<_>>() {
            let response = answer.await.unwrap();
            let policies = members(&response, "ratelimit-policy");
            let quotas = policies.iter().map(|p| (p.integer("q"), p.integer("w")));
            assert!(quotas.eq([(Some(20), Some(60)), (Some(8), Some(1))]));
            let left: Vec<i64> = members(&response, "ratelimit")
                .iter()
                .map(|limit| limit.integer("r").unwrap())
                .collect();
            let least = *left.iter().min().unwrap();
            assert_eq!(
                number(&response, "x-ratelimit-remaining"),
                Some(least as u64)
            );
            match response.status() {
                StatusCode::OK => {
                    assert_eq!(response.body(), "hello");
                    assert_eq!(header(&response, "retry-after"), None);
                    told.push(least);
                }
                StatusCode::TOO_MANY_REQUESTS => {
                    assert_eq!(least, 0);
                    assert_eq!(number(&response, "retry-after"), Some(retry_after));
                    assert_eq!(
                        header(&response, "content-type"),
                        Some("application/problem+json")
                    );
                }
                other => panic!("{other}"),
            }
        }
        // Each that passed was told another number of requests left, down to none.
        told.sort_unstable();
        assert_eq!(told, (0..passes).collect::<Vec<i64>>(), "at {at} s");
    }
    Arc::into_inner(server).unwrap().stop().await;
}

/// One trial: a client that has come at other times before hammers until it is denied, tries again
/// a nanosecond too early, and then honours what it was told.
async fn trial(
    server: &Server,
    store: &common::Store<String, MutexLog>,
    clock: &windowpane_core::clock::ManualClock,
    key: String,
    mut random: impl FnMut(u64) -> u64,
) {
    let ask = async || server.get("/", &[(API_KEY, key.as_bytes())]).await;
    let now = || windowpane_core::Clock::now(clock);
    for _ in 0..random(4) {
        let _ = ask().await;
        clock.set(now() + random(3 * SECOND));
    }
    let denied = loop {
        let response = ask().await;
        match response.status() {
            StatusCode::OK => clock.set(now() + random(SECOND / 4)),
            StatusCode::TOO_MANY_REQUESTS => break response,
            other => panic!("{other}"),
        }
    };
    let told = number(&denied, "retry-after").unwrap();
    let peeked = store
        .peek_detailed(&key, Cost::ONE)
        .unwrap()
        .detailed
        .decision();
    let exact = peeked.denied().unwrap().retry_after_nanos().unwrap();
    assert_eq!(told, exact.div_ceil(SECOND).max(1));
    let denied_at = now();
    clock.set(denied_at + exact - 1);
    assert_eq!(ask().await.status(), StatusCode::TOO_MANY_REQUESTS, "{key}");
    clock.set(denied_at + told * SECOND);
    assert_eq!(ask().await.status(), StatusCode::OK, "{key}");
}

#[tokio::test]
async fn in_a_thousand_trials_the_first_retry_that_honours_retry_after_succeeds() {
    let (store, clock) = store::<String, MutexLog>(&["3/2s", "5/7500ms", "9/60s"]);
    let limit = RateLimitBuilder::new(Arc::clone(&store), FromHeader::new(API_KEY)).build();
    let server = serve(hello().layer(limit)).await;
    // xorshift: the same trials every time.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for client in 0..1_000 {
        let random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        trial(&server, &store, &clock, format!("client-{client}"), random).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_matched_route_is_a_key_whatever_its_path_holds() {
    let (store, _) = store::<(String, IpAddr), CasRing>(&["2/60s"]);
    let route = FromExtension::new("a route", |path: &MatchedPath| path.as_str().to_owned());
    let limit = RateLimitBuilder::new(Arc::clone(&store), (route, by_axum_peer())).build();
    let app = Router::new()
        .route("/users/{id}", get(|| async {}))
        .route("/other", get(|| async {}))
        .layer(limit);
    let server = serve(app).await;
    let mut statuses = Vec::new();
    for path in ["/users/1", "/users/2", "/users/3", "/other"] {
        statuses.push(server.get(path, &[]).await.status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 429, 200]);
    let mut routes: Vec<String> = store.keys().into_iter().map(|(route, _)| route).collect();
    routes.sort_unstable();
    assert_eq!(routes, ["/other", "/users/{id}"]);
    server.stop().await;
}
