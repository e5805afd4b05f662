//! The address of a store, and connecting to it.

use std::sync::Arc;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, Cmd, ProtocolVersion, PushInfo, PushKind, RedisResult};
use redis::{IntoConnectionInfo, Value};

use super::link::Patience;
use crate::error::ConfigError;

/// The address of a store: one server, or a cluster.
#[derive(Clone)]
pub(crate) enum Address {
    Server(Box<Client>),
    #[cfg(feature = "cluster")]
    /// Some of its nodes.
    Cluster(Vec<String>),
    /// An address before which a test runs something at each attempt.
    #[cfg(test)]
    Hooked(Arc<dyn Fn() + Send + Sync>, Box<Address>),
}

/// One connection, shared by all calls.
#[derive(Clone)]
pub(crate) enum Connection {
    Server(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(redis::cluster_async::ClusterConnection),
}

/// Called when a connection broke while no call used it.
pub(crate) type OnBreak = Arc<dyn Fn() + Send + Sync>;

/// Removes the user and password before the `@` of an address.
fn without_password(address: &str) -> &str {
    address.rsplit('@').next().unwrap_or(address)
}

/// No retries: a script that is sent again may count twice.
#[cfg(feature = "cluster")]
fn cluster_of<N: AsRef<str>>(nodes: &[N]) -> redis::cluster::ClusterClientBuilder {
    let nodes = nodes.iter().map(AsRef::as_ref);
    redis::cluster::ClusterClientBuilder::new(nodes).retries(0)
}

impl Address {
    pub(crate) fn server(address: &str) -> Result<Address, ConfigError> {
        let malformed = |error: redis::RedisError| ConfigError::Address {
            address: without_password(address).into(),
            reason: error.to_string(),
        };
        let info = address.into_connection_info().map_err(malformed)?;
        // Protocol 3 reports a broken connection when it breaks, not at the next call.
        let settings = info
            .redis_settings()
            .clone()
            .set_protocol(ProtocolVersion::RESP3);
        let info = info.set_redis_settings(settings);
        Client::open(info)
            .map(|client| Address::Server(Box::new(client)))
            .map_err(malformed)
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn cluster(nodes: &[&str]) -> Result<Address, ConfigError> {
        let malformed = |error: redis::RedisError| ConfigError::Address {
            address: nodes
                .iter()
                .map(|node| without_password(node))
                .collect::<Vec<_>>()
                .join(", "),
            reason: error.to_string(),
        };
        cluster_of(nodes).build().map_err(malformed)?;
        let nodes = nodes.iter().map(|node| (*node).to_owned());
        Ok(Address::Cluster(nodes.collect()))
    }

    /// The address without a password.
    pub(crate) fn place(&self) -> String {
        match self {
            Address::Server(client) => client.get_connection_info().addr().to_string(),
            #[cfg(feature = "cluster")]
            Address::Cluster(_) => "a cluster".into(),
            #[cfg(test)]
            Address::Hooked(_, address) => address.place(),
        }
    }

    /// Connects. The caller limits the time.
    pub(crate) async fn connect(
        &self,
        patience: Patience,
        on_break: OnBreak,
    ) -> RedisResult<Connection> {
        match self {
            Address::Server(client) => {
                let on_push = move |push: PushInfo| {
                    if push.kind == PushKind::Disconnection {
                        on_break();
                    }
                    Ok::<(), std::convert::Infallible>(())
                };
                // The caller has a deadline; one timer per call is enough.
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(patience.attempt))
                    .set_response_timeout(None)
                    .set_push_sender(on_push);
                let connection = client.get_multiplexed_async_connection_with_config(&config);
                Ok(Connection::Server(connection.await?))
            }
            // The connection to a cluster reconnects by itself, node by node.
            #[cfg(feature = "cluster")]
            Address::Cluster(nodes) => {
                let client = cluster_of(nodes)
                    .connection_timeout(patience.attempt)
                    .response_timeout(patience.deadline)
                    .build()?;
                Ok(Connection::Cluster(client.get_async_connection().await?))
            }
            #[cfg(test)]
            Address::Hooked(before, address) => {
                before();
                Box::pin(address.connect(patience, on_break)).await
            }
        }
    }
}

impl Connection {
    /// Sends one command and waits for its answer, an error of the server being an error.
    pub(crate) async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        let value = match self {
            Connection::Server(connection) => connection.req_packed_command(command).await?,
            #[cfg(feature = "cluster")]
            Connection::Cluster(connection) => connection.req_packed_command(command).await?,
        };
        value.extract_error()
    }

    /// Whether a broken call means a broken connection. In a cluster it means one broken node.
    pub(crate) fn breaks_as_one(&self) -> bool {
        match self {
            Connection::Server(_) => true,
            #[cfg(feature = "cluster")]
            Connection::Cluster(_) => false,
        }
    }
}
