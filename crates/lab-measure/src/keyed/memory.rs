//! Bytes that a key takes in a store, counted by an allocator.

use windowpane_core::{Quota, Unit};

use super::words;
pub use crate::memory::LIMITS;
use crate::plan::Mode;
use crate::rows::KeyedMemoryRow;
use windowpane_lab_contestants::keyed::{Demand, KeyedContestant};
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};

/// The most keys of the table.
pub(super) const MOST_KEYS: u64 = 50_000;

/// How much of the table is counted.
#[derive(Clone, Debug)]
pub struct Extent {
    keys: &'static [u64],
    limits: &'static [u64],
    /// The most permits that are accepted to fill one store: filling takes time.
    most: u64,
}

impl Extent {
    /// That of a mode. All of it in a full run: "50,000 keys at a limit of 1,000" is asked there.
    pub fn of(mode: Mode) -> Extent {
        let (keys, limits, most): (&[u64], &[u64], u64) = match mode {
            Mode::Test => (&[1, 1_000], &LIMITS[..2], 100_000),
            Mode::Quick => (&[1_000], &LIMITS[..2], 100_000),
            Mode::Default => (&[1, 1_000], &LIMITS[..3], 1_000_000),
            Mode::Full => (&[1, 1_000, MOST_KEYS], &LIMITS, 50_000_000),
        };
        Extent { keys, limits, most }
    }
}

/// Counts what a contestant takes for so many keys at each limit, each key asked once (*empty* but
/// for that) and each full. `live_bytes` tells what is allocated now. The keys are words, which lie
/// in the store itself; text takes its own bytes beside.
///
/// The requests come one nanosecond apart, none at the time of another; the clock takes no memory.
pub fn measure(
    contestant: &dyn KeyedContestant,
    extent: &Extent,
    live_bytes: fn() -> usize,
) -> Vec<KeyedMemoryRow> {
    let mut rows = Vec::new();
    for &keys in extent.keys {
        for &limit in extent.limits {
            rows.extend(count(contestant, keys, limit, extent.most, live_bytes));
        }
    }
    rows
}

fn count(
    contestant: &dyn KeyedContestant,
    keys: u64,
    limit: u64,
    most: u64,
    live_bytes: fn() -> usize,
) -> Vec<KeyedMemoryRow> {
    let info = contestant.info();
    let window = 86_400_000_000_000;
    let quota = Quota::from_nanos(limit, window, Unit::Permits).expect("a sensible quota");
    let demand = Demand {
        quota,
        keys: keys as usize,
        cap: keys as usize,
    };
    let row = |fill: &str| KeyedMemoryRow {
        contestant: info.name.into(),
        origin: info.origin.word().into(),
        keys,
        limit,
        fill: fill.into(),
        accepted: 0,
        bytes: None,
        cannot: String::new(),
    };
    let cannot = |reason: String| {
        ["one request a key", "full"].map(|fill| KeyedMemoryRow {
            cannot: reason.clone(),
            ..row(fill)
        })
    };
    if let Err(reason) = super::fits((info.bytes_at_most)(limit), keys) {
        return cannot(reason.0).to_vec();
    }
    SimulatedClock::set(window);
    // The keys are there before anything is counted.
    let pool = &words()[..keys as usize];
    let picks: Vec<u32> = (0..keys as u32).collect();
    let before = live_bytes();
    let store = match contestant.of_words(demand, LabClock::Simulated) {
        Ok(store) => store,
        Err(reason) => return cannot(reason.0).to_vec(),
    };
    let mut now = window;
    let mut accepted = 0;
    let mut round = || {
        for pick in picks.chunks(1) {
            now += 1;
            SimulatedClock::set(now);
            accepted += u64::from(store.batch(pool, pick));
        }
        let bytes = live_bytes().saturating_sub(before) as u64;
        (accepted, Some(bytes))
    };
    let (accepted, bytes) = round();
    let once = KeyedMemoryRow {
        accepted,
        bytes,
        ..row("one request a key")
    };
    if keys * limit > most {
        let full = KeyedMemoryRow {
            cannot: format!("{} permits to accept: not tried", keys * limit),
            ..row("full")
        };
        return vec![once, full];
    }
    let mut full = row("full");
    for _ in 1..limit {
        (full.accepted, full.bytes) = round();
    }
    vec![once, full]
}
