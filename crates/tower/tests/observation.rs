//! What metrics and traces tell.

mod common;

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use common::{by_peer, request, send, store};
use http::Request;
use http_body_util::Empty;
use metrics_exporter_prometheus::PrometheusBuilder;
use windowpane_cas_ring::CasRing;
use windowpane_core::{Answer, AsyncKeyedRateLimiter, Cost, Local, Quotas, StoreError};
use windowpane_tower::{RateLimit, record_store};

const CLIENT: &str = "192.0.2.1";

struct Broken;

impl AsyncKeyedRateLimiter<IpAddr> for Broken {
    fn quotas(&self, _: &IpAddr) -> Quotas {
        Quotas::parse(["2/1s"]).unwrap()
    }

    async fn acquire_detailed(&self, _: &IpAddr, _: Cost) -> Result<Answer, StoreError> {
        let reason = "no answer within 50ms".into();
        Err(StoreError::Unavailable { reason })
    }
}

/// Three allowed, two denied, one without a key, one on which the store failed.
async fn traffic() {
    let (store, _) = store::<_, CasRing>(&["9/1s", "3/60s"]);
    let layer = RateLimit::new(Local(store), by_peer())
        .named("address")
        .unwrap()
        .layer();
    for _ in 0..5 {
        let _ = send(&layer, request(CLIENT, &[])).await;
    }
    let _ = send(&layer, Request::new(Empty::new())).await;
    let broken = RateLimit::new(Broken, by_peer())
        .named("far")
        .unwrap()
        .layer();
    let _ = send(&broken, request(CLIENT, &[])).await;
}

#[test]
fn metrics_count_each_request_once() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(traffic());
        record_store("address", 7, 2);
    });
    let text = handle.render();
    let value = |name: &str, labels: &[&str]| {
        let line = text
            .lines()
            .find(|line| line.starts_with(name) && labels.iter().all(|label| line.contains(label)));
        let line = line.unwrap_or_else(|| panic!("no {name} {labels:?} in\n{text}"));
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let requests = "windowpane_requests_total{";
    let address = r#"limiter="address""#;
    for (outcome, passed, count) in [
        ("allowed", "true", 3.0),
        ("denied", "false", 2.0),
        ("missing_key", "false", 1.0),
    ] {
        let outcome = format!("outcome=\"{outcome}\"");
        let passed = format!("passed=\"{passed}\"");
        assert_eq!(value(requests, &[address, &outcome, &passed]), count);
    }
    assert_eq!(
        value(requests, &[r#"limiter="far""#, r#"outcome="unavailable""#]),
        1.0
    );
    let policy = r#"policy="address 3/60s""#;
    assert_eq!(value("windowpane_denied_total{", &[address, policy]), 2.0);
    // The store was asked five times, and not for the request without a key.
    assert_eq!(value("windowpane_decision_seconds_count{", &[address]), 5.0);
    assert_eq!(value("windowpane_keys{", &[address]), 7.0);
    assert_eq!(value("windowpane_evictions_total{", &[address]), 2.0);
    assert!(!text.contains(CLIENT));
}

/// Where the traces go.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn traces_tell_denials_quietly_and_failures_loudly_and_no_key() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(traffic());
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let count = |parts: &[&str]| {
        let has_all = |line: &&str| parts.iter().all(|part| line.contains(part));
        text.lines().filter(has_all).count()
    };
    assert_eq!(
        count(&["TRACE", "outcome=\"allowed\"", "limiter=\"address\""]),
        3,
        "{text}"
    );
    let denied = [
        "DEBUG",
        "outcome=\"denied\"",
        "policy=\"address 3/60s\"",
        "retry_after=60s",
    ];
    assert_eq!(count(&denied), 2, "{text}");
    let failed = [
        "WARN",
        "outcome=\"unavailable\"",
        "error=",
        "no answer within 50ms",
    ];
    assert_eq!(count(&failed), 1, "{text}");
    assert_eq!(count(&[CLIENT]), 0, "{text}");
}
