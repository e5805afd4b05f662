//! One entry: a fingerprint and a state word, in 128 bits.

use windowpane_core::sync::{AtomicU128, Ordering};

/// The lowest bit of a fingerprint says that the entry is claimed and not yet held.
const CLAIMED: u64 = 1;

/// What stands for a key: its hash without the lowest bit, and never 0, which stands for no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    #[inline]
    pub(super) fn of_hash(hash: u64) -> Fingerprint {
        match hash & !CLAIMED {
            0 => Fingerprint(CLAIMED << 1),
            bits => Fingerprint(bits),
        }
    }

    #[inline]
    pub(super) fn bits(self) -> u64 {
        self.0
    }
}

/// An entry's value. It is one word of 128 bits, so a thread that changes the state changes that of
/// the key it has read, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(u128);

/// What an entry is to a call that looks for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// No key has it.
    Empty,
    /// It holds the key's state.
    Held,
    /// A thread is about to insert the key here.
    Claimed,
    /// It is held or claimed by another key.
    Others,
}

impl Entry {
    /// The entry that no key has.
    pub(super) const EMPTY: Entry = Entry(0);

    /// The entry that holds the state `word` of a key.
    #[inline]
    pub(super) fn held(key: Fingerprint, word: u64) -> Entry {
        Entry(u128::from(key.0) << 64 | u128::from(word))
    }

    /// The entry in which a key is about to be inserted. No two claims of one key have the same
    /// `number`, so a claim that was dropped is never confused with a later one.
    pub(super) fn claimed(key: Fingerprint, number: u64) -> Entry {
        Entry(u128::from(key.0 | CLAIMED) << 64 | u128::from(number))
    }

    #[inline]
    pub(super) fn load(slot: &AtomicU128) -> Entry {
        // A thread that finds a key forgotten has to see the table's eviction watermark as it was raised
        // for that.
        Entry(slot.load(Ordering::Acquire))
    }

    /// Replaces this value by `next`, if it is still in the slot.
    pub(super) fn replace(self, slot: &AtomicU128, next: Entry) -> bool {
        slot.compare_exchange(self.0, next.0, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Changes the state of the key that holds the entry, if nothing has changed. It may fail
    /// spuriously.
    #[inline]
    pub(super) fn charge(self, slot: &AtomicU128, next: Entry) -> bool {
        // Relaxed: it publishes nothing else. One entry has one order of changes. This is an exchange,
        // so what the last insertion released is passed on.
        slot.compare_exchange_weak(self.0, next.0, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Whether it holds the state of `key`.
    #[inline]
    pub(super) fn holds(self, key: Fingerprint) -> bool {
        self.high() == key.0
    }

    pub(super) fn seen_by(self, key: Fingerprint) -> Seen {
        match self.high() {
            0 => Seen::Empty,
            high if high == key.0 => Seen::Held,
            high if high == key.0 | CLAIMED => Seen::Claimed,
            _ => Seen::Others,
        }
    }

    /// Whether a thread is about to insert a key here.
    pub(super) fn is_claimed(self) -> bool {
        self.high() & CLAIMED != 0
    }

    /// The state, if it holds that of a key.
    pub(super) fn held_word(self) -> Option<u64> {
        (self.high() != 0 && !self.is_claimed()).then_some(self.word())
    }

    /// The state, of an entry that holds one.
    #[inline]
    pub(super) fn word(self) -> u64 {
        self.0 as u64
    }

    #[inline]
    fn high(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A key sees its own entries as its own and no others, whatever the hash and the word.
        #[test]
        fn an_entry_is_seen_by_its_key_alone(hash: u64, other: u64, word: u64) {
            let (key, other) = (Fingerprint::of_hash(hash), Fingerprint::of_hash(other));
            prop_assume!(key != other);
            let (held, claimed) = (Entry::held(key, word), Entry::claimed(key, word));
            prop_assert!(held.holds(key) && !claimed.holds(key) && !held.holds(other));
            prop_assert_eq!((held.seen_by(key), held.seen_by(other)), (Seen::Held, Seen::Others));
            prop_assert_eq!((claimed.seen_by(key), claimed.seen_by(other)), (Seen::Claimed, Seen::Others));
            prop_assert_eq!((held.held_word(), claimed.held_word()), (Some(word), None));
            prop_assert!(claimed.is_claimed() && !held.is_claimed());
        }
    }

    #[test]
    fn no_hash_stands_for_no_key() {
        for hash in [0, 1] {
            let key = Fingerprint::of_hash(hash);
            assert_eq!(Entry::EMPTY.seen_by(key), Seen::Empty);
            assert_eq!(Entry::held(key, 0).seen_by(key), Seen::Held);
        }
        assert_eq!(Entry::EMPTY.held_word(), None);
        assert!(!Entry::EMPTY.is_claimed());
    }
}
