//! Bytes that one limiter for one key takes, counted by an allocator.

use windowpane_core::{Quota, Unit};
use windowpane_lab_contestants::Contestant;
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};

use super::rows::MemoryRow;

/// The limits of the memory table.
pub const LIMITS: [u64; 4] = [10, 100, 1_000, 10_000];

/// How full the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Built, nothing accepted.
    Empty,
    /// Half of the limit accepted.
    Half,
    /// All of the limit accepted.
    Full,
}

impl Fill {
    /// All, from empty to full.
    pub const ALL: [Fill; 3] = [Fill::Empty, Fill::Half, Fill::Full];

    /// The word in tables and CSV.
    pub const fn word(self) -> &'static str {
        match self {
            Fill::Empty => "empty",
            Fill::Half => "half full",
            Fill::Full => "full",
        }
    }

    const fn accepted(self, limit: u64) -> u64 {
        match self {
            Fill::Empty => 0,
            Fill::Half => limit / 2,
            Fill::Full => limit,
        }
    }
}

/// Counts what a contestant takes at each of [`LIMITS`], empty, half full and full. `live_bytes`
/// tells what is allocated now, by the allocator that the program counts with.
///
/// The requests come one nanosecond apart, none at the time of another; the clock takes no memory.
pub fn measure(contestant: &dyn Contestant, live_bytes: fn() -> usize) -> Vec<MemoryRow> {
    let info = contestant.info();
    // A calendar of one window: nothing leaves it.
    let window = 60_000_000_000;
    let mut rows = Vec::new();
    for limit in LIMITS {
        for fill in Fill::ALL {
            SimulatedClock::set(window);
            let quota = Quota::from_nanos(limit, window, Unit::Permits).expect("a sensible quota");
            let before = live_bytes();
            let built = contestant.build(quota, LabClock::Simulated);
            let accepted: u64 = match &built {
                Ok(instance) => (0..fill.accepted(limit))
                    .map(|nth| {
                        SimulatedClock::set(window + nth);
                        u64::from(instance.batch(1))
                    })
                    .sum(),
                Err(_) => 0,
            };
            let bytes = live_bytes().saturating_sub(before) as u64;
            rows.push(MemoryRow {
                contestant: info.name.into(),
                limit,
                fill: fill.word().into(),
                accepted,
                bytes: built.is_ok().then_some(bytes),
                at_most: info.memory_at_most.map(|at_most| at_most(limit)),
                cannot: built.err().map(|cannot| cannot.0).unwrap_or_default(),
            });
        }
    }
    rows
}
