//! Denials from the deny cache: how long one takes, and how often the store was asked meanwhile.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use windowpane_core::{Cost, Quota, Unit};
use windowpane_redis::{By, Log, RedisLimiter, Store};

/// What was measured.
pub(crate) struct Denials {
    /// Nanoseconds of each, by batch: one alone is shorter than what a clock tells well.
    pub(crate) nanos: Vec<f64>,
    /// Calls that were sent to the store meanwhile.
    pub(crate) round_trips: u64,
}

const BATCHES: usize = 101;
const BATCH: u32 = 1_000;

/// Asks a thousand times in a row, again and again, for a key that is denied for an hour.
///
/// # Errors
/// What the store said, or that it was asked.
pub(crate) async fn measure(url: &str) -> Result<Denials> {
    let store = Store::at(url)?
        .deadline(Duration::from_secs(5))
        .connect()
        .await?;
    let hour = Duration::from_secs(3_600).as_nanos() as u64;
    let quota = Quota::from_nanos(1, hour, Unit::Permits)?;
    let limiter = RedisLimiter::<Log>::new(store, quota)?;
    // The first is allowed, the second is what the store denies.
    for _ in 0..2 {
        let _ = limiter.decide("denied", Cost::ONE).await?;
    }
    let before = limiter.store().stats().sent;
    let mut nanos = Vec::new();
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..BATCH {
            let decided = limiter
                .decide(std::hint::black_box("denied"), Cost::ONE)
                .await?;
            ensure!(
                decided.by == By::DenyCache,
                "not from the cache: {decided:?}"
            );
            let _ = std::hint::black_box(decided);
        }
        nanos.push(start.elapsed().as_nanos() as f64 / f64::from(BATCH));
    }
    Ok(Denials {
        nanos,
        round_trips: limiter.store().stats().sent - before,
    })
}
