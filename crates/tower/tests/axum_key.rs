//! The default key of an axum app.

mod common;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use common::wire::serve;
use common::{on_tokio, store};
use windowpane_cas_ring::CasRing;
use windowpane_tower::{ClientAddress, RateLimitLayer};

#[test]
fn axum_key_is_the_address_of_the_connection() {
    on_tokio(|| async {
        let (store, _) = store::<IpAddr, CasRing>(&["1/1s"]);
        let layer = RateLimitLayer::new(Arc::clone(&store), ClientAddress::axum());
        let app = Router::new()
            .route("/", get(|| async { "ok" }))
            .layer(layer);
        let server = serve(app).await;
        let statuses = [server.get("/", &[]).await, server.get("/", &[]).await];
        assert_eq!(
            statuses.map(|response| response.status().as_u16()),
            [200, 429]
        );
        assert_eq!(store.keys(), [IpAddr::from([127, 0, 0, 1])]);
        server.stop().await;
    });
}
