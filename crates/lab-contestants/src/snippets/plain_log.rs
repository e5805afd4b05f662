use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const LIMIT: usize = 1_000;
const WINDOW: Duration = Duration::from_nanos(60_000_000_000);

fn allowed(log: &Mutex<VecDeque<Instant>>) -> bool {
    let mut log = log.lock().unwrap_or_else(|broken| broken.into_inner());
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
    let log = Mutex::new(VecDeque::new());
    println!("{}", if allowed(&log) { "go ahead" } else { "denied" });
    Ok(())
}
