// Cargo.toml: trypema = "2"; it has no limiter without keys
use std::time::Duration;
use trypema::local::LocalRateLimiterProvider;
use trypema::{RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize};

const LIMIT: u64 = 1_000;
const WINDOW: Duration = Duration::from_nanos(60_000_000_000);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let window = WindowSize::seconds(WINDOW.as_secs())?;
    let provider = LocalRateLimiterProvider::builder().window_size(window).build()?;
    let rate = RateLimit::per_second(LIMIT as f64 / WINDOW.as_secs_f64())?;
    match provider.absolute().inc("one key", &rate, 1) {
        RateLimitDecision::Rejected { retry_after, .. } => println!("come back in {retry_after:?}"),
        _ => println!("go ahead"),
    }
    Ok(())
}
