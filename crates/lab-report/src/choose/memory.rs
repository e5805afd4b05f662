//! How much memory a limiter takes for one key at given quotas.

use serde::Serialize;
use windowpane_lab_contestants::table::Entry;
use windowpane_lab_ground::figures::{bytes as in_whole_bytes, digits};

use super::need::Need;
use crate::run::Run;

/// How a figure of memory came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The allocator counted it in the run.
    Run,
    /// The limiter's formula allows at most this.
    Formula,
    /// The run counted another limit; this is in proportion.
    Scaled,
    /// It is not known.
    Unknown,
}

/// Returns the bytes of one limiter for one key, used as the need says.
pub(super) fn one_key(run: &Run, entry: &Entry, need: &Need) -> Option<(u64, Source)> {
    let quotas = &need.quotas;
    of_limit(
        run,
        entry,
        quotas.len(),
        quotas.largest_limit(),
        need.entries(),
    )
}

/// Bytes at a limit, with `entries` accepted requests held.
fn of_limit(
    run: &Run,
    entry: &Entry,
    quotas: usize,
    limit: u64,
    entries: u64,
) -> Option<(u64, Source)> {
    let info = entry.info();
    let of = |limit: u64, fill: &str| run.bytes(info.name, limit, fill);
    let rows = run.memory.iter().filter(|row| row.contestant == info.name);
    let full = rows.filter(|row| row.fill == "full");
    let mut full: Vec<(u64, u64)> = full
        .filter_map(|row| Some((row.limit, row.bytes?)))
        .collect();
    full.sort_unstable();
    let (largest, _) = *full.last()?;
    // What is allocated whole from the start holds the limit; what grows holds what was accepted.
    let grows = of(largest, "empty") != of(largest, "full");
    let held = if grows { entries.min(limit) } else { limit };
    if let (1, Some(bytes)) = (quotas, of(held, "full")) {
        return Some((bytes, Source::Run));
    }
    if let Some(at_most) = info.memory_at_most {
        let further = OF_A_FURTHER_QUOTA * (quotas as u64 - 1);
        return Some((at_most(held).saturating_add(further), Source::Formula));
    }
    let above = full.iter().find(|(limit, _)| *limit >= held);
    let (at, bytes) = *above.or(full.last())?;
    let is_constant = full.iter().all(|(_, same)| *same == bytes);
    let scaled = u128::from(bytes) * u128::from(held) / u128::from(at.max(1));
    let scaled = if is_constant {
        bytes
    } else {
        u64::try_from(scaled).ok()?
    };
    Some((scaled, Source::Scaled))
}

/// The most that any of ours takes for a quota beside the first.
const OF_A_FURTHER_QUOTA: u64 = 72;

/// Returns the bytes of a store for all keys: its map and what the map holds.
pub(super) fn all_keys(
    run: &Run,
    entry: &Entry,
    store: &str,
    need: &Need,
) -> Option<(u64, Source)> {
    let (limiter, source) = one_key(run, entry, need)?;
    let rows = run
        .keyed_memory
        .iter()
        .filter(|row| row.contestant == store);
    let full = rows.filter(|row| row.fill == "full" && row.keys > 1);
    // The most keys that were counted show best what the map takes of each.
    let counted = full.filter_map(|row| Some((row.keys, row.limit, row.bytes?)));
    let (keys, limit, bytes) = counted.max()?;
    let (in_it, _) = of_limit(run, entry, 1, limit, limit)?;
    let (each, alone) = (bytes as f64 / keys as f64, in_it.max(1) as f64);
    // Some maps hold less than the limiter alone takes, in proportion; the others hold it whole.
    let of_key = match each < alone {
        true => limiter as f64 * each / alone,
        false => limiter as f64 + each - alone,
    };
    let total = need.keys as f64 * of_key;
    Some((total as u64, source))
}

/// Returns bytes with a unit: `413 MB`.
pub fn in_bytes(count: u64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let unit = units.into_iter().find(|(_, size)| count as f64 >= *size);
    unit.map_or_else(
        || in_whole_bytes(count),
        |(unit, size)| format!("{} {unit}", digits(count as f64 / size)),
    )
}
