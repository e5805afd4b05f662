//! Decisions a second over many keys.

mod attack;
mod memory;
mod picks;

use std::sync::LazyLock;
use std::time::Instant;

use windowpane_lab_contestants::Cannot;
use windowpane_lab_contestants::keyed::{
    Built, Demand, KeyType, KeyedContestant, KeyedInstance, LabKey,
};
use windowpane_lab_ground::clock::{BenchClock, LabClock, Pace};
use windowpane_lab_ground::workers::{self, Throughput};

use super::definitions::{self, Keyed, Pick};
use super::plan::Mode;
use super::throughput::{BATCH, Repeats, Times};

pub use attack::attack;
pub use memory::{Extent, LIMITS, measure as measure_memory};

/// What is measured, apart from who.
#[derive(Clone, Copy, Debug)]
pub struct KeyedCell {
    /// The workload.
    pub workload: &'static Keyed,
    /// What its keys are.
    pub key: KeyType,
    /// Worker threads.
    pub threads: usize,
}

/// The cells that the definitions ask for in a mode.
pub fn cells(mode: Mode) -> Vec<KeyedCell> {
    let of_workload = |workload: &'static Keyed| {
        let keys = workload.key_types.of(mode).iter();
        keys.flat_map(move |&key| {
            let threads = workload.threads.of(mode).iter();
            threads.map(move |&threads| KeyedCell {
                workload,
                key,
                threads,
            })
        })
    };
    definitions::keyed().flat_map(of_workload).collect()
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Decisions a second, from the workers' clocks.
    pub throughput: Throughput,
    /// The share of decisions that were allowed.
    pub allowed: f64,
    /// Whether that is what the definition says.
    pub share_ok: bool,
    /// Workers that could not be pinned.
    pub unpinned: u64,
    /// Samples that were discarded because a worker lost its processor.
    pub lost: u32,
}

/// The most bytes that a store may take: what takes more is not tried.
const MOST_BYTES: u64 = 2 << 30;

/// Runs one measurement on a store that is built for it. A sample whose worker lost its processor is
/// made again.
///
/// # Errors
/// [`Cannot`] if the contestant cannot express the workload, or would take too much memory.
pub fn measure(
    contestant: &dyn KeyedContestant,
    cell: KeyedCell,
    times: Times,
    repeats: &mut Repeats,
) -> Result<Measured, Cannot> {
    let once = || once(contestant, cell, times);
    let (measured, lost) = repeats.run(cell.threads, |measured| measured.throughput, once)?;
    Ok(Measured { lost, ..measured })
}

fn once(
    contestant: &dyn KeyedContestant,
    cell: KeyedCell,
    times: Times,
) -> Result<Measured, Cannot> {
    let workload = cell.workload;
    let demand = Demand {
        quota: workload.quota,
        keys: workload.keys as usize,
        cap: workload.held() as usize,
    };
    let bytes = (contestant.info().bytes_at_most)(workload.quota.limit());
    fits(bytes, u64::from(workload.held()))?;
    let clock = LabClock::Bench(BenchClock::new(Pace::times(workload.clock)));
    match cell.key {
        KeyType::String => run(cell, times, contestant.of_strings(demand, clock), strings()),
        KeyType::Word => run(cell, times, contestant.of_words(demand, clock), words()),
    }
}

/// Whether so many keys of so many bytes fit.
fn fits(bytes: u64, keys: u64) -> Result<(), Cannot> {
    let all = bytes.saturating_mul(keys);
    if all > MOST_BYTES {
        let mib = all >> 20;
        return Err(Cannot(format!(
            "it would take up to {mib} MiB here: not tried"
        )));
    }
    Ok(())
}

fn run<K: LabKey>(
    cell: KeyedCell,
    times: Times,
    built: Built<K>,
    pool: &[K],
) -> Result<Measured, Cannot> {
    let store = &*built?;
    let workload = cell.workload;
    let keys = &pool[..workload.keys as usize];
    prepare(store, workload, keys);
    let outcome = workers::run(
        cell.threads,
        |worker| {
            let picks = picks::drawn(workload, worker.index, cell.threads);
            // New keys are new but once.
            if !matches!(workload.pick, Pick::New | Pick::Flood) {
                turn(store, keys, &picks, Instant::now() + times.warm_up, true);
            }
            picks
        },
        |worker, picks| {
            let until = worker.until(times.measure);
            let again = workload.pick != Pick::New;
            turn(store, keys, &picks, until, again)
        },
    );
    let throughput = outcome.throughput();
    let allowed: u64 = outcome.workers.iter().map(|(_, allowed)| allowed).sum();
    let allowed = allowed as f64 / throughput.operations() as f64;
    let [least, most] = workload.expected.allowed_share;
    Ok(Measured {
        throughput,
        allowed,
        share_ok: (least..=most).contains(&allowed),
        unpinned: outcome.unpinned,
        lost: 0,
    })
}

/// Brings a store into the state that is measured: keys known or not, quotas used up or not.
fn prepare<K>(store: &dyn KeyedInstance<K>, workload: &Keyed, keys: &[K]) {
    let known: Vec<u32> = match workload.pick {
        Pick::Uniform | Pick::Zipf => (0..workload.keys).collect(),
        Pick::New => Vec::new(),
        Pick::Flood => (0..picks::known_in_a_flood(workload)).collect(),
    };
    let times = match workload.used_up {
        true => workload.quota.limit(),
        false => 1,
    };
    for _ in 0..times {
        store.batch(keys, &known);
    }
}

/// Goes through the picks until the time is over, again and again if need be; decisions made, and
/// how many were allowed.
fn turn<K>(
    store: &dyn KeyedInstance<K>,
    keys: &[K],
    picks: &[u32],
    until: Instant,
    again: bool,
) -> (u64, u64) {
    let (mut decisions, mut allowed) = (0, 0);
    loop {
        for batch in picks.chunks(BATCH as usize) {
            allowed += u64::from(store.batch(keys, batch));
            decisions += batch.len() as u64;
            if Instant::now() >= until {
                return (decisions, allowed);
            }
        }
        if !again {
            return (decisions, allowed);
        }
    }
}

/// How many keys any workload needs.
fn most_keys() -> u64 {
    let of_workloads = definitions::keyed().map(|workload| u64::from(workload.keys));
    of_workloads.max().unwrap_or(0).max(memory::MOST_KEYS)
}

fn pool<K: LabKey>() -> Vec<K> {
    (0..most_keys()).map(K::nth).collect()
}

/// Keys of text, made once: making them is no part of what is measured.
fn strings() -> &'static [String] {
    static POOL: LazyLock<Vec<String>> = LazyLock::new(pool);
    &POOL
}

/// Keys of one word.
fn words() -> &'static [u64] {
    static POOL: LazyLock<Vec<u64>> = LazyLock::new(pool);
    &POOL
}
