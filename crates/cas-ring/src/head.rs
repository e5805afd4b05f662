//! The head word: where the ring stands, in 128 bits.

use windowpane_core::Nanos;
use windowpane_core::sync::ships_or_models;

/// Bits of an index into the slots, and of a number of slots.
const INDEX_BITS: u32 = 24;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// Bits of the reset tag. One bit is enough, see [`Head::from_bits`]; models have one.
const RESET_BITS: u32 = ships_or_models(8, 1) as u32;
const RESET_MASK: u64 = (1 << RESET_BITS) - 1;
const RESET_SHIFT: u32 = INDEX_BITS;

const INDEX_SHIFT: u32 = 32;

/// Bits of a lap. Models have fewer, so that few laps bring the same one back.
pub(crate) const LAP_BITS: u32 = ships_or_models(8, 1) as u32;
/// Where the lap begins. It is on top, so its carry falls off the word.
const LAP_SHIFT: u32 = u64::BITS - LAP_BITS;
const LAP_MASK: u64 = u64::MAX >> LAP_SHIFT;

/// The largest capacity of a ring: 16,777,215 permits, 128 MiB.
pub const MAX_CAPACITY: u64 = INDEX_MASK;

/// The position of one permit in the endless sequence of permits: a slot, and a lap of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The slot, below the capacity.
    pub(crate) index: u64,
    /// The lap, modulo 2^8.
    pub(crate) lap: u64,
}

impl Position {
    /// The same slot, one lap earlier.
    pub(crate) fn one_lap_earlier(self) -> Position {
        Position {
            lap: self.lap.wrapping_sub(1) & LAP_MASK,
            ..self
        }
    }
}

