//! The head word: where the ring stands, in 128 bits.

use windowpane_core::Nanos;

/// Bits of a count of accepted permits, which runs modulo 2^39.
pub(crate) const COUNT_BITS: u32 = 39;
/// The lowest bit of the number of resets lies above the count.
const RESET_BIT: u64 = 1 << COUNT_BITS;
const COUNTING_SHIFT: u32 = COUNT_BITS + 1;
/// Bits of an index into the slots, and of a number of buckets.
const INDEX_BITS: u32 = 12;
const INDEX_SHIFT: u32 = COUNTING_SHIFT + INDEX_BITS;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// The largest limit of a quota: 549,755,813,887.
pub const MAX_LIMIT: u64 = COUNT_MASK;

/// The most slots a ring can have.
pub(crate) const MAX_SLOTS: u64 = INDEX_MASK + 1;

/// Where the ring stands. It is one 128-bit word, so that charging permits and dating them is one
/// event.
///
/// The upper half is the latest recorded time plus the number of resets, wrapping. On a clock that
/// does not go back, every reset makes it larger, and between two resets the count grows, by less
/// than 2^39 at one time. So no head is ever seen twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The latest recorded time; 0 before the first. Its bucket is the newest one.
    pub(crate) time: Nanos,
    /// The latest recorded time plus the number of resets, wrapping.
    stamp: u64,
    /// From the lowest bit: all that was accepted, modulo 2^39 (39 bits), the lowest bit of the
    /// number of resets (1), how many of the newest buckets count (12), the slot that the newest
    /// bucket's record will take (12).
    place: u64,
}

impl Head {
    /// The word of a ring that has accepted nothing.
    pub(crate) const EMPTY: u128 = 0;

    #[inline]
    pub(crate) fn to_bits(self) -> u128 {
        u128::from(self.stamp) << 64 | u128::from(self.place)
    }

    /// The head of the word `bits`, when `resets` is the number of resets that were announced,
    /// read after the word.
    ///
    /// A reset is announced first and changes the head afterwards, and the next one is announced
    /// after that. So while the head stands, the announced number is the head's own or one more,
    /// and one bit in the head tells which. If the head has moved, the time is meaningless.
    #[inline]
    pub(crate) fn from_bits(bits: u128, resets: u64) -> Head {
        let (stamp, place) = ((bits >> 64) as u64, bits as u64);
        let is_own = (place >> COUNT_BITS ^ resets) & 1 == 0;
        let resets = if is_own {
            resets
        } else {
            before_announced(resets)
        };
        Head {
            time: stamp.wrapping_sub(offset(resets)),
            stamp,
            place,
        }
    }

    /// What the stamp has above the time: the number of resets before.
    #[inline]
    pub(crate) fn resets(self) -> u64 {
        self.stamp.wrapping_sub(self.time)
    }

    /// Whether the head is that of reset number `resets`, or of the one before.
    #[inline]
    pub(crate) fn is_of_reset(self, resets: u64) -> bool {
        (self.place >> COUNT_BITS ^ resets) & 1 == 0
    }

    /// All that was ever accepted, modulo 2^39. A reset does not set it back.
    #[inline]
    pub(crate) fn accepted(self) -> u64 {
        self.place & COUNT_MASK
    }

    /// What was accepted after `earlier` of it had been, if that is less than 2^39.
    #[inline]
    pub(crate) fn accepted_since(self, earlier: u64) -> u64 {
        self.place.wrapping_sub(earlier) & COUNT_MASK
    }

    /// How many of the newest buckets in which anything was accepted still count, the head's own
    /// among them; 0 where nothing does because nothing was accepted or all was reset.
    #[inline]
    pub(crate) fn counting(self) -> u64 {
        self.place >> COUNTING_SHIFT & INDEX_MASK
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
            stamp: self.stamp_at(time),
            place: self.place & !COUNT_MASK | self.accepted_after(charge),
        }
    }

    /// The head after `charge` more were accepted at `time`, in a new bucket, when `kept` of the
    /// older ones still count.
    pub(crate) fn roll(self, time: Nanos, charge: u64, kept: u64, slots: u64) -> Head {
        let next = self.index() + 1;
        let index = if next == slots { 0 } else { next };
        let fields = index << INDEX_SHIFT | (kept + 1) << COUNTING_SHIFT;
        Head {
            time,
            stamp: self.stamp_at(time),
            place: fields | self.place & RESET_BIT | self.accepted_after(charge),
        }
    }

    /// The head after reset number `resets`. The slot and the count stay, so that no slot is
    /// written twice with one value.
    pub(crate) fn emptied(self, resets: u64) -> Head {
        let fields = INDEX_MASK << COUNTING_SHIFT | RESET_BIT;
        Head {
            time: 0,
            stamp: offset(resets),
            place: self.place & !fields | (resets & 1) << COUNT_BITS,
        }
    }

    #[inline]
    fn accepted_after(self, charge: u64) -> u64 {
        self.place.wrapping_add(charge) & COUNT_MASK
    }

    /// The stamp of `time`, which is not before the head's own, after as many resets.
    #[inline]
    fn stamp_at(self, time: Nanos) -> u64 {
        self.stamp.wrapping_add(time.wrapping_sub(self.time))
    }
}

/// What a stamp has above its time after `resets` resets.
#[inline]
fn offset(resets: u64) -> u64 {
    resets
}

/// The number of resets of a head while reset number `announced` is not finished.
#[cold]
fn before_announced(announced: u64) -> u64 {
    announced.wrapping_sub(1)
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
            counting: u64, kept: u64, charge in 1..=MAX_LIMIT, resets: u64, announced in 0..2_u64,
        ) {
            let (index, counting, kept) = (index % slots, counting % slots, kept % (slots - 1));
            let tag = (resets & 1) << COUNT_BITS;
            let place = index << INDEX_SHIFT | counting << COUNTING_SHIFT | tag | accepted;
            let announced = resets.wrapping_add(announced);
            let head = Head::from_bits(Head { time, stamp: time.wrapping_add(resets), place }.to_bits(), announced);
            let fields = |head: Head| {
                let head = Head::from_bits(head.to_bits(), head.resets());
                (head.time, head.index(), head.counting(), head.accepted())
            };
            prop_assert_eq!(head.resets(), resets);
            prop_assert_eq!(fields(head), (time, index, counting, accepted));
            let sum = (accepted + charge) % (1 << COUNT_BITS);
            prop_assert_eq!(fields(head.charge(later, charge)), (later, index, counting, sum));
            prop_assert_eq!(head.charge(later, charge).accepted_since(accepted), charge);
            let rolled = (later, (index + 1) % slots, kept + 1, sum);
            prop_assert_eq!(fields(head.roll(later, charge, kept, slots)), rolled);
            let empty = head.emptied(resets.wrapping_add(1));
            prop_assert_eq!(fields(empty), (0, index, 0, accepted));
            prop_assert_eq!(empty.to_bits() >> 64, u128::from(resets.wrapping_add(1)));
        }

        #[test]
        fn the_nth_newest_is_n_slots_back(slots in 2..=MAX_SLOTS, index: u64, nth: u64) {
            let (index, nth) = (index % slots, 1 + nth % slots);
            let head = Head { time: 0, stamp: 0, place: index << INDEX_SHIFT };
            prop_assert_eq!(head.index_of(nth, slots), (index + slots + 1 - nth) % slots);
        }
    }
}
