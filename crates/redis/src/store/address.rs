//! Where a store is, and connecting to it.

use std::sync::Arc;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, RedisFuture, RedisResult, Value};

#[cfg(feature = "cluster")]
use super::cluster::{Cluster, Nodes, Redirection};
use super::endpoint::Endpoint;
use super::link::Patience;
use super::sentinel::Sentinels;

/// Where a store is.
#[derive(Clone)]
pub(crate) enum Address {
    Server(Box<Endpoint>),
    /// The server that sentinels name.
    Sentinel(Box<Sentinels>),
    #[cfg(feature = "cluster")]
    Cluster(Cluster),
    /// A connection that the user made.
    Given(Arc<dyn Given>),
    /// An address before which a test runs something at each attempt.
    #[cfg(test)]
    Hooked(Arc<dyn Fn(&OnBreak) + Send + Sync>, Box<Address>),
}

/// One connection, shared by all calls.
#[derive(Clone)]
pub(crate) enum Connection {
    Server(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(Nodes),
    Given(Arc<dyn Given>),
}

/// Called when a connection broke while no call used it.
pub(crate) type OnBreak = Arc<dyn Fn() + Send + Sync>;

/// A connection of any type that the user made. Each call uses a clone.
pub(crate) trait Given: Send + Sync {
    fn send<'a>(&self, command: &'a Cmd) -> RedisFuture<'a, Value>;
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Given for C {
    fn send<'a>(&self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        let mut connection = self.clone();
        Box::pin(async move { connection.req_packed_command(command).await })
    }
}

impl Address {
    /// The address without a password.
    pub(crate) fn place(&self) -> String {
        match self {
            Address::Server(endpoint) => endpoint.place(),
            Address::Sentinel(sentinels) => sentinels.place(),
            #[cfg(feature = "cluster")]
            Address::Cluster(_) => "a cluster".into(),
            Address::Given(_) => "a given connection".into(),
            #[cfg(test)]
            Address::Hooked(_, address) => address.place(),
        }
    }

    /// Changes the settings of every server, but not of the sentinels.
    pub(crate) fn each_server(&mut self, mut change: impl FnMut(&mut Endpoint)) {
        match self {
            Address::Server(endpoint) => change(endpoint),
            Address::Sentinel(sentinels) => change(&mut sentinels.server),
            #[cfg(feature = "cluster")]
            Address::Cluster(cluster) => cluster.nodes_mut().for_each(change),
            Address::Given(_) => {}
            #[cfg(test)]
            Address::Hooked(_, address) => address.each_server(change),
        }
    }

    /// Connects. The caller limits the time.
    pub(crate) async fn connect(
        &self,
        patience: Patience,
        on_break: OnBreak,
    ) -> RedisResult<Connection> {
        let within = patience.attempt;
        match self {
            Address::Server(endpoint) => {
                let connection = endpoint.connect(within, Some(on_break)).await?;
                Ok(Connection::Server(connection))
            }
            Address::Sentinel(sentinels) => {
                let connection = sentinels.connect(within, on_break).await?;
                Ok(Connection::Server(connection))
            }
            // The connection to a cluster reconnects by itself, node by node.
            #[cfg(feature = "cluster")]
            Address::Cluster(cluster) => Ok(Connection::Cluster(cluster.connect(patience).await?)),
            Address::Given(connection) => Ok(Connection::Given(connection.clone())),
            #[cfg(test)]
            Address::Hooked(before, address) => {
                before(&on_break);
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
            Connection::Cluster(nodes) => nodes.send(command).await?,
            Connection::Given(connection) => connection.send(command).await?,
        };
        value.extract_error()
    }

    /// Sends one command to the node that `to` names. Without a cluster it is sent as it is.
    #[cfg(feature = "cluster")]
    pub(crate) async fn send_to(&mut self, to: &Redirection, command: &Cmd) -> RedisResult<Value> {
        match self {
            Connection::Cluster(nodes) => nodes.send_to(to, command).await?.extract_error(),
            _ => self.send(command).await,
        }
    }

    /// Whether a broken call means a broken connection. In a cluster it means one broken node.
    pub(crate) fn breaks_as_one(&self) -> bool {
        match self {
            Connection::Server(_) | Connection::Given(_) => true,
            #[cfg(feature = "cluster")]
            Connection::Cluster(_) => false,
        }
    }
}
