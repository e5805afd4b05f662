//! What the table counts.

use windowpane_core::sync::CachePadded;
use windowpane_core::sync::Ordering::Relaxed;
use windowpane_core::sync::plain::AtomicU64;

use super::entry::Fingerprint;

/// The number of cells, a power of 2. The more, the less often inserting threads share one.
const CELLS: usize = 8;

/// Counts of what happens to keys that are not found at once.
///
/// Known keys do not touch them. These are the standard library's atomics: no decision depends on a
/// count, and the numbers of claims need only be different, so loom has nothing to explore here.
#[derive(Default)]
pub(super) struct Counts {
    cells: [CachePadded<Cell>; CELLS],
    most_examined: CachePadded<AtomicU64>,
}

/// The counts of the keys that share a cell.
#[derive(Default)]
pub(super) struct Cell {
    claims: AtomicU64,
    dropped_claims: AtomicU64,
    evicted: AtomicU64,
    removed: AtomicU64,
    refused: AtomicU64,
    examined: AtomicU64,
}

impl Cell {
    /// The number of a claim: no two claims of one key have the same.
    pub(super) fn claim(&self) -> u64 {
        self.claims.fetch_add(1, Relaxed)
    }

    /// A claim was dropped.
    pub(super) fn dropped(&self) {
        self.dropped_claims.fetch_add(1, Relaxed);
    }

    /// An idle key was evicted for another.
    pub(super) fn evicted(&self) {
        self.evicted.fetch_add(1, Relaxed);
    }

    /// A key was removed, by a reset or a sweep.
    pub(super) fn removed(&self) {
        self.removed.fetch_add(1, Relaxed);
    }

    /// An unknown key found no free entry.
    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }
}

impl Counts {
    /// The counts of `key`.
    pub(super) fn of(&self, key: Fingerprint) -> &Cell {
        // Neither the bits that choose the first block nor those that choose the entry in it.
        &self.cells[(key.bits() >> 8) as usize % CELLS]
    }

    /// The counts of any key: only their sums are reported.
    pub(super) fn any(&self) -> &Cell {
        &self.cells[0]
    }

    /// A call has examined `entries`, on behalf of `key`.
    pub(super) fn examined(&self, key: Fingerprint, entries: usize) {
        let entries = entries as u64;
        self.of(key).examined.fetch_add(entries, Relaxed);
        if self.most_examined.load(Relaxed) < entries {
            self.most_examined.fetch_max(entries, Relaxed);
        }
    }

    fn sum(&self, count: impl Fn(&Cell) -> &AtomicU64) -> u64 {
        self.cells
            .iter()
            .map(|cell| count(cell).load(Relaxed))
            .sum()
    }

    /// Entries held or claimed.
    pub(super) fn taken(&self) -> u64 {
        // The dropped claims first: each was made before it was dropped.
        let lost = self.sum(|cell| &cell.dropped_claims)
            + self.sum(|cell| &cell.evicted)
            + self.sum(|cell| &cell.removed);
        self.sum(|cell| &cell.claims).saturating_sub(lost)
    }

    pub(super) fn evictions(&self) -> u64 {
        self.sum(|cell| &cell.evicted)
    }

    pub(super) fn refusals(&self) -> u64 {
        self.sum(|cell| &cell.refused)
    }

    pub(super) fn all_examined(&self) -> u64 {
        self.sum(|cell| &cell.examined)
    }

    pub(super) fn most_examined(&self) -> u64 {
        self.most_examined.load(Relaxed)
    }
}
