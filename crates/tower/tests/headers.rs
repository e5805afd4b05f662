//! What clients read: `RateLimit-Policy`, `RateLimit`, `Retry-After`, the `X-RateLimit-*` trio.

mod common;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::fields::{members, parse};
use common::{SECOND, by_peer, header, number, request, send, store};
use http::StatusCode;
use tower::Layer;
use windowpane_cas_ring::CasRing;
use windowpane_core::Cost;
use windowpane_mutex_log::MutexLog;
use windowpane_tower::{Draft, FromHeader, RateLimitBuilder, Reset};

const CLIENT: &str = "192.0.2.1";

#[tokio::test]
async fn several_quotas_are_several_policies_and_all_responses_tell_them() {
    let (store, clock) = store::<_, CasRing>(&["3/60s", "2/1s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .policy_names(["minute", "burst \"b\" \\"])
        .unwrap()
        .build();
    // (status, r and t of each quota, Retry-After) by time in milliseconds.
    let expected = [
        (0, 200, (2, None), (1, Some(1)), None),
        (0, 200, (1, None), (0, Some(1)), None),
        (400, 429, (1, None), (0, Some(1)), Some(1)),
        // 600 ms are left of the burst's second: rounded up, as all waits.
        (1000, 200, (0, Some(59)), (1, None), None),
        (1500, 429, (0, Some(59)), (1, None), Some(59)),
    ];
    for (at, status, minute, burst, retry_after) in expected {
        clock.set(at * 1_000_000);
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.status().as_u16(), status, "at {at} ms");

        let policies = members(&response, "ratelimit-policy");
        let told: Vec<_> = policies
            .iter()
            .map(|policy| {
                (
                    policy.name.as_str(),
                    policy.integer("q"),
                    policy.integer("w"),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("minute", Some(3), Some(60)),
                ("burst \"b\" \\", Some(2), Some(1))
            ]
        );

        let limits = members(&response, "ratelimit");
        let told: Vec<_> = limits
            .iter()
            .map(|limit| (limit.integer("r").unwrap(), limit.integer("t")))
            .collect();
        assert_eq!(told, [minute, burst], "at {at} ms");
        assert_eq!(limits[1].name, "burst \"b\" \\");
        assert_eq!(number(&response, "retry-after"), retry_after, "at {at} ms");
        assert_eq!(header(&response, "x-ratelimit-limit"), None);
    }
}

