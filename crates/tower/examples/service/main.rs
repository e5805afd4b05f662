//! A service with quotas per address and per API key, from a file that can be changed while it runs,
//! in this process's memory or in a Redis that several processes share; with metrics.
//!
//! ```text
//! cargo run -p windowpane-tower --example service --all-features
//! ```

mod app;
mod stores;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use ipnet::IpNet;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use tokio::net::TcpListener;
use windowpane_core::{AsyncKeyedRateLimiter, AsyncKeyedSettle};
use windowpane_tower::metric_names::DECISION;
use windowpane_tower::reload::Reloaded;

/// The bounds of the histogram of decisions' times, in seconds: from this process's memory to a slow
/// server.
const DECISION_SECONDS: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// A service with quotas per address and per API key.
#[derive(Parser)]
struct Arguments {
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The file of quotas; it is read again whenever it changes.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/service/quotas.toml"))]
    quotas: PathBuf,
    /// Where the limiters are.
    #[arg(long, value_enum, default_value = "memory")]
    store: Kind,
    /// The Redis or Valkey server, with `--store redis`.
    #[arg(long, default_value = "redis://127.0.0.1:6379")]
    redis: String,
    /// A network of proxies whose X-Forwarded-For is read, such as 10.0.0.0/8; may be repeated.
    #[arg(long)]
    trust: Vec<IpNet>,
    /// Allow everything and only count what would have been rejected.
    #[arg(long)]
    shadow: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// In this process.
    Memory,
    /// On a server that several processes share.
    Redis,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .init();
    match arguments.store {
        Kind::Memory => serve(stores::memory(&arguments.quotas)?, &arguments).await,
        Kind::Redis => {
            serve(
                stores::redis(&arguments.redis, &arguments.quotas).await?,
                &arguments,
            )
            .await
        }
    }
}

async fn serve<A, K>(stores: stores::Stores<A, K>, arguments: &Arguments) -> anyhow::Result<()>
where
    A: AsyncKeyedRateLimiter<std::net::IpAddr> + 'static,
    K: AsyncKeyedSettle<String> + Clone + 'static,
{
    let _watch = stores.reload.watch(Duration::from_secs(1), report)?;
    let settings = app::Settings {
        trusted: arguments.trust.clone(),
        shadow: arguments.shadow,
        // With bounds it is a histogram; without, a summary, which cannot be added up over servers.
        metrics: PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(DECISION.into()), &DECISION_SECONDS)?
            .install_recorder()?,
        record: stores.record,
    };
    let app = app::router(stores.by_address, stores.by_key, settings)?;
    let listener = TcpListener::bind(arguments.listen).await?;
    introduce(listener.local_addr()?, &arguments.quotas);
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    let stop = async {
        // Without a signal handler it runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?;
    Ok(())
}

/// Prints the result of a change of the file.
fn report(change: Reloaded) {
    match change {
        Reloaded::Applied => println!("new quotas are in force"),
        Reloaded::Rejected(error) => println!("the old quotas stay in force: {error}"),
        _ => {}
    }
}

/// Prints what to try.
fn introduce(address: SocketAddr, quotas: &std::path::Path) {
    println!(
        "\
One address, 10 requests a second: the rest are answered 429 with Retry-After.
  for i in $(seq 15); do curl -s -o /dev/null -w '%{{http_code}} ' http://{address}/; done; echo

The headers:
  curl -si http://{address}/ | grep -iE '^(HTTP|ratelimit|retry-after)'

An API key. Its quota counts the real cost of a request; 50 are charged until it is known:
  curl -si -H 'x-api-key: alpha' 'http://{address}/api/words?count=7'

An unknown key, and a forged address that is ignored:
  curl -si -H 'x-api-key: forged' http://{address}/api/words
  curl -si -H 'x-forwarded-for: 192.0.2.1' http://{address}/

Metrics:
  curl -s http://{address}/metrics

Quotas are read from {}: change it while this runs.
Ctrl-C stops it.",
        quotas.display()
    );
}
