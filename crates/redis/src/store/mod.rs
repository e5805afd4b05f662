//! A store: the server that holds the keys and runs the scripts.

mod address;
mod backoff;
#[cfg(feature = "cluster")]
mod cluster;
mod credentials;
mod endpoint;
mod link;
mod options;
mod probe;
mod sentinel;
#[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
mod tls;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::time::{Instant, timeout_at};

use crate::counters::StoreStats;
use crate::script::Script;
use link::{Held, Link};

pub use credentials::Credentials;
pub use options::StoreOptions;
pub(crate) use probe::Probe;
#[cfg(any(feature = "tls-rustls", feature = "tls-native"))]
pub use tls::Tls;

/// A Redis or Valkey server, or a cluster, over one connection that all calls share.
///
/// Clones share it. Every call ends by its deadline. Without a connection, every call ends at once as
/// [unavailable](windowpane_core::AcquireError::Unavailable). No call is queued, and none is sent
/// again when the connection is back.
#[derive(Clone)]
pub struct Store {
    link: Arc<Link>,
    place: Arc<str>,
}

/// The health of a [`Store`], from [`Store::health`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Why there is no connection; `None` if there is one.
    pub not_connected: Option<String>,
    /// What the server refuses this user of what the limiters of this store run, such as
    /// `refused: NOPERM setrange`. The calls of such a limiter end at once as unavailable. It is asked
    /// for at each connect, and every second as long as something is refused.
    pub refused: Vec<Arc<str>>,
}

impl Health {
    /// Whether there is a connection, and the server refuses nothing.
    pub fn is_ok(&self) -> bool {
        self.not_connected.is_none() && self.refused.is_empty()
    }
}

/// The reason why a call has no reply.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) reason: String,
}

impl Store {
    /// Returns the counts of calls and connections since the store was made. O(1).
    pub fn stats(&self) -> StoreStats {
        self.link.counters.read()
    }

    /// Whether there is a connection. Without one, every call ends at once as unavailable.
    ///
    /// A connection that broke or hangs while no call uses it is found out within about two seconds,
    /// a broken one with protocol 3 at once. The connection to a cluster is one to all its nodes: it is
    /// there as soon as one node was reached, and stays.
    pub fn is_connected(&self) -> bool {
        self.link.is_up()
    }

    /// Returns whether calls can be decided, and if not, why.
    pub fn health(&self) -> Health {
        Health {
            not_connected: self.link.held().err(),
            refused: self.link.refused(),
        }
    }

    /// Adds the probe of what a limiter runs.
    pub(crate) fn add_probe(&self, probe: Probe) -> Arc<Probe> {
        self.link.add_probe(probe)
    }

    /// Returns how long a call may take.
    pub fn deadline(&self) -> Duration {
        self.link.patience.deadline
    }

    /// Returns how long a caller should wait that found the store unavailable.
    pub(crate) fn retry_after(&self) -> Duration {
        self.link.retry_after()
    }

    /// Runs `script` on `key` with `arguments`: one round trip, and a second one if the server does
    /// not have the script. It reports that before it runs anything.
    pub(crate) async fn run(
        &self,
        script: &Script,
        key: &[u8],
        arguments: impl Fn(&mut Cmd),
        started: Instant,
    ) -> Result<Value, Failure> {
        let command = |name: &str, script: &str| {
            let mut command = redis::cmd(name);
            command.arg(script).arg(1).arg(key);
            arguments(&mut command);
            command
        };
        let deadline = started + self.link.patience.deadline;
        let mut sent = self
            .send(&command("EVALSHA", script.digest()), deadline)
            .await;
        if matches!(&sent, Err(Sent::ServerError(error)) if is_unknown_script(error)) {
            self.link.counters.scripts_sent.add();
            sent = self.send(&command("EVAL", script.text()), deadline).await;
        }
        // A node that never had the key may not have the script either.
        let sent = self
            .follow(sent, || command("EVAL", script.text()), deadline)
            .await;
        self.end(sent)
    }

    /// The failure of a call that is not sent.
    pub(crate) fn not_sent(&self, reason: &str) -> Failure {
        self.link.counters.not_sent.add();
        Failure {
            reason: reason.into(),
        }
    }

    /// Runs one plain command.
    pub(crate) async fn command(&self, command: &Cmd, started: Instant) -> Result<Value, Failure> {
        let deadline = started + self.link.patience.deadline;
        let sent = self.send(command, deadline).await;
        let sent = self.follow(sent, || command.clone(), deadline).await;
        self.end(sent)
    }

    /// Sends the command to the node that the answer names, which ran nothing, as long as it names one
    /// and the deadline has not come.
    #[cfg(feature = "cluster")]
    async fn follow(
        &self,
        mut sent: Result<Value, Sent>,
        command: impl Fn() -> Cmd,
        deadline: Instant,
    ) -> Result<Value, Sent> {
        for _ in 0..REDIRECTIONS {
            let Err(Sent::ServerError(error)) = &sent else {
                break;
            };
            let Some(to) = cluster::Redirection::of(error) else {
                break;
            };
            let command = command();
            let sending = async |held: &mut Held| held.connection.send_to(&to, &command).await;
            sent = self.send_by(sending, deadline).await;
        }
        sent
    }

