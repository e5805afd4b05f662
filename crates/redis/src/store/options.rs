//! The options of a store, and where it is.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::ConnectionLike;

use super::Store;
use super::address::Address;
use super::backoff::Backoff;
#[cfg(feature = "cluster")]
use super::cluster::Cluster;
use super::credentials::{Credentials, Provider, ProviderError};
use super::endpoint::Endpoint;
use super::link::{Link, Patience};
use super::sentinel::Sentinels;
#[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
use super::tls::Tls;
use crate::error::{ConfigError, ConnectError};

/// The options of a [`Store`], from [`Store::at`].
///
/// ```no_run
/// use std::time::Duration;
/// use windowpane_redis::Store;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::at("redis://127.0.0.1:6379")?
///     .deadline(Duration::from_millis(20))
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "`connect` or `connect_in_background` makes the store"]
pub struct StoreOptions {
    place: String,
    address: Address,
    patience: Patience,
}

impl Store {
    /// The options of a store at `address`, such as `redis://127.0.0.1:6379` or `redis+unix:///run/redis.sock`.
    ///
    /// # Errors
    /// [`ConfigError::Address`].
    pub fn at(address: &str) -> Result<StoreOptions, ConfigError> {
        let endpoint = Endpoint::parse(address)?;
        Ok(StoreOptions::of(Address::Server(Box::new(endpoint))))
    }

    /// The options of a store whose server the sentinels at `sentinels` name by `name`. After a
    /// failover the next connection is to the new primary.
    ///
    /// `server` is an address that has the server's settings, such as
    /// `redis://user:password@primary/0`; its host and port are replaced by those that a sentinel
    /// names.
    ///
    /// # Errors
    /// [`ConfigError::Address`].
    pub fn at_sentinel(
        sentinels: &[&str],
        name: &str,
        server: &str,
    ) -> Result<StoreOptions, ConfigError> {
        let sentinels = Sentinels::parse(sentinels, name, server)?;
        Ok(StoreOptions::of(Address::Sentinel(Box::new(sentinels))))
    }

    /// The options of a store over a connection that the caller made, such as a
    /// `redis::aio::MultiplexedConnection` or a `redis::aio::ConnectionManager`. Each call sends its
    /// commands over a clone.
    ///
    /// A connection that resends a command on its own must not be used: a request would count twice.
    pub fn over<C>(connection: C) -> StoreOptions
    where
        C: ConnectionLike + Clone + Send + Sync + 'static,
    {
        StoreOptions::of(Address::Given(Arc::new(connection)))
    }

    /// The options of a store that is a cluster, of which some `nodes` are given.
    ///
    /// # Errors
    /// [`ConfigError::Address`].
    #[cfg(feature = "cluster")]
    pub fn at_cluster(nodes: &[&str]) -> Result<StoreOptions, ConfigError> {
        Ok(StoreOptions::of(Address::Cluster(Cluster::parse(nodes)?)))
    }
}

/// No delay or deadline is longer, so that each ends at a time that the clock represents.
const LONGEST: Duration = Duration::from_secs(86_400);

pub(super) const PATIENCE: Patience = Patience {
    deadline: Duration::from_millis(50),
    drop_after: Duration::from_millis(200),
    reconnect: Backoff {
        first: Duration::from_millis(50),
        longest: Duration::from_millis(500),
    },
    attempt: Duration::from_millis(250),
};

impl StoreOptions {
    fn of(address: Address) -> StoreOptions {
        StoreOptions {
            place: address.place(),
            address,
            patience: PATIENCE,
        }
    }

    /// Sets a function that returns the credentials, which is called at each connect: for passwords
    /// that rotate and for tokens that expire. Its error is a failed attempt to connect. The time that
    /// it takes is part of the [time of the attempt](Self::connect_timeout).
    ///
    /// ```no_run
    /// use windowpane_redis::{Credentials, Store};
    ///
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let options = Store::at("redis://127.0.0.1:6379")?.credentials(|| async {
    ///     let token = std::fs::read_to_string("/run/secrets/redis")?;
    ///     Ok(Credentials::new("limiter", token.trim()))
    /// });
    /// # Ok(())
    /// # }
    /// ```
    pub fn credentials<P, F>(mut self, provider: P) -> Self
    where
        P: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<Credentials, ProviderError>> + Send + 'static,
    {
        let provider = Provider::new(provider);
        self.address
            .each_server(|endpoint| endpoint.credentials = Some(provider.clone()));
        self
    }

    /// Sets the certificates of encrypted connections, whose addresses begin with `rediss://`. Those
    /// of sentinels are not changed.
    ///
    /// # Errors
    /// [`ConfigError::Address`] if the address is not one of an encrypted connection, or if a text is
    /// not PEM.
    #[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
    pub fn tls(mut self, tls: &Tls) -> Result<Self, ConfigError> {
        let mut set = Ok(());
        self.address.each_server(|endpoint| {
            if let Err(error) = endpoint.set_tls(tls) {
                set = Err(error);
            }
        });
        set.map(|()| self)
    }

    /// Sets how long one attempt to connect may take; 250 ms by default. Encrypted and distant servers
    /// may need longer.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.patience.attempt = timeout.min(LONGEST);
        self
    }

    /// Sets how long a call may take, sending a script again included; 50 ms by default. A call that
    /// takes longer ends as unavailable.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.patience.deadline = deadline.min(LONGEST);
        self
    }

    /// Sets how long calls may go on without any answer before the connection is dropped; 200 ms by
    /// default. The time counts from the first call that ended without an answer, and starts again
    /// after each answer. Without a connection calls end at once, until the store is connected again.
    ///
    /// A connection that breaks is dropped at once. The connection to a cluster is never dropped: the
    /// calls may all have gone to one node, and the others go on.
    pub fn drop_after(mut self, silence: Duration) -> Self {
        self.patience.drop_after = silence;
        self
    }

    /// Sets the delays between attempts to connect, in the background. They double from `first` up to
    /// `longest`, and of each delay the second half is random; 50 ms and 500 ms by default, 1 ms at
    /// least.
    pub fn reconnect_delay(mut self, first: Duration, longest: Duration) -> Self {
        let first = first.clamp(Duration::from_millis(1), LONGEST);
        let longest = longest.clamp(first, LONGEST);
        self.patience.reconnect = Backoff { first, longest };
        self
    }

    /// Connects, and waits at most `patience` for that.
    ///
    /// # Errors
    /// [`ConnectError`] if the store was not reached by then.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub async fn connect_within(self, patience: Duration) -> Result<Store, ConnectError> {
        let store = self.connect_in_background();
        let reached = tokio::time::timeout(patience, store.link.wait_until_up()).await;
        match (reached, store.link.held()) {
            (Err(_), Err(reason)) => Err(ConnectError {
                address: store.place.to_string(),
                waited_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
                reason,
            }),
            _ => Ok(store),
        }
    }

    /// [`connect_within`](Self::connect_within) two seconds.
    ///
    /// # Errors
    /// [`ConnectError`] if the store was not reached by then.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub async fn connect(self) -> Result<Store, ConnectError> {
        self.connect_within(Duration::from_secs(2)).await
    }

    /// A store that is unavailable until a task in the background has connected. For services that
    /// must start without it. Outside of a Tokio runtime, the first call starts that task.
    pub fn connect_in_background(self) -> Store {
        Store {
            link: Link::open(self.address, self.patience),
            place: self.place.into(),
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("place", &self.place)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
