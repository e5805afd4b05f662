//! How much memory a limiter takes for one key at given quotas.

use serde::Serialize;
use windowpane_core::Quotas;
use windowpane_lab_contestants::Contestant;
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};
use windowpane_lab_measure::memory::Fill;
use windowpane_lab_report::Run;

/// How a figure of memory came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It stands in the run.
    Run,
    /// Counted now by the allocator, with these quotas used up. Bytes depend on no machine's speed.
    Counted,
    /// Counted at a limit of [`MOST_COUNTED`], and as much more as the limit is larger.
    Estimated,
    /// It is not known: the run does not tell it, and the limiter's clock cannot be set to count it.
    Unknown,
}

/// The largest limit that is filled to count its memory.
pub const MOST_COUNTED: u64 = 1_000_000;

/// Bytes of one full limiter for one key. `live_bytes` tells what is allocated now. `None` if the
/// run does not tell them and it cannot be built on a clock that is set.
pub fn bytes_a_key(
    run: &Run,
    contestant: &dyn Contestant,
    quotas: &Quotas,
    live_bytes: fn() -> u64,
) -> Option<(u64, Source)> {
    let largest = quotas.largest_limit();
    if quotas.len() == 1 {
        let recorded = run.bytes(contestant.info().name, largest, Fill::Full.word());
        if let Some(bytes) = recorded {
            return Some((bytes, Source::Run));
        }
    }
    let empty = counted(contestant, quotas, 0, live_bytes)?;
    let filled = counted(contestant, quotas, largest.min(MOST_COUNTED), live_bytes)?;
    if largest <= MOST_COUNTED {
        return Some((filled, Source::Counted));
    }
    // What the limiter takes from the start is known; only what grows is estimated.
    let grown = u128::from(filled.saturating_sub(empty));
    let more = grown * u128::from(largest) / u128::from(MOST_COUNTED);
    let bytes = empty.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    let source = if grown == 0 {
        Source::Counted
    } else {
        Source::Estimated
    };
    Some((bytes, source))
}

/// Counts a limiter after `requests` requests, as far apart as the largest quota lets all of them
/// through.
fn counted(
    contestant: &dyn Contestant,
    quotas: &Quotas,
    requests: u64,
    live_bytes: fn() -> u64,
) -> Option<u64> {
    let largest = quotas.iter().max_by_key(|quota| quota.limit())?;
    let start = quotas.longest_window();
    let apart = largest.window() / largest.limit().max(1);
    SimulatedClock::set(start);
    let before = live_bytes();
    let built = contestant.build_for(quotas, LabClock::Simulated).ok()?;
    for nth in 0..requests {
        SimulatedClock::set(start + nth * apart);
        built.batch(1);
    }
    Some(live_bytes().saturating_sub(before))
}
