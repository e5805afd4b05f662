//! What is measured: one axum service, without the layer and with it.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use http::HeaderName;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windowpane_cas_ring::CasRing;
use windowpane_core::Quotas;
use windowpane_keyed::KeyedLimiter;
use windowpane_tower::{ClientAddress, FromHeader, RateLimitBuilder};

/// A store of limiters in this process: exact, as in the examples.
pub(crate) type Store<K> = Arc<KeyedLimiter<K, CasRing>>;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What stands before the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cell {
    /// Nothing.
    Without,
    /// Nothing once more: what differs is noise.
    WithoutAgain,
    /// The layer, by the connection's peer: one key, and every request is allowed.
    ByAddress,
    /// The layer, by API key: as many as there are in the pool, and every request is allowed.
    ByKey,
    /// The same under two quotas.
    ByKeyTwoQuotas,
    /// By address, over its quota, in shadow mode: everything passes.
    Shadow,
    /// By address, over its quota: every request is denied.
    Denied,
}

impl Cell {
    pub(crate) const ALL: [Cell; 7] = [
        Cell::Without,
        Cell::WithoutAgain,
        Cell::ByAddress,
        Cell::ByKey,
        Cell::ByKeyTwoQuotas,
        Cell::Shadow,
        Cell::Denied,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Cell::Without => "without the layer",
            Cell::WithoutAgain => "without the layer, again",
            Cell::ByAddress => "by address, allowed",
            Cell::ByKey => "by API key, allowed",
            Cell::ByKeyTwoQuotas => "by API key, two quotas, allowed",
            Cell::Shadow => "by address, shadow mode",
            Cell::Denied => "by address, denied",
        }
    }

    /// What filters look for.
    pub(crate) fn path(self) -> String {
        format!("http/{}", self.name())
    }

    /// The quotas. Where everything is to be allowed they are such that no generator on one machine
    /// uses them up; windows are whole seconds, as in services.
    pub(crate) const fn quotas(self) -> &'static [&'static str] {
        match self {
            Cell::Without | Cell::WithoutAgain => &[],
            Cell::ByAddress => &["1000000/1s"],
            Cell::ByKey => &["100/1s"],
            Cell::ByKeyTwoQuotas => &["100/1s", "1000/10s"],
            Cell::Shadow | Cell::Denied => &["1/1h"],
        }
    }

    /// Whether the layer decides, and all is allowed: what the aim is told of.
    pub(crate) const fn is_allowed(self) -> bool {
        matches!(self, Cell::ByAddress | Cell::ByKey | Cell::ByKeyTwoQuotas)
    }

    /// The status of every answer.
    pub(crate) const fn status(self) -> u16 {
        match self {
            Cell::Denied => 429,
            _ => 200,
        }
    }

    fn router(self) -> Result<Router> {
        let routes = routes();
        let address = ClientAddress::from_extension(|peer: &ConnectInfo<SocketAddr>| peer.0);
        Ok(match self {
            Cell::Without | Cell::WithoutAgain => routes,
            Cell::ByAddress | Cell::Shadow | Cell::Denied => {
                let store: Store<IpAddr> = store(self.quotas(), None)?;
                let limit = RateLimitBuilder::new(store, address);
                routes.layer(limit.shadow(self == Cell::Shadow).build())
            }
            Cell::ByKey | Cell::ByKeyTwoQuotas => by_key(store(self.quotas(), None)?),
        })
    }

    /// Asks once, and again, as anyone might: whether the answers are what this cell is called.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn probe(self, server: SocketAddr) -> Result<()> {
        // The first uses up a quota of one.
        let (_, second) = (ask(server)?, ask(server)?);
        let told = |name: &str| second.lines().any(|line| line.starts_with(name));
        let status = format!("HTTP/1.1 {} ", self.status());
        ensure!(
            second.starts_with(&status),
            "{}: expected `{status}`, got:\n{second}",
            self.name()
        );
        let expected = self.is_allowed() || self == Cell::Denied;
        ensure!(
            told("ratelimit: ") == expected && told("ratelimit-policy: ") == expected,
            "{}: the RateLimit headers should {}be there:\n{second}",
            self.name(),
            if expected { "" } else { "not " }
        );
        ensure!(
            told("retry-after: ") == (self == Cell::Denied),
            "{}: Retry-After belongs to denials, and to all of them:\n{second}",
            self.name()
        );
        Ok(())
    }
}

fn routes() -> Router {
    Router::new().route("/", get(|| async { "hello\n" }))
}

/// A store with these quotas, and a cap on keys.
pub(crate) fn store<K: std::hash::Hash + Eq>(
    quotas: &[&str],
    max_keys: Option<usize>,
) -> Result<Store<K>> {
    let mut builder = KeyedLimiter::builder(Quotas::parse(quotas)?);
    if let Some(keys) = max_keys {
        builder = builder.max_keys(keys);
    }
    Ok(Arc::new(builder.build()?))
}

/// The service behind a limit on API keys.
pub(crate) fn by_key(store: Store<String>) -> Router {
    let limit = RateLimitBuilder::new(store, FromHeader::new(API_KEY));
    routes().layer(limit.build())
}

/// A service on a port of the loopback interface, which accepts nobody any more once it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepting: JoinHandle<std::io::Result<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Server {
    pub(crate) fn of(cell: Cell, runtime: &Runtime) -> Result<Server> {
        Server::start(cell.router()?, runtime)
    }

    pub(crate) fn start(app: Router, runtime: &Runtime) -> Result<Server> {
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0)))
            .context("no port on the loopback interface")?;
        let address = listener.local_addr()?;
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        let accepting = runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Server { address, accepting })
    }
}

/// One request on a connection of its own; the answer as it came.
fn ask(server: SocketAddr) -> Result<String> {
    let patience = Duration::from_secs(10);
    let mut stream = TcpStream::connect_timeout(&server, patience)?;
    stream.set_read_timeout(Some(patience))?;
    write!(
        stream,
        "GET / HTTP/1.1\r\nhost: {server}\r\nx-api-key: probe\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match answer.is_empty() {
        true => bail!("{server} answered nothing"),
        false => Ok(answer),
    }
}
