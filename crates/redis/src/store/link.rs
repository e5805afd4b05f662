//! The connection as it comes and goes: one at a time, made again in the background.
//!
//! Callers never wait for a connection. Without one they are told so at once: nothing is queued, and
//! an outage costs them nothing. Whoever finds that the connection is of no use any more gives it
//! up, and a task of its own tries to make a new one until that answers.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, RwLock, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::address::{Address, Connection};
use crate::counters::StoreCounters;

/// How patient a store is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How long a call may take, all in all.
    pub(crate) deadline: Duration,
    /// After how many calls without an answer, one after the other, the connection is given up.
    pub(crate) failures: u32,
    /// How long from one attempt to connect to the next.
    pub(crate) retry_every: Duration,
    /// How long one attempt may take.
    pub(crate) attempt: Duration,
}

/// A connection and which one it is, so that nobody gives up a newer one than he used.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) connection: Connection,
    generation: u64,
}

pub(crate) struct Link {
    /// For the tasks and callbacks that must not keep it alive.
    me: Weak<Link>,
    address: Address,
    pub(crate) patience: Patience,
    pub(crate) counters: StoreCounters,
    state: RwLock<State>,
    /// Calls without an answer since the last that had one.
    failures: AtomicU32,
    /// Whether there is a connection, for those who wait for the first.
    up: watch::Sender<bool>,
}

struct State {
    held: Option<Held>,
    /// Whether a task is about to make a connection.
    connecting: bool,
    /// How many connections there were.
    generation: u64,
    /// Why there is none.
    reason: String,
    /// When the last attempt to make one began.
    tried: Option<Instant>,
}

impl Link {
    /// A link without a connection, which a task begins to make.
    pub(crate) fn open(address: Address, patience: Patience) -> Arc<Link> {
        let link = Arc::new_cyclic(|me| Link {
            me: me.clone(),
            address,
            patience,
            counters: StoreCounters::default(),
            state: RwLock::new(State {
                held: None,
                connecting: true,
                generation: 0,
                reason: "not connected yet".into(),
                tried: None,
            }),
            failures: AtomicU32::new(0),
            up: watch::Sender::new(false),
        });
        tokio::spawn(connect(link.me.clone()));
        link
    }

    /// The connection, or why there is none.
    pub(crate) fn held(&self) -> Result<Held, String> {
        let state = self.read();
        state.held.clone().ok_or_else(|| state.reason.clone())
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
        // Read first: the line stays shared while all is well.
        if self.failures.load(Ordering::Relaxed) > 0 {
            self.failures.store(0, Ordering::Relaxed);
        }
    }

    /// A call had no answer. After several, `held` is given up; never in a cluster, where they may all
    /// be one node's, and the others go on.
    pub(crate) fn unanswered(&self, held: &Held, reason: &str) {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= self.patience.failures && held.connection.breaks_as_one() {
            self.give_up(held.generation, reason);
        }
    }

    /// The connection of a call broke.
    pub(crate) fn broken(&self, held: &Held, reason: &str) {
        match held.connection.breaks_as_one() {
            true => self.give_up(held.generation, reason),
            false => self.unanswered(held, reason),
        }
    }

    /// Drops the connection of that generation, if it still stands, and begins to make another. What
    /// had not been sent over it never is.
    fn give_up(&self, generation: u64, reason: &str) {
        let mut state = self.write();
        let Some(_given_up) = state.held.take_if(|held| held.generation == generation) else {
            return;
        };
        state.reason = reason.into();
        self.counters.given_up.add();
        self.up.send_replace(false);
        let begin = !std::mem::replace(&mut state.connecting, true);
        drop(state);
        if begin {
            tokio::spawn(connect(self.me.clone()));
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, State> {
        // A state is whole after each of its changes, so a poisoned lock is none.
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
            state.tried = Some(Instant::now());
            state.generation
        };
        let me = self.me.clone();
        let on_break = Arc::new(move || {
            if let Some(link) = me.upgrade() {
                link.give_up(generation, "the server closed the connection");
            }
        });
        let work = async {
            let mut connection = self.address.connect(self.patience, on_break).await?;
            connection.send(&redis::cmd("PING")).await?;
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

/// Makes a connection, however often it takes; ends early when the link is gone.
async fn connect(link: Weak<Link>) {
    loop {
        // A connection that broke at once is not made again at once.
        let Some(next) = link.upgrade().map(|link| {
            let tried = link.read().tried;
            tried.map(|tried| tried + link.patience.retry_every)
        }) else {
            return;
        };
        if let Some(next) = next {
            sleep_until(next).await;
        }
        let Some(link) = link.upgrade() else { return };
        match link.attempt().await {
            Ok(held) => {
                link.counters.connected.add();
                link.failures.store(0, Ordering::Relaxed);
                let mut state = link.write();
                state.held = Some(held);
                state.connecting = false;
                link.up.send_replace(true);
                return;
            }
            Err(reason) => {
                link.counters.not_connected.add();
                link.write().reason = reason;
            }
        }
    }
}
