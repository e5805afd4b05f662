//! The store fails, or the server hides the peer: neither is a denial by a quota.

mod common;

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{by_peer, header, number, request, send};
use http::{Request, Response, StatusCode};
use http_body_util::Empty;
use windowpane_cas_ring::CasRing;
use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, Cost, Decision, Denial, Detailed, PerQuota, Quotas, StoreError,
};
use windowpane_keyed::{KeyedLimiter, WhenFull};
use windowpane_tower::{
    Extract, Extracted, MissingKey, OnFailure, Outcome, RateLimitBuilder, RateLimitLayer, Remote,
};

const CLIENT: &str = "192.0.2.1";

/// A store without decisions.
struct Broken(StoreError);

impl AsyncKeyedRateLimiter<IpAddr> for Broken {
    fn quotas(&self, _: &IpAddr) -> Quotas {
        Quotas::parse("20/10s").unwrap()
    }

    async fn decide_detailed(&self, _: &IpAddr, _: Cost) -> Result<Answer, StoreError> {
        Err(self.0.clone())
    }
}

/// The two failures that have a policy, with their outcomes and the word that names them.
fn failures() -> [(StoreError, Outcome, &'static str); 2] {
    let reason = "connection to 10.1.2.3 refused".into();
    [
        (
            StoreError::Unavailable { reason },
            Outcome::Unavailable,
            "unavailable",
        ),
        (StoreError::Full { keys: 7 }, Outcome::Full, "full"),
    ]
}

/// The outcomes of all requests, and whether each went on.
type Seen = Arc<Mutex<Vec<(Outcome, bool)>>>;

fn broken(
    error: &StoreError,
) -> (
    RateLimitBuilder<Remote<Broken>, windowpane_tower::ClientAddress>,
    Seen,
) {
    let seen = Seen::default();
    let push = Arc::clone(&seen);
    let builder =
        RateLimitBuilder::remote(Broken(error.clone()), by_peer()).observe(move |event| {
            assert!(event.error.is_some() && event.decision_time.is_some());
            assert_eq!(event.policy, None);
            push.lock().unwrap().push((event.outcome, event.passed));
        });
    (builder, seen)
}

/// Asserts that nothing in a response looks like a quota.
fn assert_no_quota(response: &Response<String>) {
    for name in ["ratelimit", "ratelimit-policy", "x-ratelimit-remaining"] {
        assert_eq!(header(response, name), None, "{name}");
    }
    for word in ["20/10s", "quota", "used up", "10.1.2.3"] {
        assert!(!response.body().contains(word), "{}", response.body());
    }
}

#[tokio::test]
async fn error_policy_answers_503_with_retry_after() {
    for (error, outcome, word) in failures() {
        let (builder, seen) = broken(&error);
        let response = send(&builder.build(), request(CLIENT, &[])).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(number(&response, "retry-after"), Some(1));
        assert!(response.body().contains(word), "{}", response.body());
        assert_no_quota(&response);
        assert_eq!(seen.lock().unwrap()[..], [(outcome, false)]);
    }
}

#[tokio::test]
async fn deny_policy_answers_429_that_names_the_failure() {
    for (error, outcome, word) in failures() {
        let (builder, seen) = broken(&error);
        let layer = builder
            .on_full(OnFailure::Deny)
            .on_unavailable(OnFailure::Deny)
            .build();
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(number(&response, "retry-after"), Some(1));
        assert!(response.body().contains(word), "{}", response.body());
        assert_no_quota(&response);
        assert_eq!(seen.lock().unwrap()[..], [(outcome, false)]);
    }
}

#[tokio::test]
async fn allow_policy_shows_no_quota() {
    for (error, outcome, _) in failures() {
        let (builder, seen) = broken(&error);
        let layer = builder
            .on_full(OnFailure::Allow)
            .on_unavailable(OnFailure::Allow)
            .build();
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.body(), "ok");
        assert_eq!(header(&response, "retry-after"), None);
        assert_no_quota(&response);
        assert_eq!(seen.lock().unwrap()[..], [(outcome, true)]);
    }
}

#[tokio::test]
async fn each_failure_has_its_own_policy() {
    for (error, outcome, _) in failures() {
        let open_if_full = broken(&error).0.on_full(OnFailure::Allow).build();
        let status = send(&open_if_full, request(CLIENT, &[])).await.status();
        assert_eq!(status.is_success(), outcome == Outcome::Full);
        let open = broken(&error).0.on_unavailable(OnFailure::Allow).build();
        let status = send(&open, request(CLIENT, &[])).await.status();
        assert_eq!(status.is_success(), outcome == Outcome::Unavailable);
    }
}

