//! The cap on keys, and the CLOCK eviction hand over the keys held.
//!
//! Each key held has a slot, a small number. There are `cap` slots, and a thread without a slot cannot
//! insert. So the cap holds however many threads insert at the same time. A slot keeps the hash of its
//! key and nothing else; an entry keeps the number of its slot. Entry and slot find each other by the
//! two. So the hand can visit all entries, a few in each call, which the map itself does not offer.

use std::sync::{OnceLock, PoisonError};

use windowpane_core::sync::plain::{AtomicU64, AtomicUsize, Mutex, MutexGuard, fence};
use windowpane_core::sync::{CachePadded, Ordering};

/// The slots of the first block. Each further block has as many slots as all before it, up to the
/// largest: a small store stays small, and no call allocates more than half a megabyte.
const FIRST_BLOCK: usize = 1 << 3;
const LARGEST_BLOCK: usize = 1 << 16;
/// The blocks that double.
const DOUBLING: usize = (LARGEST_BLOCK / FIRST_BLOCK).ilog2() as usize + 1;
/// The most slots there can be.
pub(crate) const MOST: usize = 1 << 31;

/// All slots.
pub(crate) struct Slots {
    cap: usize,
    /// The number of slots taken.
    taken: CachePadded<AtomicUsize>,
    /// The position of the eviction hand; it grows without end.
    hand: CachePadded<AtomicUsize>,
    free: Mutex<Free>,
    /// The hashes, in blocks that are allocated when they are first needed and never move. A slot that
    /// was given back holds the number of the slot given back before it.
    blocks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

/// The slots that are not taken.
#[derive(Default)]
struct Free {
    /// The slot that was given back last.
    back: Option<u32>,
    /// The first slot that was never taken.
    fresh: u32,
}

/// A slot that is taken and not yet a key's. Dropped, it is given back.
pub(crate) struct Slot<'s> {
    slots: &'s Slots,
    number: u32,
}

impl Slots {
    /// `cap` slots.
    pub(crate) fn new(cap: usize) -> Slots {
        let cap = cap.clamp(1, MOST);
        let blocks = place(cap as u32 - 1).0 + 1;
        Slots {
            cap,
            taken: CachePadded::default(),
            hand: CachePadded::default(),
            free: Mutex::default(),
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
        }
    }

    pub(crate) fn cap(&self) -> usize {
        self.cap
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// A free slot; `None` if all are taken.
    pub(crate) fn take(&self) -> Option<Slot<'_>> {
        let one_more = |taken| (taken < self.cap).then_some(taken + 1);
        // Relaxed: the mutex orders who has the slot.
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()?;
        let mut free = self.free();
        // One is free: it was put back before it was counted as not taken.
        let number = match free.back {
            Some(back) => {
                free.back = u32::try_from(self.hash_of(back)).ok();
                back
            }
            None => {
                free.fresh += 1;
                free.fresh - 1
            }
        };
        drop(free);
        // Here, where no shard is locked.
        let (block, _) = place(number);
        self.blocks[block].get_or_init(|| (0..size(block)).map(|_| AtomicU64::new(0)).collect());
        Some(Slot {
            slots: self,
            number,
        })
    }

    /// Moves the hand by one slot. Returns the slot's number, and the hash of the key it is or was.
    pub(crate) fn next(&self) -> (u32, u64) {
        let number = (self.hand.fetch_add(1, Ordering::Relaxed) % self.cap) as u32;
        (number, self.hash_of(number))
    }

    /// The number of slots that were ever taken: all keys held have lower numbers.
    pub(crate) fn ever_taken(&self) -> u32 {
        self.free().fresh
    }

    /// The hash of the key that a slot is or was; any number if it never had one.
    pub(crate) fn hash_of(&self, number: u32) -> u64 {
        let (block, place) = place(number);
        match self.blocks[block].get() {
            Some(block) => block[place].load(Ordering::Relaxed),
            None => 0,
        }
    }

