// Cargo.toml: windowpane, with the feature `mutex-log`
use windowpane::{AcquireError, Limiter, MutexLog};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limiter = Limiter::<MutexLog>::new(["1000/60s"])?;
    match limiter.try_acquire() {
        Ok(_) => println!("go ahead"),
        Err(AcquireError::Denied(denied)) => println!("come back in {:?}", denied.retry_after()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
