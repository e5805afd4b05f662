//! tokio's timer and clock.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use super::Timer;
use crate::clock::{Clock, Nanos};

/// The timer of tokio; its resolution is one millisecond.
///
/// # Panics
/// As `tokio::time::sleep`: outside a runtime with its time enabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

impl Timer for TokioTimer {
    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(span)
    }
}

/// The monotonic clock as tokio reads it. While a test pauses tokio's time, this clock stands still
/// and jumps with it.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    zero: Instant,
}

impl TokioClock {
    /// A clock that reads 0 now.
    pub fn new() -> TokioClock {
        TokioClock {
            zero: Instant::now(),
        }
    }
}

impl Default for TokioClock {
    fn default() -> TokioClock {
        TokioClock::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Nanos {
        u64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
