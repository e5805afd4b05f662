//! A store: where the keys are, and how its scripts are run.

mod address;
mod link;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};
use tokio::time::{Instant, timeout_at};

use crate::counters::StoreCounts;
use crate::error::{ConfigError, ConnectError};
use crate::script::Script;
use address::Address;
use link::{Link, Patience};

/// How a store is reached; [`Store::at`] begins.
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
#[must_use = "a store is reached by `connect` or `connect_in_background`"]
pub struct StoreOptions {
    place: String,
    address: Address,
    patience: Patience,
}

/// A Redis or Valkey server, or a cluster, over one connection that all calls share.
///
/// Clones share it. Every call ends by its deadline. Without a connection calls are answered at
/// once, [unavailable](windowpane_core::StoreError::Unavailable): none is queued, and none is sent
/// again when the connection is back.
#[derive(Clone)]
pub struct Store {
    link: Arc<Link>,
    place: Arc<str>,
}

/// Why a script has no reply.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) reason: String,
}

impl Store {
    /// A server at `address`, such as `redis://127.0.0.1:6379` or `redis+unix:///run/redis.sock`.
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

    /// A cluster of which some `nodes` are known.
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

    /// What the connection went through.
    pub fn counts(&self) -> StoreCounts {
        self.link.counters.read()
    }

    /// Whether there is a connection; calls are answered at once where there is none.
    pub fn is_connected(&self) -> bool {
        self.link.is_up()
    }

    /// How long a call may take.
    pub fn deadline(&self) -> Duration {
        self.link.patience.deadline
    }

    /// How long after an outage was noticed callers may come back: until then no attempt to connect
    /// was made.
    pub(crate) fn retry_every(&self) -> Duration {
        self.link.patience.retry_every
    }

    /// Runs `script` on `key` with `arguments`: one round trip, and a second one where the server
    /// does not know the script, which it says before it runs anything.
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
            Err(Sent::Refused(error)) if is(&error, ServerErrorKind::NoScript) => {
                self.link.counters.scripts_sent.add();
                self.again(&command("EVAL", script.text()), deadline).await
            }
            // The node said that it ran nothing and who would; the client knows that by now.
            Err(Sent::Refused(error))
                if is(&error, ServerErrorKind::Moved) || is(&error, ServerErrorKind::Ask) =>
            {
                self.again(&command("EVAL", script.text()), deadline).await
            }
            first => self.end(first),
        }
    }

    /// Sends what the server is known not to have run.
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
                Sent::Not(reason) | Sent::Unanswered(reason) => reason,
                Sent::Refused(error) => {
                    self.link.counters.refused.add();
                    error.to_string()
                }
            },
        })
    }

    async fn send(&self, command: &Cmd, deadline: Instant) -> Result<Value, Sent> {
        let counters = &self.link.counters;
        let mut held = self.link.held().map_err(|reason| {
            counters.not_sent.add();
            Sent::Not(reason)
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
                match is_of_no_use(&error) {
                    true => self.link.broken(&held, &error.to_string()),
                    false => self.link.answered(),
                }
                Err(Sent::Refused(error))
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

/// How sending ended, where not with a value.
enum Sent {
    /// There was no connection.
    Not(String),
    /// The server ran nothing, or stopped before it wrote anything.
    Refused(RedisError),
    /// It is not known what the server did.
    Unanswered(String),
}

fn is(error: &RedisError, kind: ServerErrorKind) -> bool {
    error.kind() == ErrorKind::Server(kind)
}

/// Whether a server that answers so is of no use: one that is about to start, or that is a replica by
/// now, while elsewhere there may be one that is.
fn is_of_no_use(error: &RedisError) -> bool {
    let kinds = [
        ServerErrorKind::BusyLoading,
        ServerErrorKind::ReadOnly,
        ServerErrorKind::MasterDown,
    ];
    // Redis 6 tells what a command in a script met as an error of the script.
    let wrapped = error
        .detail()
        .is_some_and(|told| told.contains("-READONLY "));
    wrapped || kinds.into_iter().any(|kind| is(error, kind))
}

const PATIENCE: Patience = Patience {
    deadline: Duration::from_millis(50),
    failures: 5,
    retry_every: Duration::from_millis(100),
    attempt: Duration::from_millis(250),
};

impl StoreOptions {
    /// How long a call may take, connecting, sending and sending a script anew included; 50 ms
    /// unless said. A call that takes longer is answered as unavailable.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.patience.deadline = deadline;
        self
    }

    /// After how many calls without an answer, one after the other, the connection is given up, so
    /// that calls are answered at once until there is a new one; 5 unless said. One that breaks is
    /// given up at once. The connection to a cluster is never given up: the calls may all have gone to
    /// one node, and the others go on.
    pub fn failures(mut self, failures: u32) -> Self {
        self.patience.failures = failures.max(1);
        self
    }

    /// How long from one attempt to make a connection to the next, in the background; 100 ms unless
    /// said.
    pub fn retry_every(mut self, pause: Duration) -> Self {
        self.patience.retry_every = pause;
        self
    }

    /// Connects, and waits for that for at most `patience`.
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

    /// A store that is reached when it is: until then it is unavailable. For services that must
    /// start without it.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
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
    fn a_server_that_starts_or_only_reads_is_of_no_use_and_one_that_refuses_is() {
        let of_no_use = |line: &str| {
            let reply = redis::parse_redis_value(format!("-{line}\r\n").as_bytes());
            is_of_no_use(&reply.unwrap().extract_error().unwrap_err())
        };
        for line in [
            "LOADING Redis is loading the dataset in memory",
            "READONLY You can't write against a read only replica.",
            "MASTERDOWN Link with MASTER is down",
            "ERR Error running script (call to f_12): @user_script:57: @user_script: 57: -READONLY You \
             can't write against a read only replica.",
        ] {
            assert!(of_no_use(line), "{line}");
        }
        for line in [
            "OOM command not allowed when used memory > 'maxmemory'.",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            "WRONGSTATE the string at this key is not a time of windowpane",
            "NOSCRIPT No matching script.",
            "ERR Error running script (call to f_12): @user_script:9: -OOM command not allowed",
        ] {
            assert!(!of_no_use(line), "{line}");
        }
    }
}
