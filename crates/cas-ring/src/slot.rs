//! One slot: when its permit was accepted, and in which lap it was written.

use windowpane_core::Nanos;

use super::head::{LAP_BITS, Position};

/// Bits of the stamp. 2^56 ns are 2.28 years, above two windows of 365 days.
const STAMP_BITS: u32 = 56;
const STAMP_MASK: u64 = (1 << STAMP_BITS) - 1;
const _: () = assert!(LAP_BITS <= u64::BITS - STAMP_BITS);

/// The content of a slot: the low bits of a stamp below a lap.
///
/// A stamp is the time of acceptance plus the number of resets before it. Stamps with the same low
/// bits differ by 2^56 ns at least, and the ring forgets what would be that old. The lap tells a
/// slot already written in a lap from one still to be written.
///
/// A compare-and-swap by a thread that slept must find that a slot has changed. It does: from lap
/// to lap the stamp in a slot grows. Either a window has passed, since the ring holds at least
/// every limit, or the ring was reset. So the same content comes back after 2.28 years at the
/// earliest, also while the clock stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u64);

impl Slot {
    /// Never written: as if written in the lap before the first.
    pub(crate) const EMPTY: Slot = Slot(((1 << LAP_BITS) - 1) << STAMP_BITS);

    /// The record of the permit at `position`, accepted under `stamp`.
    #[inline]
    pub(crate) fn record(position: Position, stamp: u64) -> Slot {
        Slot(position.lap << STAMP_BITS | stamp & STAMP_MASK)
    }

    /// Whether this was written in the lap of `position`.
    #[inline]
    pub(crate) fn is_of(self, position: Position) -> bool {
        self.0 >> STAMP_BITS == position.lap
    }

    /// Returns how long before the stamp `reference` the permit was accepted, in nanoseconds, if
    /// that is less than 2^56 and the ring was not reset between.
    #[inline]
    pub(crate) fn age(self, reference: u64) -> Nanos {
        reference.wrapping_sub(self.0) & STAMP_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::super::head::Head;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_age_is_exact_and_the_stamp_leaves_the_lap_alone(
            lap in 0..1_u64 << LAP_BITS, index in 0..1_u64 << 24, stamp: u64, age in 0..=STAMP_MASK,
        ) {
            let position = Position { index, lap };
            let slot = Slot::record(position, stamp);
            prop_assert_eq!(slot.age(stamp.wrapping_add(age)), age);
            prop_assert!(slot.is_of(position));
            let other_lap = Position { lap: lap ^ 1, ..position };
            prop_assert!(!slot.is_of(other_lap));
        }
    }

    #[test]
    fn an_empty_slot_is_of_the_lap_before_the_first() {
        let first = Position { index: 0, lap: 0 };
        assert!(!Slot::EMPTY.is_of(first));
        let before = Head::from_bits(Head::EMPTY, 0).position_of(1, 5);
        assert!(Slot::EMPTY.is_of(before));
    }
}
