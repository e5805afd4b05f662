//! What metrics tell.

mod common;

use common::observed::{CLIENT, traffic};
use metrics_exporter_prometheus::PrometheusBuilder;
use windowpane_tower::record_store;

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
        ("server_fault", "false", 2.0),
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
    // The store was asked five times, and not for the requests without a peer address.
    assert_eq!(value("windowpane_decision_seconds_count{", &[address]), 5.0);
    assert_eq!(value("windowpane_keys{", &[address]), 7.0);
    assert_eq!(value("windowpane_evictions_total{", &[address]), 2.0);
    assert!(!text.contains(CLIENT));
}
