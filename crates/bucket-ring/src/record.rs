//! One slot: a bucket, and the number of permits accepted before it ended.

use crate::head::COUNT_BITS;

const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
/// Bits of the number of a bucket: its low ones. The buckets that a ring counts are within 3,601.
const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
/// The record of a ring in which nothing counts.
const EMPTIED: u64 = 1 << (COUNT_BITS + NUMBER_BITS);

/// The content of a slot: a bucket's number plus the number of resets (its low 24 bits) above the
/// count of all that was accepted up to the bucket's end, modulo 2^39.
///
/// On a clock that does not go back, each bucket and each reset makes the number larger. So a slot
/// holds the same content twice at the earliest when 2^24 buckets and resets and exactly a multiple
/// of 2^39 permits have gone by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record(pub(crate) u64);

impl Record {
    /// Never written. It is also the record of a ring that has accepted nothing, so that a first
    /// request finds its predecessor published.
    pub(crate) const EMPTY: Record = Record(EMPTIED);

    /// The record of bucket `bucket`, after `resets` resets.
    #[inline]
    pub(crate) fn new(bucket: u64, resets: u64, accepted: u64) -> Record {
        let number = bucket.wrapping_add(resets) & NUMBER_MASK;
        Record(number << COUNT_BITS | accepted)
    }

    /// The record under which a ring begins again after `resets` resets. It has no bucket.
    pub(crate) fn emptied(resets: u64, accepted: u64) -> Record {
        Record(EMPTIED | (resets & NUMBER_MASK) << COUNT_BITS | accepted)
    }

    /// How many buckets before `bucket` this one is, if that is less than 2^24 and the ring was
    /// not reset between; `resets` is the number of resets before.
    #[inline]
    pub(crate) fn age(self, bucket: u64, resets: u64) -> u64 {
        bucket
            .wrapping_add(resets)
            .wrapping_sub(self.0 >> COUNT_BITS)
            & NUMBER_MASK
    }

    /// What had been accepted when the bucket ended, modulo 2^39.
    #[inline]
    pub(crate) fn accepted(self) -> u64 {
        self.0 & COUNT_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_keeps_its_age_and_its_count(
            bucket: u64, resets: u64, age in 0..=NUMBER_MASK, accepted in 0..=COUNT_MASK,
        ) {
            let record = Record::new(bucket, resets, accepted);
            prop_assert_eq!(record.accepted(), accepted);
            prop_assert_eq!(record.age(bucket.wrapping_add(age), resets), age);
            let emptied = Record::emptied(resets, accepted);
            prop_assert_eq!(emptied.accepted(), accepted);
            prop_assert_ne!(emptied, record);
        }
    }
}