    /// A slot that was a key's: the caller has just removed the entry from the map.
    pub(crate) fn regain(&self, number: u32) -> Slot<'_> {
        Slot {
            slots: self,
            number,
        }
    }

    fn set(&self, number: u32, hash: u64) {
        let (block, place) = place(number);
        if let Some(block) = self.blocks[block].get() {
            block[place].store(hash, Ordering::Relaxed);
        }
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        // Nothing inside can panic.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Announces that a key with this hash is about to have the slot. The caller checks after that
    /// whether the quotas still hold; a change of quotas reads the slots after it was made.
    pub(crate) fn announce(&self, hash: u64) {
        // A thread that still reads an earlier hash finds no entry with that hash and this slot, and
        // tries again.
        self.slots.set(self.number, hash);
        // With the one in `Tiers::ask_anew`: either the change is seen here, or the slot there.
        fence(Ordering::SeqCst);
    }

    /// Makes the slot the announced key's. The entry keeps its number.
    pub(crate) fn keep(self) -> u32 {
        let number = self.number;
        std::mem::forget(self);
        number
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut free = self.slots.free();
        let before = free.back.map_or(u64::MAX, u64::from);
        self.slots.set(self.number, before);
        free.back = Some(self.number);
        drop(free);
        self.slots.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A slot's block, and its index there.
fn place(number: u32) -> (usize, usize) {
    let number = number as usize;
    match number / FIRST_BLOCK {
        0 => (0, number),
        _ if number >= LARGEST_BLOCK => {
            let before = DOUBLING - 1;
            (before + number / LARGEST_BLOCK, number % LARGEST_BLOCK)
        }
        firsts => {
            let block = firsts.ilog2() as usize + 1;
            (block, number - size(block))
        }
    }
}

/// The number of slots of a block.
fn size(block: usize) -> usize {
    match block {
        0 => FIRST_BLOCK,
        _ => LARGEST_BLOCK.min(FIRST_BLOCK << (block - 1).min(DOUBLING)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_taken_than_there_are_and_those_given_back_are_taken_again() {
        let slots = Slots::new(2);
        let (a, b) = (slots.take().unwrap(), slots.take().unwrap());
        assert!(slots.take().is_none());
        assert_eq!((slots.taken(), slots.ever_taken()), (2, 2));
        assert_ne!(a.number, b.number);
        let given_back = a.number;
        drop(a);
        assert_eq!(slots.taken(), 1);
        assert_eq!(slots.take().map(|slot| slot.number), Some(given_back));
        // Kept, a slot stays taken until it is regained.
        b.announce(77);
        let kept = b.keep();
        assert_eq!((slots.taken(), slots.hash_of(kept)), (1, 77));
        drop(slots.regain(kept));
        assert_eq!(slots.taken(), 0);
    }

    #[test]
    fn each_slot_has_a_place_of_its_own_and_the_hand_comes_to_all() {
        let cap = 3 * LARGEST_BLOCK + 3;
        let slots = Slots::new(cap);
        for number in 0..cap as u64 {
            let slot = slots.take().unwrap();
            slot.announce(number * 7);
            assert_eq!(slot.keep(), number as u32);
        }
        for round in 0..2 {
            for expected in 0..cap as u32 {
                let (number, hash) = slots.next();
                let place = format!("{expected}, round {round}");
                assert_eq!(
                    (number, hash),
                    (expected, u64::from(expected) * 7),
                    "{place}"
                );
            }
        }
    }

    #[test]
    fn blocks_lie_end_to_end() {
        let mut expected = (0, 0);
        for number in 0..5 * LARGEST_BLOCK as u32 {
            assert_eq!(place(number), expected, "{number}");
            expected.1 += 1;
            if expected.1 == size(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(place(MOST as u32 - 1).1, LARGEST_BLOCK - 1);
    }

    #[test]
    fn there_are_as_many_blocks_as_the_cap_needs() {
        let large = LARGEST_BLOCK;
        for (cap, blocks) in [
            (0, 1),
            (8, 1),
            (9, 2),
            (16, 2),
            (17, 3),
            (large, DOUBLING),
            (large + 1, DOUBLING + 1),
            (2 * large, DOUBLING + 1),
            (2 * large + 1, DOUBLING + 2),
        ] {
            let slots = Slots::new(cap);
            assert_eq!((slots.blocks.len(), slots.cap()), (blocks, cap.max(1)));
        }
        assert_eq!((size(DOUBLING - 1), size(DOUBLING)), (large / 2, large));
        // A cap beyond the most is the most.
        assert_eq!(Slots::new(usize::MAX).cap(), MOST);
    }

    #[test]
    fn threads_that_take_and_give_back_never_share_a_slot() {
        let slots = Slots::new(3);
        let owners: Vec<AtomicUsize> = (0..3).map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(slot) = slots.take() {
                            let owner = &owners[slot.number as usize];
                            assert_eq!(owner.fetch_add(1, Ordering::SeqCst), 0);
                            owner.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!((slots.taken(), slots.ever_taken() <= 3), (0, true));
    }
}
