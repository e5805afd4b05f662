//! Several limits in one decision, over HTTP.

mod common;

use std::sync::{Arc, Mutex};

use common::{SECOND, Store, by_peer, header, number, on_tokio, request, send, store, store_on};
use http::Response;
use serde_json::Value;
use windowpane_baselines::Gcra;
use windowpane_cas_ring::CasRing;
use windowpane_core::clock::ManualClock;
use windowpane_core::{Cost, KeyedRateLimiter, Limiter};
use windowpane_keyed::{KeyedLimiter, WhenFull};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::PackedCounter;
use windowpane_tower::{
    Everyone, FromHeader, Limit, MissingKey, OnFailure, Outcome, RateLimitLayer, StackError,
};

fn by_user() -> FromHeader {
    FromHeader::new("x-user".parse().unwrap())
}

fn problem(response: &Response<String>) -> Value {
    serde_json::from_str(response.body()).unwrap()
}

fn lists(response: &Response<String>, name: &str) -> String {
    let values = response.headers().get_all(name).iter();
    let values: Vec<&str> = values.map(|value| value.to_str().unwrap()).collect();
    values.join(", ")
}

#[test]
fn one_client_that_hammers_does_not_shut_out_others() {
    on_tokio(|| async {
        let clock = Arc::new(ManualClock::new(SECOND));
        let user: Arc<Store<String, MutexLog>> = store_on(&["1/1s"], Arc::clone(&clock));
        let address: Arc<Store<std::net::IpAddr, PackedCounter>> =
            store_on(&["10/10s"], Arc::clone(&clock));
        let global: Arc<Store<(), CasRing>> = store_on(&["8/10s"], Arc::clone(&clock));
        let layer = RateLimitLayer::stack()
            .and(Limit::new("user", user, by_user()).unwrap())
            .and(Limit::new("address", Arc::clone(&address), by_peer()).unwrap())
            .and_last(Limit::new("global", Arc::clone(&global), Everyone).unwrap())
            .build()
            .unwrap();
        let ask = |user: &'static str| send(&layer, request("192.0.2.1", &[("x-user", user)]));
        let mut statuses = Vec::new();
        for _ in 0..5 {
            statuses.push(ask("hammer").await.status().as_u16());
        }
        assert_eq!(statuses, [200, 429, 429, 429, 429]);
        assert_eq!(address.left(&"192.0.2.1".parse().unwrap()), 9);
        for user in ["a", "b", "c", "d", "e", "f"] {
            assert_eq!(ask(user).await.status(), 200, "{user}");
        }
        assert_eq!(global.left(&()), 1);
        assert_eq!(ask("g").await.status(), 200);
        let denied = ask("h").await;
        assert_eq!(denied.status(), 429);
        assert_eq!(problem(&denied)["violated-policies"][0], "global 8/10s");
    });
}

#[test]
fn a_denial_names_its_limits_and_the_headers_list_all() {
    on_tokio(|| async {
        let clock = Arc::new(ManualClock::new(SECOND));
        let user: Arc<Store<String, MutexLog>> = store_on(&["1/1s"], Arc::clone(&clock));
        let tenant: Arc<Store<String, MutexLog>> = store_on(&["1/10s"], Arc::clone(&clock));
        let global: Arc<Store<(), Gcra>> = store_on(&["8/8s"], Arc::clone(&clock));
        let layer = RateLimitLayer::stack()
            .and(Limit::new("user", user, by_user()).unwrap())
            .and(Limit::new("tenant", tenant, by_user()).unwrap())
            .and_last(Limit::new("global", global, Everyone).unwrap())
            .build()
            .unwrap();
        let ask = || send(&layer, request("192.0.2.1", &[("x-user", "a")]));
        let allowed = ask().await;
        assert_eq!(
            lists(&allowed, "ratelimit"),
            r#""user 1/1s";r=0;t=1, "tenant 1/10s";r=0;t=10, "global 8/8s";r=7;t=1"#
        );
        let denied = ask().await;
        assert_eq!(denied.status(), 429);
        assert_eq!(number(&denied, "retry-after"), Some(10));
        let violated = &problem(&denied)["violated-policies"];
        assert_eq!(*violated, serde_json::json!(["tenant 1/10s", "user 1/1s"]));
        assert_eq!(
            lists(&denied, "ratelimit"),
            r#""user 1/1s";r=0;t=1, "tenant 1/10s";r=0;t=10, "global 8/8s";r=7"#
        );
        assert_eq!(
            lists(&denied, "ratelimit-policy"),
            r#""user 1/1s";q=1;w=1, "tenant 1/10s";q=1;w=10, "global 8/8s";q=8;w=8"#
        );
    });
}

