// Cargo.toml: windowpane, with the feature `cas-ring`
use windowpane::{AcquireError, CasRing, Limiter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limiter = Limiter::<CasRing>::new(["1000/60s"])?;
    match limiter.try_acquire() {
        Ok(_) => println!("go ahead"),
        Err(AcquireError::Denied(denied)) => println!("come back in {:?}", denied.retry_after()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
