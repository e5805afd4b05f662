// Cargo.toml: windowpane, with the features `parking_lot` and `keyed`
use windowpane::mutex_log::ParkingLotMutex;
use windowpane::{Cost, Decision, KeyedLimiter, MutexLog, Quotas};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quotas = Quotas::parse(["1000/60s"])?;
    let store = KeyedLimiter::<String, MutexLog<ParkingLotMutex>>::builder(quotas);
    let limiter = store.max_keys(50_000).build()?;
    match limiter.acquire("192.0.2.1", Cost::ONE)? {
        Decision::Allowed { .. } => println!("go ahead"),
        Decision::Denied(denied) => println!("come back in {:?}", denied.retry_after()),
    }
    Ok(())
}
