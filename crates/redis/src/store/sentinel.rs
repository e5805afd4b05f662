//! A server that sentinels name: after a failover another one.

use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, Value};

use super::address::OnBreak;
use super::endpoint::Endpoint;
use crate::error::ConfigError;

/// The sentinels, and the settings of the server that they name.
#[derive(Clone)]
pub(crate) struct Sentinels {
    sentinels: Vec<Endpoint>,
    name: String,
    pub(super) server: Endpoint,
}

impl Sentinels {
    pub(crate) fn parse(
        sentinels: &[&str],
        name: &str,
        server: &str,
    ) -> Result<Sentinels, ConfigError> {
        let endpoints = sentinels.iter().map(|address| Endpoint::parse(address));
        let endpoints: Vec<_> = endpoints.collect::<Result<_, _>>()?;
        if endpoints.is_empty() {
            return Err(ConfigError::Address {
                address: String::new(),
                reason: "no sentinel is given".into(),
            });
        }
        Ok(Sentinels {
            sentinels: endpoints,
            name: name.into(),
            server: Endpoint::parse(server)?,
        })
    }

    pub(crate) fn place(&self) -> String {
        let first = self.sentinels[0].place();
        format!("{} by the sentinel {first}", self.name)
    }

    /// Connects to the primary that the first sentinel names which answers. A server that is not the
    /// primary, or not yet, is an error: the caller tries again.
    pub(crate) async fn connect(
        &self,
        within: Duration,
        on_break: OnBreak,
    ) -> RedisResult<MultiplexedConnection> {
        let mut last = RedisError::from((ErrorKind::EmptySentinelList, "no sentinel answers"));
        for sentinel in &self.sentinels {
            // Each sentinel has its part of the time, so that one that hangs hides no other.
            let part = within / (self.sentinels.len() as u32 + 1);
            let named = tokio::time::timeout(part, self.named_by(sentinel, part)).await;
            match named {
                Ok(Ok((host, port))) => {
                    let server = self.server.at(&host, port);
                    let mut connection = server.connect(within, Some(on_break)).await?;
                    let role = ask(&mut connection, &redis::cmd("ROLE")).await?;
                    return match is_primary(&role) {
                        true => Ok(connection),
                        false => Err(RedisError::from((
                            ErrorKind::Client,
                            "the server that the sentinel names is not the primary",
                            server.place(),
                        ))),
                    };
                }
                Ok(Err(error)) => last = error,
                Err(_) => last = (ErrorKind::Io, "a sentinel does not answer").into(),
            }
        }
        Err(last)
    }

    async fn named_by(&self, sentinel: &Endpoint, within: Duration) -> RedisResult<(String, u16)> {
        let mut connection = sentinel.connect(within, None).await?;
        let mut command = redis::cmd("SENTINEL");
        command.arg("get-master-addr-by-name").arg(&self.name);
        let address = ask(&mut connection, &command).await?;
        let unknown = || {
            let what = "the sentinel does not know the name";
            RedisError::from((
                ErrorKind::MasterNameNotFoundBySentinel,
                what,
                self.name.clone(),
            ))
        };
        match address {
            Value::Nil => Err(unknown()),
            address => Ok(FromRedisValue::from_redis_value(address)?),
        }
    }
}

async fn ask(connection: &mut MultiplexedConnection, command: &Cmd) -> RedisResult<Value> {
    connection
        .req_packed_command(command)
        .await?
        .extract_error()
}

/// Whether an answer to ROLE is a primary's.
fn is_primary(role: &Value) -> bool {
    let Value::Array(fields) = role else {
        return false;
    };
    matches!(fields.first(), Some(Value::BulkString(name)) if name == b"master")
}
