//! Rounds that must end.

use std::process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Runs a round, and ends the process if it does not end within `patience`: threads that hang cannot be
/// ended otherwise.
pub(super) fn watched(
    name: &str,
    seed: u64,
    patience: Duration,
    round: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let (done, ended) = channel::<()>();
    let name = name.to_string();
    let watch = std::thread::spawn(move || watch(&ended, &name, seed, patience));
    let kept = round();
    // The watch ends: its sender is gone.
    drop(done);
    watch.join().map_err(|_| "the watch panicked".to_string())?;
    kept
}

fn watch(ended: &Receiver<()>, name: &str, seed: u64, patience: Duration) {
    if ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
        eprintln!(
            "BROKEN: {name}: a call has not ended in {} s; to see it again: cargo lab soak --seed {seed}",
            patience.as_secs()
        );
        process::exit(1);
    }
}
