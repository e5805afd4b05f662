// Cargo.toml: windowpane, with the features `baselines` and `keyed`
use windowpane::{AcquireError, FlatTable, GcraRule, Quotas};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quotas = Quotas::parse(["1000/60s"])?;
    let limiter = FlatTable::<GcraRule>::new(quotas, 2 * 50_000)?; // half full: nearly no key is denied room
    match limiter.try_acquire("192.0.2.1") {
        Ok(_) => println!("go ahead"),
        Err(AcquireError::Denied(denied)) => println!("come back in {:?}", denied.retry_after()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
