//! The layer before a store that several processes share: a Redis of the test's own. Skipped, and
//! said so, where none is installed.

mod common;
#[path = "../../redis/tests/support/server.rs"]
mod server;

use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use common::fields::members;
use common::number;
use common::wire::{by_axum_peer, serve};
use http::StatusCode;
use windowpane_core::{Cost, Quotas};
use windowpane_redis::{Log, RedisLimiter, Store};
use windowpane_tower::{ByText, OnFailure, RateLimitBuilder};

#[tokio::test]
async fn servers_share_one_quota_and_an_outage_is_not_a_denial() {
    let Some(mut redis) = server::Server::start() else {
        return;
    };
    let store = || async {
        let quotas = Quotas::parse(["5/60s"]).unwrap();
        let store = Store::at(&redis.url()).unwrap();
        let store = store.deadline(Duration::from_secs(5)).connect().await;
        // Without the cache of denials, which denies without asking, even in an outage.
        let limiter = RedisLimiter::<Log>::builder(store.unwrap(), quotas).deny_cache(0);
        ByText(limiter.build().unwrap())
    };
    let app = |store, outage| {
        let limit = RateLimitBuilder::remote(store, by_axum_peer()).on_unavailable(outage);
        Router::new()
            .route("/", get(|| async { "hello" }))
            .layer(limit.build())
    };
    let closed = serve(app(store().await, OnFailure::Error)).await;
    let open = serve(app(store().await, OnFailure::Allow)).await;
    for left in [4, 3, 2, 1, 0] {
        let server = if left % 2 == 0 { &closed } else { &open };
        let response = server.get("/", &[]).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(members(&response, "ratelimit")[0].integer("r"), Some(left));
    }
    for server in [&closed, &open] {
        let response = server.get("/", &[]).await;
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        let wait = number(&response, "retry-after").unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    let denying = serve(app(store().await, OnFailure::Deny)).await;
    redis.kill();
    let response = denying.get("/", &[]).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(members(&response, "ratelimit"), []);
    assert!(response.body().contains("its store is unavailable"));
    denying.stop().await;
    let response = closed.get("/", &[]).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(number(&response, "retry-after") >= Some(1));
    assert_eq!(open.get("/", &[]).await.status(), StatusCode::OK);
    closed.stop().await;
    open.stop().await;
}

#[tokio::test]
async fn charge_is_settled_once_the_response_has_ended() {
    let Some(redis) = server::Server::start() else {
        return;
    };
    let store = Store::at(&redis.url()).unwrap().connect().await.unwrap();
    let quotas = Quotas::parse(["1000/60s"]).unwrap();
    let store = RedisLimiter::<Log>::new(store, quotas).unwrap();
    let left = async || {
        let (_, status) = store.peek("127.0.0.1", 1).await.unwrap();
        1 + status.remaining()
    };
    let limit = RateLimitBuilder::remote(ByText(store.clone()), by_axum_peer())
        .cost(Cost::of::<400>())
        .settle_on(
            |used| used.bytes_sent(1),
            |settling| drop(tokio::spawn(settling)),
        )
        .build();
    let app = Router::new()
        .route("/", get(|| async { "hello" }))
        .layer(limit);
    let server = serve(app).await;
    // Charged at 400 each, two would fit; settled at 5 each, all do.
    for before in 0..6 {
        let patience = Instant::now() + Duration::from_secs(20);
        while left().await != 1000 - 5 * before {
            assert!(Instant::now() < patience, "{} are left", left().await);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let response = server.get("/", &[]).await;
        assert_eq!(response.status(), StatusCode::OK);
        let left = members(&response, "ratelimit")[0].integer("r");
        assert_eq!(left, Some(600 - 5 * before as i64));
    }
    server.stop().await;
}
