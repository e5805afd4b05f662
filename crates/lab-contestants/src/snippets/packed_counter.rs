// Cargo.toml: windowpane, with the feature `packed-counter`
use windowpane::{Cost, Decision, Limiter, PackedCounter, Quotas};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quotas = Quotas::parse(["1000/60s"])?;
    let limiter = Limiter::new(PackedCounter::new(quotas)?);
    match limiter.acquire(Cost::ONE)? {
        Decision::Allowed { .. } => println!("go ahead"),
        Decision::Denied(denied) => println!("come back in {:?}", denied.retry_after()),
    }
    Ok(())
}
