//! The word's fields: window index, offset of the latest acceptance, current count, previous count.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use windowpane_core::one_word::REQUIRED_RANGE;
use windowpane_core::{BuildError, Nanos, Quota, format_nanos};

/// How wide a count and an offset are; the index has the rest. Fixed when the limiter is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    count_bits: u32,
    /// The bits that neither the counts nor the index needs.
    offset_bits: u32,
    /// An offset counts 2^`offset_shift` ns: 1 ns where all of the window has room, the whole window
    /// where no bits are left.
    offset_shift: u32,
}

/// The word, taken apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The window, counted from the limiter's first.
    pub(crate) index: u64,
    /// How far into it the latest acceptance was, in the layout's units. Only a change of the quota
    /// reads it.
    pub(crate) offset: u64,
    /// Accepted in it.
    pub(crate) current: u64,
    /// Accepted in the window before.
    pub(crate) previous: u64,
}

impl Layout {
    /// The layout for `quota`.
    ///
    /// # Errors
    /// [`BuildError::RangeTooShort`] unless the index lasts ten years.
    pub(crate) fn new(algorithm: &'static str, quota: Quota) -> Result<Layout, BuildError> {
        Layout::holding(algorithm, quota, 0)
    }

    /// The layout for `quota` in which a count of `most` has room too.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn holding(
        algorithm: &'static str,
        quota: Quota,
        most: u64,
    ) -> Result<Layout, BuildError> {
        let count_bits = bits(quota.limit().max(most));
        let covers = covers(count_bits, quota.window());
        if covers < REQUIRED_RANGE {
            return Err(BuildError::RangeTooShort {
                algorithm,
                quota,
                covers,
                fits: what_fits(quota),
            });
        }
        let window_bits = u64::BITS - (quota.window() - 1).leading_zeros();
        // No time needs a larger index.
        let index_bits = bits(u64::MAX / quota.window()).min(u64::BITS - 2 * count_bits);
        let offset_bits = (u64::BITS - 2 * count_bits - index_bits).min(window_bits);
        Ok(Layout {
            count_bits,
            offset_bits,
            offset_shift: window_bits - offset_bits,
        })
    }

    /// The largest window index.
    #[inline]
    pub(crate) fn last_index(self) -> u64 {
        u64::MAX >> (2 * self.count_bits + self.offset_bits)
    }

    /// The offset of a time that is `since` after its window began.
    #[inline]
    pub(crate) fn offset(self, since: Nanos) -> u64 {
        since >> self.offset_shift
    }

    /// How long after its window began a time of this offset is at most.
    pub(crate) fn latest(self, offset: u64) -> Nanos {
        ((offset + 1) << self.offset_shift) - 1
    }

    /// The largest count.
    #[inline]
    pub(crate) fn most(self) -> u64 {
        (1 << self.count_bits) - 1
    }

    #[inline]
    pub(crate) fn pack(self, counts: Counts) -> u64 {
        let time = counts.index << self.offset_bits | counts.offset;
        (time << self.count_bits | counts.current) << self.count_bits | counts.previous
    }

    #[inline]
    pub(crate) fn unpack(self, word: u64) -> Counts {
        let mask = self.most();
        Counts {
            index: word >> (2 * self.count_bits + self.offset_bits),
            offset: word >> (2 * self.count_bits) & ((1 << self.offset_bits) - 1),
            current: word >> self.count_bits & mask,
            previous: word & mask,
        }
    }
}

/// Bits of a count up to `limit`.
fn bits(limit: u64) -> u32 {
    (u64::BITS - limit.leading_zeros()).max(1)
}

/// How long an index beside two counts of `count_bits` lasts, in nanoseconds.
fn covers(count_bits: u32, window: Nanos) -> u128 {
    match 64_u32.checked_sub(2 * count_bits) {
        // One window less than there are: the first may have begun before the start.
        Some(index_bits @ 1..) => ((1_u128 << index_bits) - 1) * u128::from(window),
        _ => 0,
    }
}

