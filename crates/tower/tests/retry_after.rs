//! A client that honours `Retry-After` succeeds at its first retry, and one nanosecond before the
//! limiter's own wait it would not have.

mod common;

use common::{SECOND, Store, by_peer, number, request, send, store};
use http::StatusCode;
use proptest::prelude::*;
use windowpane_cas_ring::CasRing;
use windowpane_core::{Cost, FromQuotas, KeyedRateLimiter, Nanos};
use windowpane_mutex_log::MutexLog;
use windowpane_tower::RateLimitBuilder;

const CLIENT: &str = "192.0.2.1";

/// One client: it comes at these intervals and costs, is denied once at least, and waits as told.
async fn honours_once<L: FromQuotas + 'static>(
    quotas: &[String],
    visits: &[(Nanos, u64)],
    cost: Cost,
) -> Result<(), TestCaseError> {
    let quotas: Vec<&str> = quotas.iter().map(String::as_str).collect();
    let (store, clock) = store::<std::net::IpAddr, L>(&quotas);
    let by_header = |request: &http::request::Parts| {
        let cost = request.headers.get("cost").unwrap().to_str().unwrap();
        Cost::new(cost.parse().unwrap()).unwrap()
    };
    let layer = RateLimitBuilder::new(store.clone(), by_peer())
        .cost(by_header)
        .build();
    let visit = |cost: u64| request(CLIENT, &[("cost", &cost.to_string())]);
    let mut now = 0;
    for (after, cost) in visits {
        now += after;
        clock.set(now);
        let _ = send(&layer, visit(*cost)).await;
    }
    // Then it hammers until it is denied.
    let denied = loop {
        let response = send(&layer, visit(cost.get())).await;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::TOO_MANY_REQUESTS => break response,
            other => return Err(TestCaseError::fail(format!("{other}"))),
        }
    };
    let told = number(&denied, "retry-after").unwrap();
    let exact = wait(&store, cost);
    prop_assert_eq!(told, exact.div_ceil(SECOND).max(1));

    clock.set(now + exact - 1);
    let early = send(&layer, visit(cost.get())).await;
    prop_assert_eq!(early.status(), StatusCode::TOO_MANY_REQUESTS);
    clock.set(now + told * SECOND);
    let retry = send(&layer, visit(cost.get())).await;
    prop_assert_eq!(retry.status(), StatusCode::OK);
    Ok(())
}

/// The limiter's own wait, which `peek` tells without charging.
fn wait<L: FromQuotas>(store: &Store<std::net::IpAddr, L>, cost: Cost) -> Nanos {
    let answer = store.peek_detailed(&CLIENT.parse().unwrap(), cost).unwrap();
    answer
        .detailed
        .decision()
        .denied()
        .unwrap()
        .retry_after_nanos()
        .unwrap()
}

/// Quotas that allow a cost of 3, in windows from a nanosecond to days.
fn quotas() -> impl Strategy<Value = Vec<String>> {
    let window = prop_oneof![
        (1_u64..2_000).prop_map(|n| format!("{n}ns")),
        (1_u64..5_000).prop_map(|n| format!("{n}ms")),
        (1_u64..100).prop_map(|n| format!("{n}s")),
        (1_u64..9).prop_map(|n| format!("{n}d")),
    ];
    let quota = (3_u64..12, window).prop_map(|(limit, window)| format!("{limit}/{window}"));
    prop::collection::vec(quota, 1..4)
}

fn visits() -> impl Strategy<Value = Vec<(Nanos, u64)>> {
    let after = prop_oneof![0_u64..3_000, 0..10 * SECOND, 0..300_000 * SECOND];
    prop::collection::vec((after, 1_u64..4), 0..20)
}

proptest! {
    // 2 x 500 trials.
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_first_retry_succeeds(quotas in quotas(), visits in visits(), cost in 1_u64..4) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let cost = Cost::new(cost).unwrap();
        runtime.block_on(honours_once::<CasRing>(&quotas, &visits, cost))?;
        runtime.block_on(honours_once::<MutexLog>(&quotas, &visits, cost))?;
    }
}
