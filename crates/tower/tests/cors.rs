//! Case 40: with the CORS layer outside, preflight requests are not counted and browsers can read
//! a denial.

mod common;

use std::net::IpAddr;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use common::wire::{Server, by_axum_peer, serve};
use common::{header, store};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use windowpane_cas_ring::CasRing;
use windowpane_tower::RateLimitLayer;

const ORIGIN: &[u8] = b"https://app.example";
const ALLOW_ORIGIN: &str = "access-control-allow-origin";

/// A CORS layer: it answers preflight requests, and marks every other response.
async fn cors(request: Request, next: Next) -> Response {
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key("access-control-request-method");
    let mut response = match is_preflight {
        true => StatusCode::NO_CONTENT.into_response(),
        false => next.run(request).await,
    };
    let origin = HeaderValue::from_static("https://app.example");
    response.headers_mut().insert(ALLOW_ORIGIN, origin);
    response
}

/// A limit of 2 requests; `outside` puts the CORS layer outside it, as the README says.
async fn server(outside: bool) -> Server {
    let (store, _) = store::<IpAddr, CasRing>(&["2/60s"]);
    let limit = RateLimitLayer::new(store, by_axum_peer());
    let routes = Router::new().route("/", get(|| async { "hello" }));
    // axum calls the layer that was added last first.
    serve(match outside {
        true => routes.layer(limit).layer(from_fn(cors)),
        false => routes.layer(from_fn(cors)).layer(limit),
    })
    .await
}

/// Sends three preflight requests and three requests, as a browser does in turn; returns the statuses
/// and, of each request, whether the browser may read the response.
async fn visit(server: &Server) -> (Vec<u16>, Vec<u16>, Vec<bool>) {
    let origin = (HeaderName::from_static("origin"), ORIGIN);
    let asks = (
        HeaderName::from_static("access-control-request-method"),
        &b"GET"[..],
    );
    let (mut preflights, mut statuses, mut readable) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let headers = [origin.clone(), asks.clone()];
        let preflight = server.open("OPTIONS", "/", &headers).await.unwrap();
        preflights.push(preflight.status().as_u16());
        let response = server.get("/", std::slice::from_ref(&origin)).await;
        statuses.push(response.status().as_u16());
        readable.push(header(&response, ALLOW_ORIGIN).is_some());
    }
    (preflights, statuses, readable)
}

#[tokio::test]
async fn cors_outside_counts_no_preflight_and_marks_denials() {
    let server = server(true).await;
    let (preflights, statuses, readable) = visit(&server).await;
    assert_eq!(preflights, [204, 204, 204]);
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(readable, [true, true, true]);
    server.stop().await;
}

#[tokio::test]
async fn cors_inside_counts_preflights_and_hides_denials() {
    let server = server(false).await;
    let (preflights, statuses, readable) = visit(&server).await;
    assert_eq!(preflights, [204, 429, 429]);
    assert_eq!(statuses, [200, 429, 429]);
    assert_eq!(readable, [true, false, false]);
    server.stop().await;
}
