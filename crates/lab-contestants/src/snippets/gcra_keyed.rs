// Cargo.toml: windowpane, with the features `baselines` and `keyed`
use windowpane::SharedRule;
use windowpane::{AcquireError, GcraRule, KeyedLimiter, Quotas};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quotas = Quotas::parse(["1000/60s"])?;
    let store = KeyedLimiter::<String, SharedRule<GcraRule>>::builder(quotas);
    let limiter = store.max_keys(50_000).build()?;
    match limiter.try_acquire("192.0.2.1") {
        Ok(_) => println!("go ahead"),
        Err(AcquireError::Denied(denied)) => println!("come back in {:?}", denied.retry_after()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
