// Cargo.toml: windowpane, with the feature `bucket-ring`, and windowpane-keyed
use windowpane::{BucketRing, Cost, Decision, Quotas};
use windowpane_keyed::KeyedLimiter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quotas = Quotas::parse(["1000/60s"])?;
    let store = KeyedLimiter::<String, BucketRing>::builder(quotas);
    let limiter = store.max_keys(50_000).build()?;
    match limiter.acquire("192.0.2.1", Cost::ONE)? {
        Decision::Allowed { .. } => println!("go ahead"),
        Decision::Denied(denied) => println!("come back in {:?}", denied.retry_after()),
    }
    Ok(())
}