#[tokio::test]
async fn a_window_of_no_whole_seconds_is_told_by_no_number_of_them() {
    let (store, _) = store::<_, CasRing>(&["10/250ms", "100/1500ms", "1000/2s"]);
    let layer = RateLimitBuilder::new(store, by_peer()).build();
    let response = send(&layer, request(CLIENT, &[])).await;
    let policies = members(&response, "ratelimit-policy");
    let told: Vec<_> = policies
        .iter()
        .map(|policy| {
            (
                policy.name.as_str(),
                policy.integer("q"),
                policy.integer("w"),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("10/250ms", Some(10), None),
            ("100/1500ms", Some(100), None),
            ("1000/2s", Some(1000), Some(2))
        ]
    );
    assert_eq!(members(&response, "ratelimit").len(), 3);
}

#[tokio::test]
async fn units_are_told_and_a_limit_that_no_field_can_hold_is_left_out() {
    let (store, _) = store::<_, MutexLog>(&["1000000000000000/60s", "500/60s", "9req/60s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .cost(Cost::of::<20>())
        .permit_unit("tokens")
        .unwrap()
        .build();
    let response = send(&layer, request(CLIENT, &[])).await;
    let policies = members(&response, "ratelimit-policy");
    let told: Vec<_> = policies
        .iter()
        .map(|policy| (policy.integer("q").unwrap(), policy.string("qu")))
        .collect();
    assert_eq!(told, [(500, Some("tokens")), (9, Some("requests"))]);
    let limits = members(&response, "ratelimit");
    // The requests left bound no cost: when there will be more of them is not known.
    let told: Vec<_> = limits
        .iter()
        .map(|limit| (limit.integer("r").unwrap(), limit.integer("t")))
        .collect();
    assert_eq!(told, [(480, Some(60)), (8, None)]);
    let refused = RateLimitBuilder::new(
        common::store::<std::net::IpAddr, CasRing>(&["1/1s"]).0,
        by_peer(),
    );
    assert!(refused.permit_unit("t\u{f6}kens").is_err());
}

#[tokio::test]
async fn a_denied_cost_is_told_when_it_fits_and_when_there_is_more() {
    let (store, clock) = store::<_, MutexLog>(&["10/60s"]);
    let cost = |request: &http::request::Parts| {
        let cost = request.headers.get("cost").unwrap().to_str().unwrap();
        Cost::new(cost.parse().unwrap()).unwrap()
    };
    let layer = RateLimitBuilder::new(store, by_peer()).cost(cost).build();
    for (at, cost) in [(0, "3"), (20, "5")] {
        clock.set(at * SECOND);
        let response = send(&layer, request(CLIENT, &[("cost", cost)])).await;
        assert_eq!(response.status(), StatusCode::OK);
    }
    clock.set(30 * SECOND);
    let response = send(&layer, request(CLIENT, &[("cost", "6")])).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    let limit = &members(&response, "ratelimit")[0];
    assert_eq!(
        (limit.integer("r"), limit.integer("t")),
        (Some(2), Some(30))
    );
    assert_eq!(number(&response, "retry-after"), Some(50));

    // What can never fit has no decision, so nothing is left or awaited.
    let response = send(&layer, request(CLIENT, &[("cost", "11")])).await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(members(&response, "ratelimit-policy").len(), 1);
    assert_eq!(header(&response, "ratelimit"), None);
    assert_eq!(header(&response, "retry-after"), None);
}

#[tokio::test]
async fn where_no_wait_helps_none_is_told() {
    let (store, _) = store::<_, CasRing>(&["0/60s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .x_headers(Reset::Seconds)
        .build();
    let response = send(&layer, request(CLIENT, &[])).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(header(&response, "retry-after"), None);
    assert_eq!(number(&response, "x-ratelimit-limit"), Some(0));
    assert_eq!(header(&response, "x-ratelimit-reset"), None);
    let limit = &members(&response, "ratelimit")[0];
    assert_eq!((limit.integer("r"), limit.integer("t")), (Some(0), None));
}

#[tokio::test]
async fn the_trio_is_told_if_asked_for() {
    let (store, clock) = store::<_, CasRing>(&["100/60s", "2/10s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .x_headers(Reset::Seconds)
        .draft_headers(false)
        .build();
    for (at, status, remaining, reset) in [(0, 200, 1, 10), (5, 200, 0, 5), (7, 429, 0, 3)] {
        clock.set(at * SECOND);
        let response = send(&layer, request(CLIENT, &[])).await;
        assert_eq!(response.status().as_u16(), status);
        assert_eq!(number(&response, "x-ratelimit-limit"), Some(2));
        assert_eq!(number(&response, "x-ratelimit-remaining"), Some(remaining));
        assert_eq!(number(&response, "x-ratelimit-reset"), Some(reset));
        assert_eq!(header(&response, "ratelimit"), None);
        assert_eq!(header(&response, "ratelimit-policy"), None);
    }
}

#[tokio::test]
async fn the_trio_can_tell_the_wall_clock() {
    let (store, _) = store::<_, CasRing>(&["2/10s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .x_headers(Reset::UnixTime)
        .build();
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let response = send(&layer, request(CLIENT, &[])).await;
    let after = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let reset = Duration::from_secs(number(&response, "x-ratelimit-reset").unwrap());
    let wait = Duration::from_secs(10);
    assert!(before + wait <= reset && reset <= after + wait + Duration::from_secs(1));
}

#[tokio::test]
async fn two_layers_tell_all_their_policies_and_the_tighter_trio() {
    let (by_address, _) = store::<_, CasRing>(&["5/60s"]);
    let (by_key, _) = store::<_, CasRing>(&["1/60s"]);
    let outer = RateLimitBuilder::new(by_address, by_peer())
        .named("address")
        .unwrap()
        .x_headers(Reset::Seconds)
        .build();
    let inner = RateLimitBuilder::new(by_key, FromHeader::new("x-api-key".parse().unwrap()))
        .named("key")
        .unwrap()
        .x_headers(Reset::Seconds)
        .build();
    let both = tower::layer::layer_fn(|service| outer.layer(inner.layer(service)));
    for (status, remaining) in [(200, 0), (429, 0)] {
        let request = request(CLIENT, &[("x-api-key", "alpha")]);
        let service = both.layer(common::ok_service());
        let response =
            common::read(tower::ServiceExt::oneshot(service, request).await.unwrap()).await;
        assert_eq!(response.status().as_u16(), status);
        let names = |header| -> Vec<String> {
            members(&response, header)
                .into_iter()
                .map(|m| m.name)
                .collect()
        };
        assert_eq!(names("ratelimit-policy"), ["key 1/60s", "address 5/60s"]);
        assert_eq!(names("ratelimit"), ["key 1/60s", "address 5/60s"]);
        assert_eq!(number(&response, "x-ratelimit-limit"), Some(1));
        assert_eq!(number(&response, "x-ratelimit-remaining"), Some(remaining));
        let retry = number(&response, "retry-after");
        assert_eq!(retry, (status == 429).then_some(60));
    }
}

#[test]
fn the_parser_takes_what_the_rfc_takes_and_nothing_else() {
    let list = parse(r#""a \"b\" \\"; q=100;w=60,"c";x="y";n=-1 ,	"d""#).unwrap();
    assert_eq!(list.len(), 3);
    assert_eq!(list[0].name, r#"a "b" \"#);
    assert_eq!(list[0].integer("q"), Some(100));
    assert_eq!(list[1].string("x"), Some("y"));
    assert_eq!(list[1].integer("n"), Some(-1));
    for wrong in [
        "",
        "a",
        r#""a"#,
        r#""a","#,
        r#""a" "b""#,
        r#""a";q"#,
        r#""a";Q=1"#,
        r#""a";q=1.5"#,
        r#""a";q=1000000000000000"#,
        r#""a\n""#,
        r#""a";q=-"#,
        "\"\u{e9}\"",
        r#""a";=1"#,
        "5",
    ] {
        assert_eq!(parse(wrong), None, "{wrong}");
    }
}

#[tokio::test]
async fn the_proposed_draft_renames_parameters_and_reports_the_cost() {
    let (store, _) = store::<_, CasRing>(&["5/10s"]);
    let layer = RateLimitBuilder::new(store, by_peer())
        .cost(Cost::of::<3>())
        .header_draft(Draft::Proposed2026)
        .build();
    let allowed = send(&layer, request(CLIENT, &[])).await;
    let fields = header(&allowed, "ratelimit");
    assert_eq!(fields, Some(r#""5/10s";a=2;w=10;c=3"#));
    let denied = send(&layer, request(CLIENT, &[])).await;
    assert_eq!(denied.status(), 429);
    let fields = header(&denied, "ratelimit");
    assert_eq!(fields, Some(r#""5/10s";a=2;w=10"#));
    let policy = header(&denied, "ratelimit-policy");
    assert_eq!(policy, Some(r#""5/10s";q=5;w=10"#));
}
