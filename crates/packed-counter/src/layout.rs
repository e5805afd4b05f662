//! The word's fields: window index, current count, previous count.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use windowpane_core::one_word::REQUIRED_RANGE;
use windowpane_core::{BuildError, Nanos, Quota, format_nanos};

/// How wide a count is; the index has the rest. Fixed when the limiter is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    count_bits: u32,
}

/// The word, taken apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The window, counted from the limiter's first.
    pub(crate) index: u64,
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
        Ok(Layout { count_bits })
    }

    /// The largest window index.
    #[inline]
    pub(crate) fn last_index(self) -> u64 {
        u64::MAX >> (2 * self.count_bits)
    }

    /// The largest count.
    #[inline]
    pub(crate) fn most(self) -> u64 {
        (1 << self.count_bits) - 1
    }

    #[inline]
    pub(crate) fn pack(self, counts: Counts) -> u64 {
        (counts.index << self.count_bits | counts.current) << self.count_bits | counts.previous
    }

    #[inline]
    pub(crate) fn unpack(self, word: u64) -> Counts {
        let mask = self.most();
        Counts {
            index: word >> (2 * self.count_bits),
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

    fn layout_of(limit: u64) -> Layout {
        Layout {
            count_bits: bits(limit),
        }
    }

    proptest! {
        #[test]
        fn counts_come_back_from_the_word(limit in 0..=u64::from(u32::MAX >> 1), index: u64, current: u64, previous: u64) {
            let layout = layout_of(limit);
            let counts = Counts {
                index: index & layout.last_index(),
                current: current % (limit + 1),
                previous: previous % (limit + 1),
            };
            prop_assert_eq!(layout.unpack(layout.pack(counts)), counts);
        }

        /// One more in one field changes that field alone, up to its largest value.
        #[test]
        fn no_field_carries_into_a_neighbour(limit in 1..=u64::from(u32::MAX >> 1), index: u64) {
            let layout = layout_of(limit);
            let index = index & layout.last_index();
            let full = Counts { index, current: limit, previous: limit };
            for less in [
                Counts { current: limit - 1, ..full },
                Counts { previous: limit - 1, ..full },
                Counts { index: index.saturating_sub(1), ..full },
            ] {
                prop_assert_eq!(layout.unpack(layout.pack(less)), less);
            }
            prop_assert_eq!(layout.unpack(layout.pack(full)), full);
        }
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
