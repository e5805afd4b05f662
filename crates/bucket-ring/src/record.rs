//! One slot: a bucket, and what had been accepted when it ended.

use crate::head::COUNT_BITS;

const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
/// Bits of the bucket's number: its low ones. What a ring counts lies within 3,601 buckets.
const BUCKET_MASK: u64 = u64::MAX >> COUNT_BITS;

/// What a slot holds: the low bits of a bucket's number above the count of all that was accepted
/// up to the bucket's end, modulo 2^40.
///
/// Both only grow, so a slot holds the same value twice at the earliest when exactly a multiple of
/// 2^40 permits and of 2^24 buckets have gone by: no thread sleeps through that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record(pub(crate) u64);

impl Record {
    /// Never written. It is also the record of a ring that has accepted nothing, so that a first
    /// request finds its predecessor in place.
    pub(crate) const EMPTY: Record = Record(0);

    #[inline]
    pub(crate) fn new(bucket: u64, accepted: u64) -> Record {
        // The shift leaves the low bits of the number.
        Record(bucket << COUNT_BITS | accepted)
    }

    /// How many buckets before `bucket` this one is, if that is less than 2^24.
    #[inline]
    pub(crate) fn age(self, bucket: u64) -> u64 {
        bucket.wrapping_sub(self.0 >> COUNT_BITS) & BUCKET_MASK
    }

    /// What had been accepted when the bucket ended, modulo 2^40.
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
        fn a_record_keeps_its_age_and_its_count(bucket: u64, age in 0..=BUCKET_MASK, accepted in 0..=COUNT_MASK) {
            let record = Record::new(bucket, accepted);
            prop_assert_eq!(record.accepted(), accepted);
            if let Some(later) = bucket.checked_add(age) {
                prop_assert_eq!(record.age(later), age);
            }
        }
    }
}
