//! Two processes share a quota: each sends 80 requests, and together they are allowed the limit.
//!
//! ```sh
//! cargo run -p windowpane-redis --example shared_quota [redis://127.0.0.1:6379]
//! ```

use std::process::{Command, ExitCode, Stdio};

use windowpane_core::{AcquireError, Quota};
use windowpane_redis::{Log, RedisLimiter, Store};

const LIMIT: u32 = 100;
const QUOTA: Quota = Quota::per_minute(LIMIT as u64);

/// Sends 80 requests and returns how many of them were allowed.
async fn requests_allowed(store: Store, quota: Quota) -> Result<u32, Box<dyn std::error::Error>> {
    let limiter = RedisLimiter::<Log>::new(store, quota)?;
    let mut allowed = 0;
    for _ in 0..80 {
        match limiter.try_acquire("shared").await {
            Ok(_) => allowed += 1,
            Err(AcquireError::Denied(_) | AcquireError::LimitIsZero { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(allowed)
}

/// The second process sends its requests and prints how many were allowed.
async fn run(address: &str, second: bool) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::at(address)?.connect().await?;
    if second {
        println!("{}", requests_allowed(store, QUOTA).await?);
        return Ok(());
    }
    let other = Command::new(std::env::current_exe()?)
        .args([address, "second"])
        .stdout(Stdio::piped())
        .spawn()?;
    let here = requests_allowed(store, QUOTA).await?;
    let there = String::from_utf8(other.wait_with_output()?.stdout)?;
    let there: u32 = there.trim().parse()?;
    println!("this process: {here} of 80 allowed, the other: {there} of 80");
    println!("together: {} of {LIMIT} a minute", here + there);
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next();
    let address = address.as_deref().unwrap_or("redis://127.0.0.1:6379");
    let second = arguments.next().is_some();
    match run(address, second).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            eprintln!("a server is started with `redis-server`; its address is the argument");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
#[path = "../tests/support/server.rs"]
mod server;

#[cfg(test)]
#[tokio::test]
async fn two_stores_get_the_limit_together() {
    let Some(server) = server::Server::start() else {
        return;
    };
    // A deadline that a busy machine keeps: this test is about the quota.
    let ample = std::time::Duration::from_secs(5);
    let store = || async {
        let options = Store::at(&server.url()).unwrap().deadline(ample);
        options.connect_within(ample).await.unwrap()
    };
    let (one, two) = (store().await, store().await);
    let (one, two) = tokio::join!(requests_allowed(one, QUOTA), requests_allowed(two, QUOTA));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one + two, LIMIT);
    assert!(one >= LIMIT - 80 && two >= LIMIT - 80);
}

#[cfg(test)]
#[tokio::test]
async fn nothing_is_allowed_at_a_limit_of_zero_or_without_a_store() {
    let options = Store::at("redis://127.0.0.1:1/").unwrap();
    let store = options.connect_in_background();
    assert!(requests_allowed(store, QUOTA).await.is_err());
    let Some(server) = server::Server::start() else {
        return;
    };
    let store = Store::at(&server.url()).unwrap().connect().await.unwrap();
    let allowed = requests_allowed(store, Quota::per_minute(0)).await;
    assert_eq!(allowed.unwrap(), 0);
}
