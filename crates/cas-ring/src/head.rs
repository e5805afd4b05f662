//! The head word: where the ring stands, in 128 bits.

use windowpane_core::Nanos;

/// Bits of an index into the slots, and of a number of slots.
const INDEX_BITS: u32 = 24;
/// Bits of the lap.
const LAP_BITS: u32 = 16;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const LAP_MASK: u64 = (1 << LAP_BITS) - 1;

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
    /// The place `steps` later, at most one lap.
    #[inline]
    pub(crate) fn forward(self, steps: u64, capacity: u64) -> Place {
        let index = self.index + steps;
        if index < capacity {
            Place { index, ..self }
        } else {
            Place {
                index: index - capacity,
                lap: (self.lap + 1) & LAP_MASK,
            }
        }
    }

    /// The place `steps` earlier, at most one lap.
    #[inline]
    pub(crate) fn back(self, steps: u64, capacity: u64) -> Place {
        if steps <= self.index {
            Place {
                index: self.index - steps,
                ..self
            }
        } else {
            Place {
                index: self.index + capacity - steps,
                lap: self.lap.wrapping_sub(1) & LAP_MASK,
            }
        }
    }
}

/// Where the ring stands. One 128-bit word, so that claiming permits and saying when is one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The latest recorded time: when the newest permit was accepted; 0 before the first.
    pub(crate) time: Nanos,
    /// The place that the next permit takes; the newest is the one before it.
    pub(crate) next: Place,
    /// How many of the newest permits count, at most the capacity. What is older was forgotten,
    /// because it had left every window or by a reset.
    pub(crate) filled: u64,
}

impl Head {
    /// Nothing accepted.
    pub(crate) const EMPTY: Head = Head {
        time: 0,
        next: Place { index: 0, lap: 0 },
        filled: 0,
    };

    #[inline]
    pub(crate) fn to_bits(self) -> u128 {
        let low = self.filled | self.next.index << INDEX_BITS | self.next.lap << (2 * INDEX_BITS);
        u128::from(self.time) << 64 | u128::from(low)
    }

    #[inline]
    pub(crate) fn from_bits(bits: u128) -> Head {
        let low = bits as u64;
        Head {
            time: (bits >> 64) as u64,
            next: Place {
                index: low >> INDEX_BITS & INDEX_MASK,
                lap: low >> (2 * INDEX_BITS),
            },
            filled: low & INDEX_MASK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Packing is exact, and no field carries into a neighbour.
        #[test]
        fn a_head_comes_back_from_its_bits(time: u64, index in 0..=INDEX_MASK, lap in 0..=LAP_MASK, filled in 0..=MAX_CAPACITY) {
            let head = Head { time, next: Place { index, lap }, filled };
            prop_assert_eq!(Head::from_bits(head.to_bits()), head);
        }

        #[test]
        fn forward_and_back_undo_each_other(capacity in 1..=MAX_CAPACITY, index: u64, lap in 0..=LAP_MASK, steps: u64) {
            let place = Place { index: index % capacity, lap };
            let steps = steps % (capacity + 1);
            let there = place.forward(steps, capacity);
            prop_assert!(there.index < capacity && there.lap <= LAP_MASK);
            prop_assert_eq!(there.back(steps, capacity), place);
        }
    }
}
