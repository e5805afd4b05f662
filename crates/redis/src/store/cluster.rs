//! A cluster: the client of the `redis` crate, and what it does not follow.
//!
//! The client sends each command to the node that it believes to hold the key. While a slot moves,
//! that node answers ASK for keys that it does not have: the other node decides, if it is asked with
//! ASKING first. After the move it answers MOVED. Both answers mean that nothing was run. The client
//! would follow them among its retries, but its retries also send again what may have been run. So
//! they are off, and this module follows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::{Cmd, ErrorKind, ProtocolVersion, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::sync::OnceCell;

use super::endpoint::{Endpoint, malformed, without_password};
use super::link::Patience;
use crate::error::ConfigError;

/// Some nodes of a cluster, and what all its nodes have in common.
#[derive(Clone)]
pub(crate) struct Cluster {
    nodes: Vec<Endpoint>,
}

/// A connection to all nodes of a cluster.
#[derive(Clone)]
pub(crate) struct Nodes {
    client: ClusterConnection,
    told: Arc<Told>,
}

/// Connections to the nodes that others named.
struct Told {
    /// The settings of every node.
    endpoint: Endpoint,
    patience: Patience,
    connections: Mutex<HashMap<String, Arc<OnceCell<MultiplexedConnection>>>>,
}

/// The node that would decide, named by one that does not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Redirection {
    host: String,
    port: u16,
    is_asking: bool,
}

impl Redirection {
    /// The redirection that an answer is; `None` for other errors and for a node without an address.
    pub(crate) fn of(error: &RedisError) -> Option<Redirection> {
        let is_asking = match error.kind() {
            ErrorKind::Server(ServerErrorKind::Ask) => true,
            ErrorKind::Server(ServerErrorKind::Moved) => false,
            _ => return None,
        };
        let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().ok().filter(|_| !host.is_empty())?;
        Some(Redirection {
            host: host.into(),
            port,
            is_asking,
        })
    }
}

impl Cluster {
    pub(crate) fn parse(nodes: &[&str]) -> Result<Cluster, ConfigError> {
        let endpoints = nodes.iter().map(|node| Endpoint::parse(node));
        let cluster = Cluster {
            nodes: endpoints.collect::<Result<_, _>>()?,
        };
        let all = nodes.iter().map(|node| without_password(node));
        let all = all.collect::<Vec<_>>().join(", ");
        let built = cluster.builder(ProtocolVersion::RESP3).build();
        built.map_err(|error| malformed(&all, &error))?;
        Ok(cluster)
    }

    /// Changes the settings of every node.
    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Endpoint> {
        self.nodes.iter_mut()
    }

    /// No retries: a script that is sent again may count twice.
    fn builder(&self, protocol: ProtocolVersion) -> ClusterClientBuilder {
        let infos = self.nodes.iter().map(|node| {
            let info = node.info.clone();
            let settings = info.redis_settings().clone().set_protocol(protocol);
            info.set_redis_settings(settings)
        });
        let mut builder = ClusterClientBuilder::new(infos)
            .retries(0)
            .tcp_settings(self.nodes[0].info.tcp_settings().clone());
        if let Some(provider) = &self.nodes[0].credentials {
            builder = builder.set_credentials_provider(provider.clone());
        }
        #[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
        if let Some(certificates) = &self.nodes[0].certificates {
            builder = builder.certs(certificates.clone());
        }
        builder
    }

    pub(crate) async fn connect(&self, patience: Patience) -> RedisResult<Nodes> {
        #[cfg(feature = "tls-rustls")]
        super::tls::choose_provider();
        let connect = async |protocol| {
            let builder = self
                .builder(protocol)
                .connection_timeout(patience.attempt)
                .response_timeout(patience.deadline);
            builder.build()?.get_async_connection().await
        };
        let first = self.nodes[0].protocol();
        let mut client = connect(first).await;
        // The client does not report which error is HELLO's.
        if client.is_err() && !self.nodes[0].names_protocol {
            client = connect(ProtocolVersion::RESP2).await;
        }
        Ok(Nodes {
            client: client?,
            told: Arc::new(Told {
                endpoint: self.nodes[0].clone(),
                patience,
                connections: Mutex::default(),
            }),
        })
    }
}

impl Nodes {
    /// Sends a command to the node that the client believes to hold its key.
    pub(crate) async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.client.req_packed_command(command).await
    }

    /// Sends a command to the node that another one named.
    pub(crate) async fn send_to(&self, to: &Redirection, command: &Cmd) -> RedisResult<Value> {
        let place = format!("{}:{}", to.host, to.port);
        let cell = self.told.cell(&place);
        let connect = || async {
            let endpoint = self.told.endpoint.at(&to.host, to.port);
            endpoint.connect(self.told.patience.attempt, None).await
        };
        let mut connection = cell.get_or_try_init(connect).await?.clone();
        let sent = match to.is_asking {
            false => connection.req_packed_command(command).await,
            true => {
                // One write: no other call comes between the two.
                let mut both = redis::pipe();
                both.cmd("ASKING").add_command(command.clone());
                let answers = connection.req_packed_commands(&both, 1, 1).await;
                answers.map(|mut answers| answers.pop().unwrap_or(Value::Nil))
            }
        };
        if sent
            .as_ref()
            .is_err_and(|error| error.is_unrecoverable_error())
        {
            self.told.forget(&place, &cell);
        }
        sent
    }
}

impl Told {
    fn cell(&self, place: &str) -> Arc<OnceCell<MultiplexedConnection>> {
        let mut connections = self.connections.lock().unwrap_or_else(|e| e.into_inner());
        connections.entry(place.into()).or_default().clone()
    }

    /// Forgets a broken connection, if it is still the current one.
    fn forget(&self, place: &str, broken: &Arc<OnceCell<MultiplexedConnection>>) {
        let mut connections = self.connections.lock().unwrap_or_else(|e| e.into_inner());
        if connections
            .get(place)
            .is_some_and(|cell| Arc::ptr_eq(cell, broken))
        {
            connections.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirection(line: &str) -> Option<Redirection> {
        let reply = redis::parse_redis_value(format!("-{line}\r\n").as_bytes());
        Redirection::of(&reply.unwrap().extract_error().unwrap_err())
    }

    #[test]
    fn redirections_name_a_node() {
        let to = |host: &str, is_asking| {
            Some(Redirection {
                host: host.into(),
                port: 6380,
                is_asking,
            })
        };
        assert_eq!(redirection("ASK 12182 10.0.0.7:6380"), to("10.0.0.7", true));
        assert_eq!(redirection("MOVED 12182 node-2:6380"), to("node-2", false));
        assert_eq!(redirection("MOVED 12182 [::1]:6380"), to("::1", false));
        for other in [
            "MOVED 12182 :6380",
            "ASK 12182 node-2:port",
            "ASK 12182",
            "ERR ASK 12182 10.0.0.7:6380",
            "TRYAGAIN Multiple keys request during rehashing of slot",
        ] {
            assert_eq!(redirection(other), None, "{other}");
        }
    }
}