/// Where the ring stands. It is one 128-bit word, so that claiming permits and dating them is one
/// event.
///
/// The upper half is the *stamp*: the latest recorded time plus the number of resets, wrapping. On
/// a clock that does not go back, every reset and every lap makes it larger, so no head and no
/// record of a slot is ever seen twice, however often a ring is reset while the clock stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The latest recorded time: when the newest permit was accepted; 0 before the first.
    pub(crate) time: Nanos,
    /// The latest recorded time plus the number of resets, wrapping.
    stamp: u64,
    /// From the lowest bit: the number of the newest permits that count (24 bits), the low bits of
    /// the number of resets (8), the index that the next permit takes (24), its lap (8).
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
        let is_own = (place >> RESET_SHIFT ^ resets) & RESET_MASK == 0;
        let resets = if is_own {
            resets
        } else {
            own_resets(place, resets)
        };
        Head {
            time: stamp.wrapping_sub(offset(resets)),
            stamp,
            place,
        }
    }

    /// The latest recorded time and the number of resets in one, wrapping.
    #[inline]
    pub(crate) fn stamp(self) -> u64 {
        self.stamp
    }

    /// The low bits of the number of resets before.
    pub(crate) fn reset_tag(self) -> u64 {
        self.place >> RESET_SHIFT & RESET_MASK
    }

    /// The number of the newest permits that count, at most the capacity. Older ones were
    /// forgotten, because they had left every window or by a reset.
    #[inline]
    pub(crate) fn filled(self) -> u64 {
        self.place & INDEX_MASK
    }

    /// The slot that the next permit takes.
    #[inline]
    pub(crate) fn next_index(self) -> u64 {
        self.place >> INDEX_SHIFT & INDEX_MASK
    }

    /// The position that the next permit takes.
    #[inline]
    pub(crate) fn next(self) -> Position {
        Position {
            index: self.next_index(),
            lap: self.place >> LAP_SHIFT,
        }
    }

    /// The slot of the `nth` newest permit, `nth` from 1 to the capacity.
    #[inline]
    pub(crate) fn index_of(self, nth: u64, capacity: u64) -> u64 {
        let next = self.next_index();
        let one_lap = if next < nth { capacity } else { 0 };
        next + one_lap - nth
    }

    /// The position of the `nth` newest permit, `nth` from 1 to the capacity.
    #[inline]
    pub(crate) fn position_of(self, nth: u64, capacity: u64) -> Position {
        let one_lap = u64::from(self.next_index() < nth);
        Position {
            index: self.index_of(nth, capacity),
            lap: (self.place >> LAP_SHIFT).wrapping_sub(one_lap) & LAP_MASK,
        }
    }

    /// The head after `cost` more permits, at most the capacity, are claimed at `time`, when
    /// `kept` of the older ones still count.
    #[inline]
    pub(crate) fn claim(self, time: Nanos, cost: u64, kept: u64, capacity: u64) -> Head {
        // Wrapping: in the last lap the sum can pass the end of the word before it is put right.
        let mut place = (self.place & !INDEX_MASK).wrapping_add(cost << INDEX_SHIFT);
        if self.next_index() + cost >= capacity {
            // Once around: the index loses the capacity, the lap gains one, and the carry of the
            // last lap falls off.
            place = place
                .wrapping_sub(capacity << INDEX_SHIFT)
                .wrapping_add(1 << LAP_SHIFT);
        }
        Head {
            time,
            stamp: self.stamp_at(time),
            place: place | (kept + cost).min(capacity),
        }
    }

    /// The head at `time`, when `kept` of the newest permits still count.
    pub(crate) fn keeping(self, time: Nanos, kept: u64) -> Head {
        Head {
            time,
            stamp: self.stamp_at(time),
            place: self.place & !INDEX_MASK | kept,
        }
    }

    /// The head after reset number `resets`. The position stays, so that no slot is written twice
    /// in one lap.
    pub(crate) fn emptied(self, resets: u64) -> Head {
        let fields = INDEX_MASK | RESET_MASK << RESET_SHIFT;
        Head {
            time: 0,
            stamp: offset(resets),
            place: self.place & !fields | reset_tag(resets) << RESET_SHIFT,
        }
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

/// The low bits of a number of resets, as a head has them.
pub(crate) fn reset_tag(resets: u64) -> u64 {
    resets & RESET_MASK
}

/// The number of resets of a head with `place` while reset number `announced` is not finished.
#[cold]
fn own_resets(place: u64, announced: u64) -> u64 {
    announced.wrapping_sub(announced.wrapping_sub(place >> RESET_SHIFT) & RESET_MASK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A head and the number of resets announced: its own, or one more.
    fn head(time: Nanos, index: u64, lap: u64, filled: u64, resets: u64) -> Head {
        let tag = (resets & RESET_MASK) << RESET_SHIFT;
        Head {
            time,
            stamp: time.wrapping_add(resets),
            place: lap << LAP_SHIFT | index << INDEX_SHIFT | tag | filled,
        }
    }

    /// The time, the number of resets, the next position, the permits that count.
    fn fields(head: Head) -> (Nanos, u64, Position, u64) {
        let resets = head.stamp().wrapping_sub(head.time);
        assert_eq!(head.reset_tag(), reset_tag(resets));
        (head.time, resets, head.next(), head.filled())
    }

    /// Small ones too, in which a position often lies at an edge of the lap.
    fn capacity() -> impl Strategy<Value = u64> {
        prop_oneof![1..8_u64, 1..=MAX_CAPACITY]
    }

    proptest! {
        /// Packing is exact, and no field carries into a neighbour.
        #[test]
        fn a_claim_changes_each_field_as_whole_numbers_would(
            time: u64, resets: u64, announced in 0..2_u64, capacity in capacity(), index: u64,
            lap in prop_oneof![0..=LAP_MASK, Just(LAP_MASK)],
            filled: u64, kept: u64, cost: u64,
        ) {
            let (index, filled) = (index % capacity, filled % (capacity + 1));
            let (kept, cost) = (kept % (filled + 1), 1 + cost % capacity);
            let read = |head: Head| {
                Head::from_bits(head.to_bits(), resets.wrapping_add(announced))
            };
            let before = read(head(7, index, lap, filled, resets));
            prop_assert_eq!(fields(before), (7, resets, Position { index, lap }, filled));
            let after = read(before.claim(time, cost, kept, capacity));
            let place = lap * capacity + index + cost;
            let next = Position { index: place % capacity, lap: (place / capacity) & LAP_MASK };
            prop_assert_eq!(fields(after), (time, resets, next, (kept + cost).min(capacity)));
            prop_assert_eq!(after.stamp(), time.wrapping_add(resets));
            let empty = after.emptied(resets.wrapping_add(1));
            let empty = Head::from_bits(empty.to_bits(), resets.wrapping_add(1 + announced));
            prop_assert_eq!(fields(empty), (0, resets.wrapping_add(1), next, 0));
            let keeping = read(before.keeping(time, kept));
            prop_assert_eq!(fields(keeping), (time, resets, Position { index, lap }, kept));
        }

        #[test]
        fn the_nth_newest_is_n_positions_back(
            capacity in capacity(), index: u64, lap in 0..=LAP_MASK, nth: u64,
        ) {
            let (index, nth) = (index % capacity, 1 + nth % capacity);
            let head = head(0, index, lap, 0, 0);
            // The lap before the first is the last.
            let place = (lap + LAP_MASK + 1) * capacity + index - nth;
            let expected = Position { index: place % capacity, lap: (place / capacity) & LAP_MASK };
            prop_assert_eq!(head.position_of(nth, capacity), expected);
            prop_assert_eq!(head.index_of(nth, capacity), expected.index);
        }

        /// The laps run modulo 2^8, backwards too.
        #[test]
        fn one_lap_earlier_is_the_same_slot(
            index in 0..MAX_CAPACITY, lap in prop_oneof![Just(0), 0..=LAP_MASK],
        ) {
            let before = Position { index, lap }.one_lap_earlier();
            prop_assert_eq!(before, Position { index, lap: (lap + LAP_MASK) & LAP_MASK });
        }
    }
}
