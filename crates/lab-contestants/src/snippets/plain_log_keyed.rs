use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const LIMIT: usize = 1_000;
const WINDOW: Duration = Duration::from_nanos(60_000_000_000);

type Logs = Mutex<HashMap<String, VecDeque<Instant>>>; // grows with every new key

fn allowed(logs: &Logs, key: &str) -> bool {
    let mut logs = logs.lock().unwrap_or_else(|broken| broken.into_inner());
    let log = logs.entry(key.into()).or_default();
    let now = Instant::now();
    while log.front().is_some_and(|at| now.duration_since(*at) >= WINDOW) {
        log.pop_front();
    }
    let allowed = log.len() < LIMIT;
    if allowed {
        log.push_back(now);
    }
    allowed
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let logs = Logs::default();
    println!("{}", if allowed(&logs, "192.0.2.1") { "go ahead" } else { "denied" });
    Ok(())
}
