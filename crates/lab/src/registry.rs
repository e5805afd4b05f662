//! Which limiters exist. Replay, benches, report and tests all iterate over this one list.

use windowpane_baselines::FixedWindow;
use windowpane_cas_ring::CasRing;
use windowpane_core::{BuildError, Nanos, Quotas, RateLimiter};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::PackedCounter;

/// What a limiter may need beside its quotas when it is built.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions {
    /// What the clock reads about now; the range of one-word limiters counts from there.
    pub start: Nanos,
}

/// One limiter of ours.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// The name on the command line and in every table.
    pub name: &'static str,
    /// Whether it decides as the log of accepted requests would.
    pub exact: bool,
    /// What it is, in one line.
    pub about: &'static str,
    /// Builds one for one key.
    pub build: fn(&Quotas, BuildOptions) -> Result<Box<dyn RateLimiter>, BuildError>,
}

/// The oracle's name: the limiter that the others are compared with.
pub const ORACLE: &str = "mutex-log";

/// All limiters of ours, the oracle first.
pub static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: ORACLE,
        exact: true,
        about: "a mutex around a deque of what was accepted; the oracle",
        build: |quotas, _| Ok(Box::new(<MutexLog>::new(quotas.clone()))),
    },
    Algorithm {
        name: "cas-ring",
        exact: true,
        about: "a ring of accepted times, claimed by one compare-and-swap",
        build: |quotas, _| Ok(Box::new(CasRing::new(quotas.clone())?)),
    },
    Algorithm {
        name: "packed-counter",
        exact: false,
        about: "two counts in one word, the previous weighted by its overlap",
        build: |quotas, options| {
            let limiter = PackedCounter::starting_at(quotas.clone(), options.start)?;
            Ok(Box::new(limiter))
        },
    },
    Algorithm {
        name: "fixed-window",
        exact: false,
        about: "a count that starts anew at every multiple of the window",
        build: |quotas, options| {
            let limiter = FixedWindow::starting_at(quotas.clone(), options.start)?;
            Ok(Box::new(limiter))
        },
    },
];

/// The limiter of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
}
