//! A task for each connection, that asks while nothing else does.
//!
//! Without it, a connection that no call uses would be shown as one that works: a server that hangs
//! closes nothing, and protocol 2 does not report what broke. It also repeats the probes of scripts
//! while the server refuses a command, so that calls go on when the rights are mended.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::RedisResult;
use tokio::time::{sleep, timeout};

use super::super::address::Connection;
use super::super::probe::Probe;
use super::{Held, Link};

/// The delay between heartbeats.
const PAUSE: Duration = Duration::from_secs(1);

/// The delay before probes run that have to run again.
const PROBE_PAUSE: Duration = Duration::from_millis(100);

impl Link {
    /// Adds what a limiter runs, and probes it if there is a connection.
    pub(crate) fn add_probe(&self, probe: Probe) -> Arc<Probe> {
        let mut probes = self.probes.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(same) = probes.iter().find(|p| p.is_like(&probe)) {
            return same.clone();
        }
        let probe = Arc::new(probe);
        probes.push(probe.clone());
        drop(probes);
        if let (Ok(runtime), Ok(mut held)) = (tokio::runtime::Handle::try_current(), self.held()) {
            let (probe, limit) = (probe.clone(), self.patience.attempt);
            // Without an answer the heartbeat finds out what is wrong.
            runtime
                .spawn(async move { timeout(limit, probe.run(&mut held.connection)).await.ok() });
        }
        probe
    }

    /// Returns what the server refuses.
    pub(crate) fn refused(&self) -> Vec<Arc<str>> {
        self.all_probes()
            .iter()
            .filter_map(|p| p.refused())
            .collect()
    }

    /// A call was refused: the probes run again soon.
    pub(crate) fn was_refused(&self) {
        self.was_refused.store(true, Ordering::Relaxed);
    }

    fn all_probes(&self) -> Vec<Arc<Probe>> {
        self.probes
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .clone()
    }

    /// Runs the probes of a new connection. In a cluster a node may hang, which must not delay the
    /// others, so there the first heartbeat runs them.
    pub(super) async fn probe_first(&self, connection: &mut Connection) -> RedisResult<()> {
        match connection.breaks_as_one() {
            true => self.run_probes(connection).await,
            false => {
                self.was_refused();
                Ok(())
            }
        }
    }

    async fn run_probes(&self, connection: &mut Connection) -> RedisResult<()> {
        self.was_refused.store(false, Ordering::Relaxed);
        for probe in self.all_probes() {
            if let Err(error) = probe.run(connection).await {
                // They run again at the next heartbeat.
                self.was_refused();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether the connection was without an answer. It is dropped then, as calls drop it.
    async fn beat(&self, held: &mut Held) -> bool {
        let limit = self.patience.deadline.max(self.patience.attempt);
        let work = async {
            if held.connection.breaks_as_one() {
                held.connection.send(&redis::cmd("PING")).await?;
            }
            let refused = self.was_refused.load(Ordering::Relaxed);
            if refused || !self.refused().is_empty() {
                self.run_probes(&mut held.connection).await?;
            }
            Ok::<_, redis::RedisError>(())
        };
        match timeout(limit, work).await {
            Ok(Ok(())) => self.answered(),
            Ok(Err(error))
                if super::super::decides_nothing(&error) || error.is_unrecoverable_error() =>
            {
                self.broken(held, &error.to_string());
            }
            Ok(Err(_)) => self.answered(),
            Err(_) => {
                let reason = format!("no answer within {} ms", limit.as_millis());
                self.unanswered(held, &reason);
                return true;
            }
        }
        false
    }

    /// The connection of that generation, if it is still held.
    fn held_of(&self, generation: u64) -> Option<Held> {
        let state = self.read();
        let held = state.held.as_ref();
        held.filter(|held| held.generation == generation).cloned()
    }
}

/// Beats as long as the link holds the connection of that generation.
pub(super) async fn run(link: Weak<Link>, generation: u64) {
    let mut pause = PAUSE;
    loop {
        let is_probing = link
            .upgrade()
            .is_some_and(|link| link.was_refused.load(Ordering::Relaxed));
        sleep(pause.min(if is_probing { PROBE_PAUSE } else { PAUSE })).await;
        let Some(link) = link.upgrade() else {
            return;
        };
        let Some(mut held) = link.held_of(generation) else {
            return;
        };
        pause = match link.beat(&mut held).await {
            true => link.patience.drop_after.min(PAUSE),
            false => PAUSE,
        };
    }
}
