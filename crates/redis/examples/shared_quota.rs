//! Two processes share a quota: each asks as often as it can, and together they get the limit.
//!
//! ```sh
//! cargo run -p windowpane-redis --example shared_quota [redis://127.0.0.1:6379]
//! ```

use std::process::{Command, ExitCode, Stdio};

use windowpane_core::{AsyncKeyedRateLimiter, Cost, Quotas, StoreError};
use windowpane_redis::{Log, RedisLimiter, Store};

const LIMIT: u32 = 100;

/// How many of 80 requests this process gets through.
async fn requests_served(store: Store) -> Result<u32, StoreError> {
    let quotas = Quotas::parse([format!("{LIMIT}/60s").as_str()])?;
    let limiter = RedisLimiter::<Log>::new(store, quotas).expect("the log holds any quota");
    let mut served = 0;
    for _ in 0..80 {
        let answer = limiter.acquire_detailed("shared", Cost::ONE).await?;
        served += u32::from(answer.detailed.is_allowed());
    }
    Ok(served)
}

/// The second process does what the first does, and prints its number.
async fn run(address: &str, second: bool) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::at(address)?.connect().await?;
    if second {
        println!("{}", requests_served(store).await?);
        return Ok(());
    }
    let other = Command::new(std::env::current_exe()?)
        .args([address, "second"])
        .stdout(Stdio::piped())
        .spawn()?;
    let here = requests_served(store).await?;
    let there = String::from_utf8(other.wait_with_output()?.stdout)?;
    let there: u32 = there.trim().parse()?;
    println!("this process: {here} of 80 served, the other: {there} of 80");
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
    // A deadline that a busy machine keeps: this is about the quota.
    let ample = std::time::Duration::from_secs(5);
    let store = || async {
        let options = Store::at(&server.url()).unwrap().deadline(ample);
        options.connect_within(ample).await.unwrap()
    };
    let (one, two) = (store().await, store().await);
    let (one, two) = tokio::join!(requests_served(one), requests_served(two));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one + two, LIMIT);
    assert!(one >= LIMIT - 80 && two >= LIMIT - 80);
}
