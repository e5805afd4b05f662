// Cargo.toml: windowpane, with the feature `baselines`
use windowpane::{AcquireError, FixedWindow, Limiter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limiter = Limiter::<FixedWindow>::new(["1000/60s"])?;
    match limiter.try_acquire() {
        Ok(_) => println!("go ahead"),
        Err(AcquireError::Denied(denied)) => println!("come back in {:?}", denied.retry_after()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
