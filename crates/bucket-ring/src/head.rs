//! The head word: where the ring stands, in 128 bits.

use windowpane_core::Nanos;

/// Bits of a count of accepted permits, which runs modulo 2^40.
pub(crate) const COUNT_BITS: u32 = 40;
/// Bits of an index into the slots, and of a number of buckets.
const INDEX_BITS: u32 = 12;
const INDEX_SHIFT: u32 = COUNT_BITS + INDEX_BITS;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// The largest limit of a quota: 1,099,511,627,775.
pub const MAX_LIMIT: u64 = COUNT_MASK;

/// The most slots a ring can have.
pub(crate) const MAX_SLOTS: u64 = INDEX_MASK + 1;

/// Where the ring stands. One 128-bit word, so that charging permits and saying when is one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The latest recorded time; 0 before the first. Its bucket is the newest one.
    pub(crate) time: Nanos,
    /// From the lowest bit: all that was accepted, modulo 2^40 (40 bits), how many of the newest
    /// buckets count (12), the slot that the newest bucket's record will take (12).
    place: u64,
}

impl Head {
    /// Nothing accepted.
    pub(crate) const EMPTY: Head = Head { time: 0, place: 0 };

    #[inline]
    pub(crate) fn to_bits(self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.place)
    }

    #[inline]
    pub(crate) fn from_bits(bits: u128) -> Head {
        Head {
            time: (bits >> 64) as u64,
            place: bits as u64,
        }
    }

    /// All that was ever accepted, modulo 2^40. A reset does not set it back, so that no head is
    /// ever seen twice.
    #[inline]
    pub(crate) fn accepted(self) -> u64 {
        self.place & COUNT_MASK
    }

    /// What was accepted after `earlier` of it had been, if that is less than 2^40.
    #[inline]
    pub(crate) fn accepted_since(self, earlier: u64) -> u64 {
        self.place.wrapping_sub(earlier) & COUNT_MASK
    }

    /// How many of the newest buckets in which anything was accepted still count, the head's own
    /// among them; 0 where nothing does because nothing was accepted or all was reset.
    #[inline]
    pub(crate) fn counting(self) -> u64 {
        self.place >> COUNT_BITS & INDEX_MASK
    }

    /// The slot for the record of the newest bucket, once that is over.
    #[inline]
    pub(crate) fn index(self) -> u64 {
        self.place >> INDEX_SHIFT
    }

    /// The slot of the `nth` newest bucket's record, `nth` from 1 to the number of slots.
    #[inline]
    pub(crate) fn index_of(self, nth: u64, slots: u64) -> u64 {
        let index = self.index() + 1;
        let lap_before = if index < nth { slots } else { 0 };
        index + lap_before - nth
    }

    /// The head after `charge` more were accepted at `time`, which is in the head's own bucket.
    #[inline]
    pub(crate) fn charge(self, time: Nanos, charge: u64) -> Head {
        Head {
            time,
            place: self.place & !COUNT_MASK | self.accepted_after(charge),
        }
    }

    /// The head after `charge` more were accepted at `time`, in a new bucket, when `kept` of the
    /// older ones still count.
    pub(crate) fn roll(self, time: Nanos, charge: u64, kept: u64, slots: u64) -> Head {
        let next = self.index() + 1;
        let index = if next == slots { 0 } else { next };
        Head {
            time,
            place: index << INDEX_SHIFT | (kept + 1) << COUNT_BITS | self.accepted_after(charge),
        }
    }

    /// The head after all was forgotten. The place and the count stay, so that no slot is written
    /// twice with one value.
    pub(crate) fn emptied(self) -> Head {
        Head {
            time: 0,
            place: self.place & !(INDEX_MASK << COUNT_BITS),
        }
    }

    #[inline]
    fn accepted_after(self, charge: u64) -> u64 {
        self.place.wrapping_add(charge) & COUNT_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Packing is exact, and no field carries into a neighbour.
        #[test]
        fn a_claim_changes_each_field_as_arithmetic_on_whole_numbers_would(
            time: u64, later: u64, slots in 2..=MAX_SLOTS, index: u64, accepted in 0..=COUNT_MASK,
            counting: u64, kept: u64, charge in 1..=MAX_LIMIT,
        ) {
            let (index, counting, kept) = (index % slots, counting % slots, kept % (slots - 1));
            let place = index << INDEX_SHIFT | counting << COUNT_BITS | accepted;
            let head = Head::from_bits(Head { time, place }.to_bits());
            let fields = |head: Head| (head.time, head.index(), head.counting(), head.accepted());
            prop_assert_eq!(fields(head), (time, index, counting, accepted));
            let sum = (accepted + charge) % (1 << COUNT_BITS);
            prop_assert_eq!(fields(head.charge(later, charge)), (later, index, counting, sum));
            prop_assert_eq!(head.charge(later, charge).accepted_since(accepted), charge);
            let rolled = (later, (index + 1) % slots, kept + 1, sum);
            prop_assert_eq!(fields(head.roll(later, charge, kept, slots)), rolled);
            prop_assert_eq!(fields(head.emptied()), (0, index, 0, accepted));
        }

        #[test]
        fn the_nth_newest_is_n_slots_back(slots in 2..=MAX_SLOTS, index: u64, nth: u64) {
            let (index, nth) = (index % slots, 1 + nth % slots);
            let head = Head { time: 0, place: index << INDEX_SHIFT };
            prop_assert_eq!(head.index_of(nth, slots), (index + slots + 1 - nth) % slots);
        }
    }
}