/// What to change so that `quota` fits, as text.
fn what_fits(quota: Quota) -> String {
    let limit_that_fits = (1..=31)
        .rev()
        .find(|bits| covers(*bits, quota.window()) >= REQUIRED_RANGE)
        .map(|bits| (1_u64 << bits) - 1);
    let shortest = |count_bits| REQUIRED_RANGE.div_ceil(covers(count_bits, 1));
    let window_that_fits = (bits(quota.limit()) <= 31).then(|| shortest(bits(quota.limit())));
    let limit = limit_that_fits.map(|limit| {
        format!(
            "with this window the limit can be up to {limit}/{}",
            format_nanos(quota.window())
        )
    });
    let window = window_that_fits
        .and_then(|window| u64::try_from(window).ok())
        .filter(|window| *window <= windowpane_core::MAX_WINDOW)
        .map(|window| {
            format!(
                "with this limit the window can be {} or longer",
                format_nanos(window)
            )
        });
    let exact = "mutex-log has no such bound".to_string();
    [limit, window, Some(exact)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use windowpane_core::Unit;

    /// The layout of `limit` beside an offset as wide as `seed` says, zero bits among them.
    fn layout_of(limit: u64, seed: u32) -> Layout {
        let count_bits = bits(limit);
        Layout {
            count_bits,
            offset_bits: seed % (u64::BITS - 2 * count_bits),
            offset_shift: 0,
        }
    }

    fn offset_of(layout: Layout, offset: u64) -> u64 {
        offset & ((1 << layout.offset_bits) - 1)
    }

    proptest! {
        #[test]
        fn counts_come_back_from_the_word(limit in 0..=u64::from(u32::MAX >> 1), seed: u32, index: u64, offset: u64, current: u64, previous: u64) {
            let layout = layout_of(limit, seed);
            let counts = Counts {
                index: index & layout.last_index(),
                offset: offset_of(layout, offset),
                current: current % (limit + 1),
                previous: previous % (limit + 1),
            };
            prop_assert_eq!(layout.unpack(layout.pack(counts)), counts);
        }

        /// One more in one field changes that field alone, up to its largest value.
        #[test]
        fn no_field_carries_into_a_neighbour(limit in 1..=u64::from(u32::MAX >> 1), seed: u32, index: u64) {
            let layout = layout_of(limit, seed);
            let index = index & layout.last_index();
            let offset = offset_of(layout, u64::MAX);
            let full = Counts { index, offset, current: limit, previous: limit };
            for less in [
                Counts { current: limit - 1, ..full },
                Counts { previous: limit - 1, ..full },
                Counts { offset: offset.saturating_sub(1), ..full },
                Counts { index: index.saturating_sub(1), ..full },
            ] {
                prop_assert_eq!(layout.unpack(layout.pack(less)), less);
            }
            prop_assert_eq!(layout.unpack(layout.pack(full)), full);
        }
    }

    /// Every time of a window lies between the start and the end that its offset stands for.
    #[test]
    fn an_offset_holds_its_times_in_any_layout() {
        let limits = (0..=31).map(|bits| (1_u64 << bits) - 1);
        let windows =
            (0..=54).flat_map(|bits| [1_u64 << bits, (1 << bits) + 1, (1 << bits) * 3 / 2]);
        let quotas = limits.flat_map(|limit| windows.clone().map(move |window| (limit, window)));
        let mut held = 0;
        for (limit, window) in quotas {
            let quota = Quota::from_nanos(limit, window, Unit::Permits).unwrap();
            let Ok(layout) = Layout::new("", quota) else {
                continue;
            };
            held += 1;
            for since in [0, window / 3, window / 2, window - 1] {
                let offset = layout.offset(since);
                assert_eq!(offset_of(layout, offset), offset, "{quota} {since}");
                assert!(layout.latest(offset) >= since, "{quota} {since}");
                assert!(layout.latest(offset) - since < 1 << layout.offset_shift);
            }
            // Every index that a time has, or all bits that the counts leave.
            let counts = 2 * layout.count_bits;
            assert!(
                layout.last_index() >= u64::MAX / window
                    || layout.last_index() == u64::MAX >> counts,
                "{quota}"
            );
        }
        assert!(held > 1_000, "{held}");
    }

    #[test]
    fn what_is_refused_says_what_fits_and_that_fits() {
        let quota = Quota::from_nanos(1_000, 17_000, Unit::Permits).unwrap();
        let error = Layout::new("packed-counter", quota).unwrap_err();
        assert_eq!(
            error.to_string(),
            "packed-counter cannot hold 1000/17us in one word: its time would run out after 9 years, and ten years \
             are required; with this window the limit can be up to 511/17us; with this limit the window can be \
             17941ns or longer; mutex-log has no such bound"
        );
        let fits = |limit, window| {
            Layout::new("", Quota::from_nanos(limit, window, Unit::Permits).unwrap()).is_ok()
        };
        assert!(fits(511, 17_000) && !fits(512, 17_000));
        assert!(fits(1_000, 17_941) && !fits(1_000, 17_940));
    }

    #[test]
    fn a_count_of_half_the_word_is_refused_and_nothing_overflows() {
        for limit in [u64::from(u32::MAX), u64::MAX] {
            let quota = Quota::from_nanos(limit, 1_000_000_000, Unit::Permits).unwrap();
            let error = Layout::new("packed-counter", quota)
                .unwrap_err()
                .to_string();
            assert!(error.contains("the limit can be up to"), "{error}");
        }
    }
}
