//! The routes, and which limit stands before which.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::extract::{ConnectInfo, Query, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use ipnet::IpNet;
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Deserialize;
use windowpane_core::{AsyncKeyedRateLimiter, AsyncKeyedSettle, Cost};
use windowpane_tower::{
    ClientAddress, ForwardingHeader, FromExtension, Meter, NameError, RateLimitBuilder, Reset,
};

/// What is charged for a request with an API key until its cost is known.
const ESTIMATE: Cost = Cost::of::<50>();

/// The keys that were given out.
const KNOWN_KEYS: [&str; 2] = ["alpha", "beta"];

pub(crate) struct Settings {
    pub(crate) trusted: Vec<IpNet>,
    pub(crate) shadow: bool,
    pub(crate) metrics: PrometheusHandle,
    /// Records in the metrics how full the stores are.
    pub(crate) record: Arc<dyn Fn() + Send + Sync>,
}

/// The account of a verified API key. Without verification, each invented key would have a fresh
/// quota.
#[derive(Clone)]
struct Account(String);

pub(crate) fn router<A, K>(
    by_address: A,
    by_key: K,
    settings: Settings,
) -> Result<Router, NameError>
where
    A: AsyncKeyedRateLimiter<IpAddr> + 'static,
    K: AsyncKeyedSettle<String> + Clone + 'static,
{
    let client = ClientAddress::from_extension(|peer: &ConnectInfo<SocketAddr>| peer.0)
        .behind(settings.trusted, ForwardingHeader::XForwardedFor);
    let per_address = RateLimitBuilder::remote(by_address, client)
        .named("address")?
        .x_headers(Reset::Seconds)
        .shadow(settings.shadow)
        .build();

    let account = FromExtension::new("a known API key", |account: &Account| account.0.clone());
    let per_key = RateLimitBuilder::remote(by_key, account)
        .named("api-key")?
        .x_headers(Reset::Seconds)
        .shadow(settings.shadow)
        .cost(ESTIMATE)
        .permit_unit("words")?
        .settle_on(
            |used| used.metered(),
            |settling| drop(tokio::spawn(settling)),
        )
        .build();

    // A layer stands before what was added earlier: the address is limited first, so that no client
    // tries out keys without limit; then the key is verified, then its quota asked.
    let api = Router::new()
        .route("/api/words", get(words))
        .layer(per_key)
        .layer(from_fn(verify));
    let metrics = move || async move {
        (settings.record)();
        settings.metrics.render()
    };
    Ok(Router::new()
        .route("/", get(|| async { "hello\n" }))
        .merge(api)
        .layer(per_address)
        .route("/metrics", get(metrics)))
}

/// Allows only known keys, and inserts their account.
async fn verify(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let key = request.headers().get("x-api-key");
    let known = KNOWN_KEYS
        .into_iter()
        .find(|known| key.is_some_and(|key| key.as_bytes() == known.as_bytes()));
    let known = known.ok_or(StatusCode::UNAUTHORIZED)?;
    request.extensions_mut().insert(Account(known.to_owned()));
    Ok(next.run(request).await)
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(default = "one")]
    count: u16,
}

fn one() -> u16 {
    1
}

/// Costs as many permits as it answers words, which only it knows.
async fn words(Query(wanted): Query<Wanted>, Extension(meter): Extension<Meter>) -> String {
    meter.set(wanted.count.into());
    "word ".repeat(wanted.count.into()) + "\n"
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use metrics_exporter_prometheus::PrometheusBuilder;
    use tower::ServiceExt;

    use super::*;
    use crate::stores;

    async fn get(
        router: &Router,
        path: &str,
        headers: &[(&str, &str)],
    ) -> axum::http::Response<Body> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        let peer = SocketAddr::from(([192, 0, 2, 1], 4711));
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = router.clone().oneshot(request).await.unwrap();
        // Read to its end, so that it is settled.
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        tokio::task::yield_now().await;
        Response::from_parts(parts, Body::from(body))
    }

    #[tokio::test]
    async fn addresses_and_keys_have_their_quotas_and_metrics_tell() {
        let quotas = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/service/quotas.toml");
        let stores = stores::memory(quotas.as_ref()).unwrap();
        let recorder = PrometheusBuilder::new().build_recorder();
        let settings = Settings {
            trusted: Vec::new(),
            shadow: false,
            metrics: recorder.handle(),
            record: stores.record,
        };
        let router = router(stores.by_address, stores.by_key, settings).unwrap();
        let _guard = metrics::set_default_local_recorder(&recorder);

        // Charged as 50 and settled at 7.
        let key = [("x-api-key", "alpha")];
        let response = get(&router, "/api/words?count=7", &key).await;
        assert_eq!(response.status(), StatusCode::OK);
        let response = get(&router, "/api/words?count=7", &key).await;
        let limits: Vec<&str> = response
            .headers()
            .get_all("ratelimit")
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect();
        assert!(
            limits[0].contains("\"api-key 1000/60s\";r=943"),
            "{limits:?}"
        );
        assert!(limits[1].contains("\"address 10/1s\";r=8"), "{limits:?}");

        let forged = [("x-api-key", "forged")];
        let response = get(&router, "/api/words", &forged).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let mut statuses = Vec::new();
        for forged in 0..12 {
            let forged = format!("192.0.2.{forged}");
            let response = get(&router, "/", &[("x-forwarded-for", &forged)]).await;
            statuses.push(response.status().as_u16());
        }
        assert_eq!(statuses, [vec![200; 7], vec![429; 5]].concat());

        let response = get(&router, "/metrics", &[]).await;
        assert_eq!(response.status(), StatusCode::OK);
        let text = axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        for line in [
            "windowpane_denied_total{limiter=\"address\",policy=\"address 10/1s\",passed=\"false\"} 5",
            "windowpane_keys{limiter=\"address\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{text}");
        }
    }
}
