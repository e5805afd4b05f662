// Cargo.toml: ratelimit = "2"; it limits one key, so this map does the rest
use ratelimit::{Error, Ratelimiter, TryWaitError};
use std::collections::{HashMap, hash_map::Entry};
use std::sync::Mutex;
use std::time::Duration;

const LIMIT: u64 = 1_000;
const WINDOW: Duration = Duration::from_nanos(60_000_000_000);

type Buckets = Mutex<HashMap<String, Ratelimiter>>; // grows with every new key

fn ask(buckets: &Buckets, key: &str) -> Result<Result<(), TryWaitError>, Error> {
    let mut buckets = buckets.lock().unwrap_or_else(|broken| broken.into_inner());
    let bucket = match buckets.entry(key.into()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => {
            let bucket = Ratelimiter::builder(LIMIT).period(WINDOW).max_tokens(LIMIT);
            new.insert(bucket.initial_available(LIMIT).build()?)
        }
    };
    Ok(bucket.try_wait())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match ask(&Buckets::default(), "192.0.2.1")? {
        Ok(()) => println!("go ahead"),
        Err(TryWaitError::Insufficient(wait)) => println!("come back in {wait:?}"),
        Err(denied) => println!("{denied}"),
    }
    Ok(())
}
