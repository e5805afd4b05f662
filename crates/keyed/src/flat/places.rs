//! The table's memory, cut into blocks, and the probe sequence of a key.

use windowpane_core::sync::{AtomicU128, ships_or_models};

use super::entry::Fingerprint;

/// The entries of a block: two cache lines, which processors like to fetch together.
pub(super) const BLOCK: usize = ships_or_models(8, 2);

/// The entries of a cache line.
const LINE: usize = BLOCK / 2;

/// The blocks of a probe sequence, if the table has as many.
const BLOCKS_A_KEY: usize = 4;

/// Two cache lines of entries.
#[repr(align(128))]
struct Block([AtomicU128; BLOCK]);

/// All entries.
pub(super) struct Places(Box<[Block]>);

/// The probe sequence of a key. It follows from the fingerprint alone, so all threads that look for
/// a key visit the same entries in the same order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) key: Fingerprint,
    home: usize,
    stride: usize,
    offset: usize,
}

impl Places {
    /// Memory for at least `entries` entries.
    pub(super) fn new(entries: usize) -> Places {
        let block = |_| Block(std::array::from_fn(|_| AtomicU128::new(0)));
        let blocks = entries.div_ceil(BLOCK).max(1);
        Places((0..blocks).map(block).collect())
    }

    pub(super) fn count(&self) -> usize {
        self.0.len() * BLOCK
    }

    /// The number of entries of a probe sequence.
    pub(super) fn on_a_way(&self) -> usize {
        self.0.len().min(BLOCKS_A_KEY) * BLOCK
    }

    pub(super) fn way_of(&self, key: Fingerprint) -> Way {
        Way {
            key,
            home: self.home(key),
            // At most a quarter of the blocks, so that four strides meet no block twice.
            stride: 1 + scaled(key.bits().rotate_left(32), self.0.len() / BLOCKS_A_KEY),
            offset: offset(key),
        }
    }

    /// The block in which a key's probe sequence begins.
    #[inline]
    fn home(&self, key: Fingerprint) -> usize {
        scaled(key.bits(), self.0.len())
    }

    /// The first entries of a key's probe sequence, those of one cache line, in its order. Nearly all
    /// decisions need no more of the sequence, so no more of it is computed.
    #[inline]
    pub(super) fn first_line(&self, key: Fingerprint) -> impl Iterator<Item = &AtomicU128> {
        let Block(home) = &self.0[self.home(key)];
        let offset = offset(key);
        (0..LINE).map(move |nth| &home[(offset ^ nth) % BLOCK])
    }

    /// The `nth` entry of a probe sequence, from 0 on. The first of them are in one cache line.
    pub(super) fn on(&self, way: &Way, nth: usize) -> &AtomicU128 {
        let mut block = way.home + nth / BLOCK * way.stride;
        if block >= self.0.len() {
            block -= self.0.len();
        }
        &self.0[block].0[(way.offset ^ nth) % BLOCK]
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &AtomicU128> {
        self.0.iter().flat_map(|block| &block.0)
    }
}

/// The entry of its block at which a key's probe sequence begins, modulo [`BLOCK`].
#[inline]
fn offset(key: Fingerprint) -> usize {
    // The lowest bit is the same in all fingerprints.
    (key.bits() >> 1) as usize
}

/// `bits` scaled from 64 bits down to below `end`; 0 if that is 0. The highest bits decide.
#[inline]
fn scaled(bits: u64, end: usize) -> usize {
    ((u128::from(bits) * end as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A probe sequence meets no entry twice, and its first entries are in one cache line.
        #[test]
        fn a_way_meets_no_entry_twice(entries in 0..2_000_usize, hash: u64) {
            let places = Places::new(entries);
            prop_assert!(places.count() >= entries);
            let key = Fingerprint::of_hash(hash);
            let way = places.way_of(key);
            let address = |nth| std::ptr::from_ref(places.on(&way, nth)).addr();
            let mut met: Vec<usize> = (0..places.on_a_way()).map(address).collect();
            prop_assert!(met[..LINE].iter().all(|entry| entry / 64 == met[0] / 64));
            let first_line = places.first_line(key).map(|slot| std::ptr::from_ref(slot).addr());
            prop_assert!(first_line.eq(met[..LINE].iter().copied()));
            met.sort_unstable();
            met.dedup();
            prop_assert_eq!(met.len(), places.on_a_way());
            prop_assert_eq!(met.len(), (4 * BLOCK).min(places.count()));
        }
    }

    #[test]
    fn an_entry_has_16_bytes_and_a_line_64() {
        assert_eq!((size_of::<Block>(), align_of::<Block>()), (16 * BLOCK, 128));
        assert_eq!(LINE * 16, 64);
    }
}
