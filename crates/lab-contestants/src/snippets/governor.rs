// Cargo.toml: governor = "0.10"
use governor::{Quota, RateLimiter};
use std::{num::NonZeroU32, time::Duration};

const LIMIT: u32 = 1_000;
const WINDOW: Duration = Duration::from_nanos(60_000_000_000);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let burst = NonZeroU32::new(LIMIT).ok_or("a limit of 0")?;
    let quota = Quota::with_period(WINDOW / LIMIT).ok_or("less than 1 ns a permit")?;
    let limiter = RateLimiter::direct(quota.allow_burst(burst));
    match limiter.check() {
        Ok(()) => println!("go ahead"),
        Err(denied) => println!("come back at {:?}", denied.earliest_possible()),
    }
    Ok(())
}
