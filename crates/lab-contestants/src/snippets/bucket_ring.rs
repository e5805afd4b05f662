// Cargo.toml: windowpane, with the feature `bucket-ring`
use windowpane::{BucketRing, Cost, Decision, Limiter, Quotas};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quotas = Quotas::parse(["1000/60s"])?;
    let limiter = Limiter::new(BucketRing::new(quotas)?);
    match limiter.acquire(Cost::ONE)? {
        Decision::Allowed { .. } => println!("go ahead"),
        Decision::Denied(denied) => println!("come back in {:?}", denied.retry_after()),
    }
    Ok(())
}
