// Cargo.toml: windowpane, with the feature `bucket-ring`
use windowpane::{AcquireError, BucketRing, Limiter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limiter = Limiter::<BucketRing>::new(["1000/60s"])?;
    match limiter.try_acquire() {
        Ok(_) => println!("go ahead"),
        Err(AcquireError::Denied(denied)) => println!("come back in {:?}", denied.retry_after()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
