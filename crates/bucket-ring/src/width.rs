//! The width of a bucket, and windows measured in it.

use windowpane_core::Nanos;

/// How long a bucket is, in nanoseconds.
///
/// Bucket `b` holds the times from `b × width` to `(b + 1) × width − 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width(Nanos);

/// Where a time falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The bucket.
    pub(crate) bucket: u64,
    /// How far into the bucket.
    pub(crate) offset: Nanos,
}

impl Width {
    /// A width of at least 1 ns.
    pub(crate) fn new(nanos: Nanos) -> Width {
        Width(nanos)
    }

    #[inline]
    pub(crate) fn nanos(self) -> Nanos {
        self.0
    }

    #[inline]
    pub(crate) fn locate(self, time: Nanos) -> Moment {
        Moment {
            bucket: time / self.0,
            offset: time % self.0,
        }
    }

    /// When the bucket ends.
    pub(crate) fn last_instant(self, bucket: u64) -> Nanos {
        // The last bucket of u64 nanoseconds can end after them.
        let end = (u128::from(bucket) + 1) * u128::from(self.0) - 1;
        u64::try_from(end).unwrap_or(u64::MAX)
    }

    /// Cold-path version of `locate`.
    #[cold]
    pub(crate) fn locate_rarely(self, time: Nanos) -> Moment {
        self.locate(time)
    }
}

/// A window, measured in buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The fewest buckets that are as long as the window.
    buckets: u64,
    /// By how much they are longer.
    surplus: Nanos,
}

impl Span {
    pub(crate) fn new(window: Nanos, width: Width) -> Span {
        let buckets = window.div_ceil(width.nanos());
        Span {
            buckets,
            surplus: buckets * width.nanos() - window,
        }
    }

    /// The oldest bucket that counts at `moment`: the first that ends after `time − window`.
    ///
    /// That is bucket `(time + 1 − window) / width`, here without a second division, or 0 where a
    /// window reaches back before time 0.
    #[inline]
    pub(crate) fn oldest(self, width: Width, moment: Moment) -> u64 {
        let one_has_left = moment.offset + 1 + self.surplus >= width.nanos();
        moment
            .bucket
            .saturating_sub(self.buckets - u64::from(one_has_left))
    }

    /// The window itself.
    #[inline]
    pub(crate) fn window(self, width: Width) -> Nanos {
        self.buckets * width.nanos() - self.surplus
    }

    /// The most buckets that count at once: the window's own and the one that the edge cuts.
    pub(crate) fn most(self) -> u64 {
        self.buckets + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use windowpane_core::MAX_WINDOW;

    fn width() -> impl Strategy<Value = Nanos> {
        prop_oneof![
            1..10_u64,
            1..=MAX_WINDOW,
            (0..55_u32).prop_map(|bits| 1 << bits)
        ]
    }

    fn time() -> impl Strategy<Value = Nanos> {
        prop_oneof![any::<u64>(), 0..1_000_u64, u64::MAX - 1_000..=u64::MAX]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn the_oldest_bucket_is_the_first_that_ends_after_the_windows_edge(
            nanos in width(), window in 1..=MAX_WINDOW, time in time(),
        ) {
            // At most 3,600 buckets, as a ring has.
            let nanos = nanos.max(window / 3_600);
            let width = Width::new(nanos);
            let span = Span::new(window, width);
            let oldest = span.oldest(width, width.locate(time));
            let (nanos, window, time) = (i128::from(nanos), i128::from(window), i128::from(time));
            let counts = |bucket: i128| (bucket + 1) * nanos - 1 > time - window;
            prop_assert!(counts(i128::from(oldest)));
            prop_assert!(oldest == 0 || !counts(i128::from(oldest) - 1));
            let now = time / nanos;
            prop_assert_eq!(i128::from(span.window(width)), window);
            prop_assert!(now - i128::from(oldest) < i128::from(span.most()));
        }

        /// Its last instant, too, where it ends beyond the last time there is.
        #[test]
        fn a_bucket_ends_one_instant_before_the_next(nanos in width(), time in time()) {
            let width = Width::new(nanos);
            let bucket = width.locate(time).bucket;
            let last = width.last_instant(bucket);
            prop_assert!(last >= time);
            prop_assert_eq!(width.locate(last).bucket, bucket);
            let next = last.checked_add(1).map(|after| width.locate(after).bucket);
            prop_assert!(next.is_none_or(|next| next == bucket + 1));
        }
    }
}
