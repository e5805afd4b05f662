//! The one connection, and the task that makes it again.
//!
//! Callers never wait for a connection. Without one every call ends at once, so an outage costs
//! callers nothing, and no call is queued. A call that finds the connection of no use drops it, and
//! the [`Connector`] makes another in the background.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::address::{Address, Connection};
use super::backoff::Backoff;
use super::probe::Probe;
use crate::counters::StoreCounters;

/// The times of a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How long a call may take in total.
    pub(crate) deadline: Duration,
    /// How long calls go on without an answer before the connection is dropped.
    pub(crate) drop_after: Duration,
    /// The delays between attempts to connect.
    pub(crate) reconnect: Backoff,
    /// How long one attempt may take.
    pub(crate) attempt: Duration,
}

/// A connection and its number, so that a call drops no newer connection than it used.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) connection: Connection,
    generation: u64,
}

pub(crate) struct Link {
    /// For tasks and callbacks, which must not keep the link alive.
    me: Weak<Link>,
    address: Address,
    pub(crate) patience: Patience,
    pub(crate) counters: StoreCounters,
    state: RwLock<State>,
    opened: Instant,
    /// The first time at which a call ended without an answer since the last answer, in nanoseconds
    /// since `opened`; 0 if there is none.
    silent_since: AtomicU64,
    /// Whether there is a connection, for callers that wait for the first.
    up: watch::Sender<bool>,
    /// What the limiters run.
    probes: Mutex<Vec<Arc<Probe>>>,
    /// Whether a call was refused since the probes ran.
    was_refused: AtomicBool,
}

struct State {
    held: Option<Held>,
    /// Whether a [`Connector`] runs.
    connecting: bool,
    /// The number of attempts to connect.
    generation: u64,
    /// The attempt whose connection broke, perhaps before it was held.
    broken: u64,
    /// Why there is none.
    reason: String,
    /// Attempts and connections in a row that did not last, for the next delay.
    failures: u32,
    /// The time of the next attempt.
    next_attempt: Instant,
    /// The time at which the connection was made.
    held_since: Instant,
}

impl State {
    /// Delays the next attempt, for longer after each failure.
    fn back_off(&mut self, backoff: Backoff) {
        self.next_attempt = Instant::now() + backoff.delay(self.failures);
        self.failures = self.failures.saturating_add(1);
    }
}

impl Link {
    /// A link without a connection, which a task begins to make.
    pub(crate) fn open(address: Address, patience: Patience) -> Arc<Link> {
        let opened = Instant::now();
        let link = Arc::new_cyclic(|me| Link {
            me: me.clone(),
            address,
            patience,
            counters: StoreCounters::default(),
            state: RwLock::new(State {
                held: None,
                connecting: true,
                generation: 0,
                broken: 0,
                reason: "not connected yet".into(),
                failures: 0,
                next_attempt: opened,
                held_since: opened,
            }),
            opened,
            silent_since: AtomicU64::new(0),
            up: watch::Sender::new(false),
            probes: Mutex::default(),
            was_refused: AtomicBool::new(false),
        });
        link.start_connector();
        link
    }

    /// Returns the connection, or why there is none.
    pub(crate) fn held(&self) -> Result<Held, String> {
        let state = self.read();
        if let Some(held) = &state.held {
            return Ok(held.clone());
        }
        let (reason, connecting) = (state.reason.clone(), state.connecting);
        drop(state);
        if !connecting {
            self.ensure_connecting();
        }
        Err(reason)
    }

    /// Whether there is a connection now.
    pub(crate) fn is_up(&self) -> bool {
        *self.up.borrow()
    }

    /// Waits until there is a connection.
    pub(crate) async fn wait_until_up(&self) {
        // The sender lives as long as this does.
        let _ = self.up.subscribe().wait_for(|up| *up).await;
    }

    /// A call had an answer.
    pub(crate) fn answered(&self) {
        // Read first: the cache line stays shared while all calls are answered.
        if self.silent_since.load(Ordering::Relaxed) > 0 {
            self.silent_since.store(0, Ordering::Relaxed);
        }
    }

    /// A call had no answer. The connection is dropped once calls have gone without an answer for
    /// [`Patience::drop_after`]. The connection to a cluster is never dropped: the calls may all have
    /// gone to one node, and the others go on.
    pub(crate) fn unanswered(&self, held: &Held, reason: &str) {
        let current = self.read().held.as_ref().map(|held| held.generation);
        if !held.connection.breaks_as_one() || current != Some(held.generation) {
            return;
        }
        let now = (self.opened.elapsed().as_nanos() as u64).max(1);
        let since =
            self.silent_since
                .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        let silence = Duration::from_nanos(now.saturating_sub(since.err().unwrap_or(now)));
        if silence >= self.patience.drop_after {
            self.drop_connection(held.generation, reason);
        }
    }

    /// Returns how long a caller should wait that found the store unavailable: until the next
    /// attempt to connect, at least the first delay.
    pub(crate) fn retry_after(&self) -> Duration {
        let state = self.read();
        let attempt = match state.held {
            Some(_) => Duration::ZERO,
            None => state.next_attempt.saturating_duration_since(Instant::now()),
        };
        attempt.max(self.patience.reconnect.first)
    }

