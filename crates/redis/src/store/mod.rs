//! A store: the server that holds the keys and runs the scripts.

mod address;
mod backoff;
mod link;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};
use tokio::time::{Instant, timeout_at};

use crate::counters::StoreStats;
use crate::error::{ConfigError, ConnectError};
use crate::script::Script;
use address::Address;
use backoff::Backoff;
use link::{Link, Patience};

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

/// The reason why a call has no reply.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) reason: String,
}

impl Store {
    /// The options of a store at `address`, such as `redis://127.0.0.1:6379` or `redis+unix:///run/redis.sock`.
    ///
    /// # Errors
    /// [`ConfigError::Address`].
    pub fn at(address: &str) -> Result<StoreOptions, ConfigError> {
        let address = Address::server(address)?;
        Ok(StoreOptions {
            place: address.place(),
            address,
            patience: PATIENCE,
        })
    }

    /// The options of a store that is a cluster, of which some `nodes` are given.
    ///
    /// # Errors
    /// [`ConfigError::Address`].
    #[cfg(feature = "cluster")]
    pub fn at_cluster(nodes: &[&str]) -> Result<StoreOptions, ConfigError> {
        let address = Address::cluster(nodes)?;
        Ok(StoreOptions {
            place: address.place(),
            address,
            patience: PATIENCE,
        })
    }

    /// Returns the counts of calls and connections since the store was made. O(1).
    pub fn stats(&self) -> StoreStats {
        self.link.counters.read()
    }

    /// Whether there is a connection. Without one, every call ends at once as unavailable.
    pub fn is_connected(&self) -> bool {
        self.link.is_up()
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
        let first = self
            .send(&command("EVALSHA", script.digest()), deadline)
            .await;
        match first {
            Err(Sent::ServerError(error)) if is(&error, ServerErrorKind::NoScript) => {
                self.link.counters.scripts_sent.add();
                self.again(&command("EVAL", script.text()), deadline).await
            }
            // The node ran nothing and named the node that would; the client follows it now.
            Err(Sent::ServerError(error))
                if is(&error, ServerErrorKind::Moved) || is(&error, ServerErrorKind::Ask) =>
            {
                self.again(&command("EVAL", script.text()), deadline).await
            }
            first => self.end(first),
        }
    }

    /// Sends a command that the server is known not to have run.
    async fn again(&self, command: &Cmd, deadline: Instant) -> Result<Value, Failure> {
        let second = self.send(command, deadline).await;
        self.end(second)
    }

    /// Runs one plain command.
    pub(crate) async fn command(&self, command: &Cmd, started: Instant) -> Result<Value, Failure> {
        self.again(command, started + self.link.patience.deadline)
            .await
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
        let counters = &self.link.counters;
        let mut held = self.link.held().map_err(|reason| {
            counters.not_sent.add();
            Sent::NoConnection(reason)
        })?;
        counters.sent.add();
        match timeout_at(deadline, held.connection.send(command)).await {
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

/// No delay or deadline is longer, so that each ends at a time that the clock represents.
const LONGEST: Duration = Duration::from_secs(86_400);

const PATIENCE: Patience = Patience {
    deadline: Duration::from_millis(50),
    drop_after: Duration::from_millis(200),
    reconnect: Backoff {
        first: Duration::from_millis(50),
        longest: Duration::from_millis(500),
    },
    attempt: Duration::from_millis(250),
};

impl StoreOptions {
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

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("place", &self.place)
            .field("connected", &self.is_connected())
            .field("patience", &self.link.patience)
            .finish_non_exhaustive()
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
