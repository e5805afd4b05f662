// Cargo.toml: rate-net = { version = "2.1", features = ["algorithms"] }
use rate_net::{Algorithm, Builder};
use std::time::Duration;

const LIMIT: u32 = 1_000;
const WINDOW: Duration = Duration::from_nanos(60_000_000_000);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limiter = Builder::new()
        .algorithm(Algorithm::SlidingWindowLog)
        .quota(LIMIT, WINDOW)
        .try_build()?;
    match limiter.check("192.0.2.1") {
        decision if decision.is_allow() => println!("go ahead"),
        decision => println!("denied: {decision:?}"),
    }
    Ok(())
}
