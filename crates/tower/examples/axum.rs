//! An axum service with a rate limit for each client address.
//!
//! ```text
//! cargo run -p windowpane-tower --example axum
//! ```

use std::error::Error;
use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::{Router, routing::get};
use windowpane_cas_ring::CasRing;
use windowpane_keyed::KeyedLimiter;
use windowpane_tower::{ClientAddress, RateLimitLayer};

pub(crate) fn app() -> Result<Router, Box<dyn Error>> {
    let limiter = KeyedLimiter::<IpAddr, CasRing>::new("100/60s, 10/1s")?;
    let client = ClientAddress::from_extension(|peer: &ConnectInfo<SocketAddr>| peer.0);
    Ok(Router::new()
        .route("/", get(|| async { "hello\n" }))
        .layer(RateLimitLayer::new(limiter, client)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("try: for i in $(seq 12); do curl -i http://127.0.0.1:8080/; done");
    let app = app()?.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, app).await?;
    Ok(())
}
