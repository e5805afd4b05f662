// Cargo.toml: ratelimit = "2"
use ratelimit::{Ratelimiter, TryWaitError};
use std::time::Duration;

const LIMIT: u64 = 1_000;
const WINDOW: Duration = Duration::from_nanos(60_000_000_000);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bucket = Ratelimiter::builder(LIMIT).period(WINDOW).max_tokens(LIMIT);
    let limiter = bucket.initial_available(LIMIT).build()?;
    match limiter.try_wait() {
        Ok(()) => println!("go ahead"),
        Err(TryWaitError::Insufficient(wait)) => println!("come back in {wait:?}"),
        Err(denied) => println!("{denied}"),
    }
    Ok(())
}
