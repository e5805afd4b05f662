//! One slot: when its permit was accepted, and in which lap it was written.

use windowpane_core::Nanos;

use super::head::Place;

/// Bits of the time. 2^56 ns are 2.28 years, above two windows of 365 days.
const TIME_BITS: u32 = 56;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;
/// Bits of the lap tag: the low bits of the lap.
const TAG_MASK: u64 = u64::MAX >> TIME_BITS;

/// What a slot holds: the low bits of a time below a lap tag.
///
/// The time is told apart from others with the same low bits by a reference that is less than
/// 2^56 ns later; the ring forgets what would be older. The tag tells a slot already written in a
/// lap from one still to be written.
///
/// A compare-and-swap by a thread that slept must find that a slot has changed. It has: between two
/// laps the time in a slot grows by at least a window, since the ring holds at least every limit, so
/// that the same time and tag come back after more than 100 years. Only resets on a clock that stands
/// or steps back bring a time back; then the tag tells 255 laps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u64);

impl Slot {
    /// Never written: as if written in the lap before the first.
    pub(crate) const EMPTY: Slot = Slot(TAG_MASK << TIME_BITS);

    /// The record of the permit at `place`, accepted at `time`.
    #[inline]
    pub(crate) fn record(place: Place, time: Nanos) -> Slot {
        // The shift leaves the low bits of the lap.
        Slot(place.lap << TIME_BITS | time & TIME_MASK)
    }

    /// Whether this is what the lap of `place` has written.
    #[inline]
    pub(crate) fn is_of(self, place: Place) -> bool {
        self.0 >> TIME_BITS == place.lap & TAG_MASK
    }

    /// How long before `reference` the permit was accepted, if that is less than 2^56 ns.
    #[inline]
    pub(crate) fn age(self, reference: Nanos) -> Nanos {
        reference.wrapping_sub(self.0) & TIME_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_age_is_exact_and_the_tag_is_untouched_by_the_time(lap in 0..1_u64 << 16, index in 0..1_u64 << 24, time: u64, age in 0..=TIME_MASK) {
            let place = Place { index, lap };
            let slot = Slot::record(place, time);
            if let Some(reference) = time.checked_add(age) {
                prop_assert_eq!(slot.age(reference), age);
            }
            prop_assert!(slot.is_of(place));
            let other_lap = Place { lap: lap ^ 1, ..place };
            prop_assert!(!slot.is_of(other_lap));
        }
    }

    #[test]
    fn an_empty_slot_is_of_the_lap_before_the_first() {
        let first = Place { index: 0, lap: 0 };
        assert!(!Slot::EMPTY.is_of(first));
        let before = super::super::head::Head::EMPTY.place_of(1, 5);
        assert!(Slot::EMPTY.is_of(before));
    }
}