    #[cfg(not(feature = "cluster"))]
    async fn follow(
        &self,
        sent: Result<Value, Sent>,
        _command: impl Fn() -> Cmd,
        _deadline: Instant,
    ) -> Result<Value, Sent> {
        sent
    }

    fn end(&self, sent: Result<Value, Sent>) -> Result<Value, Failure> {
        sent.map_err(|sent| Failure {
            reason: match sent {
                Sent::NoConnection(reason) | Sent::Unanswered(reason) => reason,
                Sent::ServerError(error) => {
                    self.link.counters.server_errors.add();
                    error.to_string()
                }
            },
        })
    }

    async fn send(&self, command: &Cmd, deadline: Instant) -> Result<Value, Sent> {
        let sending = async |held: &mut Held| held.connection.send(command).await;
        self.send_by(sending, deadline).await
    }

    async fn send_by(
        &self,
        sending: impl AsyncFnOnce(&mut Held) -> RedisResult<Value>,
        deadline: Instant,
    ) -> Result<Value, Sent> {
        let counters = &self.link.counters;
        let mut held = self.link.held().map_err(|reason| {
            counters.not_sent.add();
            Sent::NoConnection(reason)
        })?;
        counters.sent.add();
        match timeout_at(deadline, sending(&mut held)).await {
            Ok(Ok(value)) => {
                self.link.answered();
                Ok(value)
            }
            Ok(Err(error))
                if matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension) =>
            {
                match decides_nothing(&error) {
                    true => self.link.broken(&held, &error.to_string()),
                    false => self.link.answered(),
                }
                if probe::is_refused(&error) {
                    self.link.was_refused();
                }
                Err(Sent::ServerError(error))
            }
            Ok(Err(error)) => {
                counters.broken.add();
                let reason = error.to_string();
                match error.is_unrecoverable_error() {
                    true => self.link.broken(&held, &reason),
                    false => self.link.unanswered(&held, &reason),
                }
                Err(Sent::Unanswered(reason))
            }
            Err(_) => {
                counters.timeouts.add();
                let reason = format!(
                    "no answer within {} ms",
                    self.link.patience.deadline.as_millis()
                );
                self.link.unanswered(&held, &reason);
                Err(Sent::Unanswered(reason))
            }
        }
    }
}

/// The end of a call without a value.
enum Sent {
    /// There was no connection.
    NoConnection(String),
    /// The server ran nothing, or stopped before it wrote anything.
    ServerError(RedisError),
    /// It is unknown what the server did.
    Unanswered(String),
}

/// The most redirections that a call follows. One is usual, two if the slot moves on meanwhile.
#[cfg(feature = "cluster")]
const REDIRECTIONS: u32 = 5;

fn is_unknown_script(error: &RedisError) -> bool {
    is(error, ServerErrorKind::NoScript)
}

fn is(error: &RedisError, kind: ServerErrorKind) -> bool {
    error.kind() == ErrorKind::Server(kind)
}

/// Whether the error means that this server decides nothing: it is loading its data, or it became a
/// replica. A new connection may reach another server.
fn decides_nothing(error: &RedisError) -> bool {
    let kinds = [
        ServerErrorKind::BusyLoading,
        ServerErrorKind::ReadOnly,
        ServerErrorKind::MasterDown,
    ];
    // Redis 6 reports the error of a command in a script as an error of the script.
    let wrapped = error
        .detail()
        .is_some_and(|detail| detail.contains("-READONLY "));
    wrapped || kinds.into_iter().any(|kind| is(error, kind))
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("place", &self.place)
            .field("connected", &self.is_connected())
            .field("patience", &self.link.patience)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loading_server_and_a_replica_decide_nothing() {
        let nothing = |line: &str| {
            let reply = redis::parse_redis_value(format!("-{line}\r\n").as_bytes());
            decides_nothing(&reply.unwrap().extract_error().unwrap_err())
        };
        for line in [
            "LOADING Redis is loading the dataset in memory",
            "READONLY You can't write against a read only replica.",
            "MASTERDOWN Link with MASTER is down",
            "ERR Error running script (call to f_12): @user_script:57: @user_script: 57: -READONLY You \
             can't write against a read only replica.",
        ] {
            assert!(nothing(line), "{line}");
        }
        for line in [
            "OOM command not allowed when used memory > 'maxmemory'.",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            "WRONGSTATE the string at this key is not a time of windowpane",
            "NOSCRIPT No matching script.",
            "ERR Error running script (call to f_12): @user_script:9: -OOM command not allowed",
        ] {
            assert!(!nothing(line), "{line}");
        }
    }
}
