//! The HTTP status for each result of a limiter on a store.
//!
//! ```sh
//! cargo run -p windowpane-redis --example status_codes [redis://127.0.0.1:6379]
//! ```

use windowpane_core::AcquireError;
use windowpane_redis::{Log, RedisLimiter, Store};

/// Returns the HTTP status for a request of `client`.
async fn status(limiter: &RedisLimiter<Log>, client: &str) -> u16 {
    match limiter.try_acquire(client).await {
        Ok(_) => 200,
        Err(AcquireError::Denied(denied)) => {
            println!("Retry-After: {}", denied.retry_after().as_secs() + 1);
            429
        }
        Err(AcquireError::LimitIsZero { .. }) => 429,
        Err(error) => {
            eprintln!("{client}: {error}");
            503
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("redis://127.0.0.1:6379");
    let store = Store::at(address)?.connect_in_background();
    let limiter = RedisLimiter::<Log>::new(store, "3/10s")?;
    for _ in 0..5 {
        println!("{}", status(&limiter, "alice").await);
    }
    Ok(())
}

#[cfg(test)]
#[path = "../tests/support/server.rs"]
mod server;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The page shows this function, so these tests are of the page.
    #[test]
    fn the_readme_shows_this_function() {
        let source = include_str!("status_codes.rs");
        let function = source.split("async fn status").nth(1).unwrap();
        let function = function.split("\n}\n").next().unwrap();
        let shown = format!("async fn status{function}\n}}\n");
        assert!(include_str!("../README.md").contains(&shown));
    }

    #[tokio::test]
    async fn a_used_up_quota_and_a_limit_of_zero_are_429() {
        let Some(server) = server::Server::start() else {
            return;
        };
        let ample = Duration::from_secs(5);
        let options = Store::at(&server.url()).unwrap().deadline(ample);
        let store = options.connect_within(ample).await.unwrap();
        let limiter = RedisLimiter::new(store.clone(), "2/60s").unwrap();
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(status(&limiter, "alice").await);
        }
        assert_eq!(statuses, [200, 200, 429, 429]);
        let zero = RedisLimiter::new(store, "0/60s").unwrap();
        assert_eq!(status(&zero, "bob").await, 429);
    }

    #[tokio::test]
    async fn an_unavailable_store_is_503() {
        let options = Store::at("redis://127.0.0.1:1/").unwrap();
        let limiter = RedisLimiter::new(options.connect_in_background(), "2/60s").unwrap();
        assert_eq!(status(&limiter, "alice").await, 503);
    }
}