    /// The connection of a call broke.
    pub(crate) fn broken(&self, held: &Held, reason: &str) {
        match held.connection.breaks_as_one() {
            true => self.drop_connection(held.generation, reason),
            false => self.unanswered(held, reason),
        }
    }

    /// Drops the connection of that generation, if it is still the current one, and starts the
    /// connector. Calls that had not been sent over it never are.
    fn drop_connection(&self, generation: u64, reason: &str) {
        let mut state = self.write();
        state.broken = state.broken.max(generation);
        let Some(_dropped) = state.held.take_if(|held| held.generation == generation) else {
            return;
        };
        state.reason = reason.into();
        // A server that accepts connections and breaks them delays the next attempt, too.
        if state.held_since.elapsed() >= self.patience.reconnect.longest {
            state.failures = 0;
        }
        state.back_off(self.patience.reconnect);
        self.counters.dropped.add();
        let begin = !std::mem::replace(&mut state.connecting, true);
        drop(state);
        self.wake_waiters();
        if begin {
            self.start_connector();
        }
    }

    /// Wakes the callers that wait for a connection, which may run on this thread. The caller holds
    /// no lock.
    fn wake_waiters(&self) {
        self.up.send_if_modified(|up| {
            // Read here, so that of two threads the later one does not publish the earlier state.
            let is_held = self.read().held.is_some();
            std::mem::replace(up, is_held) != is_held
        });
    }

    /// Starts the connector. The caller has set [`State::connecting`] and holds no lock. Outside of a
    /// runtime it starts none; the next call does.
    fn start_connector(&self) {
        let connector = Connector {
            link: self.me.clone(),
            is_done: false,
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(connector.run());
        }
    }

    /// Starts the connector if it ended early.
    #[cold]
    fn ensure_connecting(&self) {
        let mut state = self.write();
        if state.held.is_none() && !std::mem::replace(&mut state.connecting, true) {
            drop(state);
            self.start_connector();
        }
    }

    /// The connector has made a connection. It is not held if it broke meanwhile.
    fn connected(&self, held: Held) -> Result<(), String> {
        let mut state = self.write();
        if state.broken >= held.generation {
            return Err("the server closed the connection".into());
        }
        self.counters.connections.add();
        self.silent_since.store(0, Ordering::Relaxed);
        let generation = held.generation;
        state.held = Some(held);
        state.held_since = Instant::now();
        state.connecting = false;
        drop(state);
        self.wake_waiters();
        tokio::spawn(heartbeat::run(self.me.clone(), generation));
        Ok(())
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, State> {
        // The state is consistent after each change, so a poisoned lock is usable.
        self.state.read().unwrap_or_else(|e| e.into_inner())
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(|e| e.into_inner())
    }

    /// One attempt to connect: the new connection must answer, too.
    async fn attempt(&self) -> Result<Held, String> {
        let generation = {
            let mut state = self.write();
            state.generation += 1;
            state.generation
        };
        let me = self.me.clone();
        let on_break = Arc::new(move || {
            if let Some(link) = me.upgrade() {
                link.drop_connection(generation, "the server closed the connection");
            }
        });
        let work = async {
            let mut connection = self.address.connect(self.patience, on_break).await?;
            connection.send(&redis::cmd("PING")).await?;
            self.probe_first(&mut connection).await?;
            Ok::<_, redis::RedisError>(connection)
        };
        match timeout(self.patience.attempt, work).await {
            Ok(Ok(connection)) => Ok(Held {
                connection,
                generation,
            }),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!(
                "no connection within {} ms",
                self.patience.attempt.as_millis()
            )),
        }
    }
}

/// The task that makes a connection. There is one at a time: [`State::connecting`].
///
/// It cannot end without a successor. A panic of an attempt is a failed attempt. If the task itself
/// ends early, because its runtime ended, the next call starts another.
struct Connector {
    link: Weak<Link>,
    is_done: bool,
}

impl Connector {
    async fn run(mut self) {
        loop {
            let Some(next) = self.link.upgrade().map(|link| link.read().next_attempt) else {
                return;
            };
            sleep_until(next).await;
            let Some(link) = self.link.upgrade() else {
                return;
            };
            // In a task of its own, where a panic ends nothing else.
            let attempt = tokio::spawn({
                let link = link.clone();
                async move { link.attempt().await }
            });
            let attempt = attempt
                .await
                .unwrap_or_else(|panic| Err(format!("connecting failed: {panic}")));
            match attempt.and_then(|held| link.connected(held)) {
                Ok(()) => {
                    self.is_done = true;
                    return;
                }
                Err(reason) => {
                    link.counters.failed_attempts.add();
                    let mut state = link.write();
                    state.reason = reason;
                    state.back_off(link.patience.reconnect);
                }
            }
        }
    }
}

impl Drop for Connector {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        if let Some(link) = self.link.upgrade() {
            let mut state = link.write();
            state.connecting = false;
            state.back_off(link.patience.reconnect);
        }
    }
}

#[path = "heartbeat.rs"]
mod heartbeat;

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