#[tokio::test]
async fn retry_after_of_a_failure_is_set_and_at_least_1() {
    let (error, ..) = failures()[0].clone();
    for (wait, told) in [(0, 1), (1, 1), (1_001, 2), (30_000, 30)] {
        let wait = Duration::from_millis(wait);
        let layer = broken(&error).0.failure_retry_after(wait).build();
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(number(&response, "retry-after"), Some(told));
    }
}

/// A store whose own policy answers: allowed under no time, or denied by no quota.
struct OwnPolicy(Decision);

impl AsyncKeyedRateLimiter<IpAddr> for OwnPolicy {
    fn quotas(&self, _: &IpAddr) -> Quotas {
        Quotas::parse("20/10s").unwrap()
    }

    async fn decide_detailed(&self, key: &IpAddr, _: Cost) -> Result<Answer, StoreError> {
        let quotas = self.quotas(key);
        Ok(Answer::new(
            Detailed::new(self.0, &quotas, PerQuota::from_slice(&[19])),
            quotas,
        ))
    }
}

#[tokio::test]
async fn answers_by_a_policy_of_the_store_show_no_quota() {
    let second = 1_000_000_000;
    for (decision, status) in [
        (Decision::Allowed { at: u64::MAX }, 200),
        (Decision::Denied(Denial::new(1, Some(2 * second))), 429),
    ] {
        let outcomes = Arc::new(Mutex::new(Vec::new()));
        let push = Arc::clone(&outcomes);
        let layer = RateLimitBuilder::remote(OwnPolicy(decision), by_peer())
            .observe(move |event| push.lock().unwrap().push(event.outcome))
            .build();
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.status().as_u16(), status);
        assert_no_quota(&response);
        let wait = number(&response, "retry-after");
        assert_eq!(wait, (status == 429).then_some(2));
        assert_eq!(outcomes.lock().unwrap()[..], [Outcome::Unavailable]);
    }
}

#[tokio::test]
async fn allowance_of_a_full_store_shows_no_quota() {
    let quotas = Quotas::parse("20/10s").unwrap();
    let store = KeyedLimiter::<IpAddr, CasRing>::builder(quotas)
        .max_keys(1)
        .when_full(WhenFull::Allow)
        .build()
        .unwrap();
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let push = Arc::clone(&outcomes);
    let layer = RateLimitLayer::builder(store, by_peer())
        .observe(move |event| push.lock().unwrap().push(event.outcome))
        .build();
    let first = send(&layer, request(CLIENT, &[])).await;
    assert!(header(&first, "ratelimit").is_some());
    let other = send(&layer, request("192.0.2.2", &[])).await;
    assert_eq!(other.body(), "ok");
    assert_no_quota(&other);
    assert_eq!(
        outcomes.lock().unwrap()[..],
        [Outcome::Allowed, Outcome::Full]
    );
}

/// Case 33: no peer address was 400 to every client.
#[tokio::test]
async fn missing_peer_address_is_the_servers_fault() {
    let store = KeyedLimiter::<IpAddr, CasRing>::new("20/10s").unwrap();
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let push = Arc::clone(&outcomes);
    // A policy for clients without a key does not hide it.
    let layer = RateLimitBuilder::new(store, by_peer())
        .missing_key(MissingKey::Allow)
        .observe(move |event| push.lock().unwrap().push(event.outcome))
        .build();
    for _ in 0..2 {
        let response = send(&layer, Request::new(Empty::new())).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_no_quota(&response);
        assert!(!response.body().contains("into_make_service"));
    }
    assert_eq!(outcomes.lock().unwrap()[..], [Outcome::ServerFault; 2]);
}

#[test]
fn fault_of_the_server_names_the_fix_and_wins_in_a_pair() {
    let name = http::HeaderName::from_static("x-api-key");
    let pair = (windowpane_tower::FromHeader::new(name), by_peer());
    match pair.extract(&Request::new(()).into_parts().0) {
        Extracted::ServerFault(what) => {
            assert!(what.contains("into_make_service_with_connect_info"));
        }
        other => panic!("{other:?}"),
    }
}

/// Without a subscriber of `tracing` the line goes to the standard error.
#[test]
fn fault_of_the_server_is_one_line_on_standard_error() {
    let test = "missing_peer_address_is_the_servers_fault";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    let fix = "into_make_service_with_connect_info";
    assert_eq!(text.matches(fix).count(), 1, "{text}");
}
