//! Many tasks that call in a closed loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use windowpane_core::{Cost, StoreError};
use windowpane_redis::{Algorithm, RedisLimiter};

/// The results that the tasks saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub allowed: AtomicU64,
    pub denied: AtomicU64,
    /// Answered as unavailable.
    pub unavailable: AtomicU64,
    /// The longest that a call took, in microseconds.
    pub longest: AtomicU64,
}

impl Seen {
    pub fn allowed(&self) -> u64 {
        self.allowed.load(Ordering::SeqCst)
    }

    pub fn unavailable(&self) -> u64 {
        self.unavailable.load(Ordering::SeqCst)
    }

    pub fn longest(&self) -> Duration {
        Duration::from_micros(self.longest.load(Ordering::SeqCst))
    }
}

/// Tasks under way.
pub struct Load {
    pub seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    /// `tasks` tasks that take one permit of `key` at a time until they are stopped.
    pub fn start<A: Algorithm>(limiter: &RedisLimiter<A>, key: &'static str, tasks: usize) -> Load {
        let (seen, stop) = (Arc::<Seen>::default(), Arc::<AtomicBool>::default());
        let spawn = |_| {
            let (seen, stop, limiter) = (seen.clone(), stop.clone(), limiter.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    ask(&limiter, key, &seen).await;
                }
            })
        };
        let tasks = (0..tasks).map(spawn).collect();
        Load { seen, stop, tasks }
    }

    /// Stops the tasks and waits for their last answers.
    pub async fn stop(self) -> Arc<Seen> {
        self.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        self.seen
    }
}

async fn ask<A: Algorithm>(limiter: &RedisLimiter<A>, key: &str, seen: &Seen) {
    let start = Instant::now();
    let decided = limiter.decide(key, Cost::ONE).await;
    let took = start.elapsed().as_micros() as u64;
    seen.longest.fetch_max(took, Ordering::SeqCst);
    match decided {
        Ok(decided) => {
            let counter = match decided.answer.detailed.is_allowed() {
                true => &seen.allowed,
                false => &seen.denied,
            };
            counter.fetch_add(1, Ordering::SeqCst);
        }
        Err(StoreError::Unavailable { .. }) => {
            seen.unavailable.fetch_add(1, Ordering::SeqCst);
            // Without a store calls end at once; leave the processor to the server that starts.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err(error) => panic!("{error}"),
    }
}