#[test]
fn a_stack_that_cannot_give_back_is_not_built() {
    let (a, _) = store::<(), Gcra>(&["1/1s"]);
    let (b, _) = store::<(), CasRing>(&["1/1s"]);
    let error = RateLimitLayer::stack()
        .and_last(Limit::new("a", a, Everyone).unwrap())
        .and_last(Limit::new("b", Arc::clone(&b), Everyone).unwrap())
        .build()
        .unwrap_err();
    assert!(
        matches!(&error, StackError::SeveralLast { first, second } if first == "a" && second == "b")
    );
    assert!(error.to_string().contains("MutexLog"), "{error}");

    let error = RateLimitLayer::stack().build().unwrap_err();
    assert_eq!(error, StackError::NoLimits);
    let (log, _) = store::<(), MutexLog>(&["1/1s"]);
    let error = RateLimitLayer::stack()
        .and(Limit::new("b", log, Everyone).unwrap())
        .and_last(Limit::new("b", b, Everyone).unwrap())
        .build()
        .unwrap_err();
    assert_eq!(error, StackError::SameName { name: "b".into() });
}

#[test]
fn a_limit_without_a_key_holds_for_no_request_but_others_do() {
    on_tokio(|| async {
        let (user, _) = store::<String, MutexLog>(&["1/1s"]);
        let (global, _) = store::<(), CasRing>(&["2/1s"]);
        let user = Limit::new("user", user, by_user()).unwrap();
        let layer = RateLimitLayer::stack()
            .and(user.missing_key(MissingKey::Allow))
            .and_last(Limit::new("global", global, Everyone).unwrap())
            .build()
            .unwrap();
        let ask = || send(&layer, request("192.0.2.1", &[]));
        let allowed = ask().await;
        assert_eq!(
            header(&allowed, "ratelimit"),
            Some(r#""global 2/1s";r=1;t=1"#)
        );
        assert_eq!(ask().await.status(), 200);
        assert_eq!(ask().await.status(), 429);
    });
}

#[test]
fn a_full_store_fails_the_request_and_leaves_nothing_charged() {
    on_tokio(|| async {
        for (policy, status) in [
            (OnFailure::Error, 503),
            (OnFailure::Deny, 429),
            (OnFailure::Allow, 200),
        ] {
            let (global, _) = store::<(), MutexLog>(&["9/1h"]);
            let full = KeyedLimiter::<String, CasRing>::builder("9/1h");
            let full = full.max_keys(1).when_full(WhenFull::Error).build().unwrap();
            let _ = full.decide("first", Cost::ONE).unwrap();
            let seen = Arc::new(Mutex::new(Vec::new()));
            let outcomes = Arc::clone(&seen);
            let layer = RateLimitLayer::stack()
                .and(Limit::new("global", Arc::clone(&global), Everyone).unwrap())
                .and_last(Limit::new("user", full, by_user()).unwrap())
                .on_full(policy)
                .observe(move |event| outcomes.lock().unwrap().push(event.outcome))
                .build()
                .unwrap();
            let response = send(&layer, request("192.0.2.1", &[("x-user", "second")])).await;
            assert_eq!(response.status(), status);
            assert_eq!(global.left(&()), if status == 200 { 8 } else { 9 });
            assert_eq!(*seen.lock().unwrap(), [Outcome::Full]);
            let names_user = lists(&response, "ratelimit").contains("user");
            assert!(!names_user, "no quota of the full store was read");
        }
    });
}

#[test]
fn requests_and_tokens_are_one_decision_and_settled_apart() {
    on_tokio(|| async {
        let clock = Arc::new(ManualClock::new(SECOND));
        let requests: Arc<Store<String, PackedCounter>> = store_on(&["3/60s"], Arc::clone(&clock));
        let tokens: Arc<Store<String, MutexLog>> = store_on(&["100/60s"], Arc::clone(&clock));
        let tokens_limit = Limit::new("tokens", Arc::clone(&tokens), by_user()).unwrap();
        let layer = RateLimitLayer::stack()
            .and(Limit::new("requests", Arc::clone(&requests), by_user()).unwrap())
            .and(
                tokens_limit
                    .cost(Cost::of::<60>())
                    .permit_unit("tokens")
                    .unwrap()
                    .settle(|used| used.bytes_sent(1)),
            )
            .build()
            .unwrap();
        let ask = || send(&layer, request("192.0.2.1", &[("x-user", "a")]));
        let key = "a".to_owned();
        // The response has two bytes.
        assert_eq!(ask().await.status(), 200);
        assert_eq!((requests.left(&key), tokens.left(&key)), (2, 98));
        let _ = tokens.decide(&key, Cost::of::<50>()).unwrap();
        assert_eq!(ask().await.status(), 429);
        assert_eq!((requests.left(&key), tokens.left(&key)), (2, 48));
    });
}

#[test]
fn a_plain_limiter_stands_behind_the_layer() {
    on_tokio(|| async {
        let clock = Arc::new(ManualClock::new(SECOND));
        let limiter = Limiter::<CasRing, _>::on_clock("2/10s", clock).unwrap();
        let layer = RateLimitLayer::new(limiter, Everyone);
        let mut seen = Vec::new();
        for client in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
            let response = send(&layer, request(client, &[])).await;
            let state = header(&response, "ratelimit").unwrap().to_owned();
            seen.push((response.status().as_u16(), state));
        }
        let states = [
            r#""2/10s";r=1;t=10"#,
            r#""2/10s";r=0;t=10"#,
            r#""2/10s";r=0;t=10"#,
        ];
        let expected = [200, 200, 429].into_iter().zip(states.map(String::from));
        assert_eq!(seen, expected.collect::<Vec<_>>());
    });
}
