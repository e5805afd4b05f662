// Cargo.toml: windowpane, with the feature `mutex-log`
use windowpane::{Cost, Decision, Limiter, MutexLog, Quotas};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quotas = Quotas::parse(["1000/60s"])?;
    let limiter = Limiter::new(<MutexLog>::new(quotas));
    match limiter.acquire(Cost::ONE)? {
        Decision::Allowed { .. } => println!("go ahead"),
        Decision::Denied(denied) => println!("come back in {:?}", denied.retry_after()),
    }
    Ok(())
}
