//! Code that the tests of the client share.

#![allow(dead_code, unreachable_pub)]

pub mod cluster;
pub mod load;
pub mod proxy;
pub mod sentinel;
pub mod server;

use std::time::{Duration, Instant};

use windowpane_core::{Cost, Quotas};
use windowpane_redis::{Algorithm, By, RedisLimiter, Store};

pub use server::Server;

/// The time that a busy machine may add to a deadline of 50 ms.
pub const SLACK: Duration = Duration::from_millis(300);

pub fn quotas(texts: &[&str]) -> Quotas {
    Quotas::parse(texts).unwrap()
}

pub fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

/// A deadline that a busy machine keeps, for tests that are not about deadlines.
pub const AMPLE: Duration = Duration::from_secs(5);

/// A store at `url`, connected, with an ample deadline.
pub async fn store(url: &str) -> Store {
    store_within(url, AMPLE).await
}

/// A store at `url`, connected.
pub async fn store_within(url: &str, deadline: Duration) -> Store {
    let options = Store::at(url).unwrap().deadline(deadline);
    options.connect_within(AMPLE).await.unwrap()
}

/// A limiter without a deny cache, so that the store decides every call.
pub async fn limiter<A: Algorithm>(url: &str, texts: &[&str]) -> RedisLimiter<A> {
    limiter_within(url, texts, AMPLE).await
}

/// The same, with a deadline.
pub async fn limiter_within<A: Algorithm>(
    url: &str,
    texts: &[&str],
    deadline: Duration,
) -> RedisLimiter<A> {
    let store = store_within(url, deadline).await;
    let options = RedisLimiter::builder(store, texts).deny_cache(0);
    options.build().unwrap()
}

/// Calls until the store decides, and returns the time that took.
pub async fn until_the_store_decides<A: Algorithm>(limiter: &RedisLimiter<A>) -> Duration {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        let decided = limiter.decide("probe", Cost::ONE).await;
        if decided.is_ok_and(|decided| decided.by == By::Store) {
            return start.elapsed();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the store does not decide again");
}

/// Returns what is used of the first quota of `key`, as the store counts it.
pub async fn used<A: Algorithm>(limiter: &RedisLimiter<A>, key: &str) -> u64 {
    let peeked = limiter.peek_detailed(key, Cost::ONE).await.unwrap();
    let asked = u64::from(peeked.detailed.is_allowed());
    let limit = limiter.quotas()[0].limit();
    limit - peeked.detailed.remaining_per_quota()[0] - asked
}
