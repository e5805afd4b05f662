//! The head word: where the ring stands, in 128 bits.

use windowpane_core::Nanos;

/// Bits of an index into the slots, and of a number of slots.
const INDEX_BITS: u32 = 24;
/// Where the lap begins; it has the 16 bits above, so its carry falls off the word.
const LAP_SHIFT: u32 = 2 * INDEX_BITS;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// The largest capacity of a ring: 16,777,215 permits, 128 MiB.
pub const MAX_CAPACITY: u64 = INDEX_MASK;

/// One place in the endless row of permits: a slot, and which lap around the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The slot, below the capacity.
    pub(crate) index: u64,
    /// The lap, modulo 2^16.
    pub(crate) lap: u64,
}

impl Place {
    /// The same slot, a lap earlier.
    pub(crate) fn a_lap_before(self) -> Place {
        Place {
            lap: self.lap.wrapping_sub(1) & (u64::MAX >> LAP_SHIFT),
            ..self
        }
    }
}

/// Where the ring stands. One 128-bit word, so that claiming permits and saying when is one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The latest recorded time: when the newest permit was accepted; 0 before the first.
    pub(crate) time: Nanos,
    /// From the lowest bit: how many of the newest permits count (24 bits), the index that the
    /// next permit takes (24), its lap (16).
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

    /// How many of the newest permits count, at most the capacity. What is older was forgotten,
    /// because it had left every window or by a reset.
    #[inline]
    pub(crate) fn filled(self) -> u64 {
        self.place & INDEX_MASK
    }

    /// The slot that the next permit takes.
    #[inline]
    pub(crate) fn next_index(self) -> u64 {
        self.place >> INDEX_BITS & INDEX_MASK
    }

    /// The place that the next permit takes.
    #[inline]
    pub(crate) fn next(self) -> Place {
        Place {
            index: self.next_index(),
            lap: self.place >> LAP_SHIFT,
        }
    }

    /// The slot of the `nth` newest permit, `nth` from 1 to the capacity.
    #[inline]
    pub(crate) fn index_of(self, nth: u64, capacity: u64) -> u64 {
        let next = self.next_index();
        let lap_before = if next < nth { capacity } else { 0 };
        next + lap_before - nth
    }

    /// The place of the `nth` newest permit, `nth` from 1 to the capacity.
    #[inline]
    pub(crate) fn place_of(self, nth: u64, capacity: u64) -> Place {
        let lap_before = u64::from(self.next_index() < nth);
        Place {
            index: self.index_of(nth, capacity),
            lap: (self.place >> LAP_SHIFT).wrapping_sub(lap_before) & (u64::MAX >> LAP_SHIFT),
        }
    }

    /// The head after `cost` more permits, at most the capacity, are claimed at `time`, when
    /// `kept` of the older ones still count.
    #[inline]
    pub(crate) fn claim(self, time: Nanos, cost: u64, kept: u64, capacity: u64) -> Head {
        // Wrapping: in the last lap the sum can pass the end of the word before it is put right.
        let mut place = (self.place & !INDEX_MASK).wrapping_add(cost << INDEX_BITS);
        if self.next_index() + cost >= capacity {
            // Once around: the index loses the capacity, the lap gains one; the 2^16th lap's carry
            // falls off.
            place = place
                .wrapping_sub(capacity << INDEX_BITS)
                .wrapping_add(1 << LAP_SHIFT);
        }
        Head {
            time,
            place: place | (kept + cost).min(capacity),
        }
    }

    /// The head at `time`, when `kept` of the newest permits still count.
    pub(crate) fn keeping(self, time: Nanos, kept: u64) -> Head {
        Head {
            time,
            place: self.place & !INDEX_MASK | kept,
        }
    }

    /// The head after all was forgotten. The places stay, so that no slot is written twice in one
    /// lap.
    pub(crate) fn emptied(self) -> Head {
        Head {
            time: 0,
            place: self.place & !INDEX_MASK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(time: Nanos, index: u64, lap: u64, filled: u64) -> Head {
        Head {
            time,
            place: lap << LAP_SHIFT | index << INDEX_BITS | filled,
        }
    }

    /// Small ones too, in which a place often lies at an edge of the lap.
    fn capacity() -> impl Strategy<Value = u64> {
        prop_oneof![1..8_u64, 1..=MAX_CAPACITY]
    }

    proptest! {
        /// Packing is exact, and no field carries into a neighbour.
        #[test]
        fn a_claim_changes_each_field_as_arithmetic_on_whole_numbers_would(
            time: u64, capacity in capacity(), index: u64,
            lap in prop_oneof![0..1_u64 << 16, Just((1 << 16) - 1)],
            filled: u64, kept: u64, cost: u64,
        ) {
            let (index, filled) = (index % capacity, filled % (capacity + 1));
            let (kept, cost) = (kept % (filled + 1), 1 + cost % capacity);
            let before = head(7, index, lap, filled);
            let before = Head::from_bits(before.to_bits());
            prop_assert_eq!((before.filled(), before.next()), (filled, Place { index, lap }));
            let after = Head::from_bits(before.claim(time, cost, kept, capacity).to_bits());
            let place = lap * capacity + index + cost;
            let expected = Place { index: place % capacity, lap: place / capacity % (1 << 16) };
            prop_assert_eq!(after.time, time);
            prop_assert_eq!(after.next(), expected);
            prop_assert_eq!(after.filled(), (kept + cost).min(capacity));
            prop_assert_eq!(after.emptied(), head(0, expected.index, expected.lap, 0));
            prop_assert_eq!(before.keeping(time, kept), head(time, index, lap, kept));
        }

        #[test]
        fn the_nth_newest_is_n_places_back(
            capacity in capacity(), index: u64, lap in 0..1_u64 << 16, nth: u64,
        ) {
            let (index, nth) = (index % capacity, 1 + nth % capacity);
            let head = head(0, index, lap, 0);
            // A lap before the first is the last of the 2^16.
            let place = (lap + (1 << 16)) * capacity + index - nth;
            let expected = Place { index: place % capacity, lap: place / capacity % (1 << 16) };
            prop_assert_eq!(head.place_of(nth, capacity), expected);
            prop_assert_eq!(head.index_of(nth, capacity), expected.index);
        }

        /// The laps run modulo 2^16, backwards too.
        #[test]
        fn a_lap_before_is_the_same_slot_one_lap_earlier(
            index in 0..MAX_CAPACITY, lap in prop_oneof![Just(0), 0..1_u64 << 16],
        ) {
            let before = Place { index, lap }.a_lap_before();
            prop_assert_eq!(before, Place { index, lap: (lap + (1 << 16) - 1) % (1 << 16) });
        }
    }
}
