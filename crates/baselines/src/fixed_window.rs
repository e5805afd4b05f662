//! The fixed window: a count that starts again at every multiple of the window.

use alloc::format;

use windowpane_core::one_word::{
    ChangeRule, OneWordRule, REQUIRED_RANGE, SettleRule, Verdict, settled_count,
};
use windowpane_core::{BuildError, Nanos, OneWordLimiter, Quota, RequestError};

/// A fixed-window limiter: at most `limit` permits between two multiples of the window.
///
/// One word, one compare-and-swap, and the classic mistake: twice the limit passes around a
/// boundary. It is here to be compared with.
///
/// ```
/// use windowpane_baselines::FixedWindow;
/// use windowpane_core::{Cost, Quotas, RateLimiter};
///
/// let limiter = FixedWindow::new(Quotas::parse(["10/60s"])?)?;
/// let second = 1_000_000_000;
/// assert!(limiter.decide_at(59 * second, Cost::of::<10>())?.is_allowed());
/// assert!(limiter.decide_at(60 * second, Cost::of::<10>())?.is_allowed(), "20 in two seconds");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type FixedWindow = OneWordLimiter<FixedWindowRule>;

/// The rule of [`FixedWindow`]. The word holds the window's index, how far into it the latest
/// acceptance was, and the count in it.
#[derive(Clone, Copy, Debug)]
pub struct FixedWindowRule {
    quota: Quota,
    count_bits: u32,
    /// The bits that neither the count nor the index needs.
    offset_bits: u32,
    /// An offset counts 2^`offset_shift` ns: 1 ns where all of the window has room, the whole window
    /// where no bits are left. Only a change of the quota reads it.
    offset_shift: u32,
    /// When the window of index 0 begins: a multiple of the window.
    base: Nanos,
}

/// A word taken apart.
struct Fields {
    index: u64,
    offset: u64,
    count: u64,
}

/// A word taken apart and rolled on to some time.
struct Now {
    index: u64,
    count: u64,
    /// The time, or the recorded window's start where that is later.
    at: Nanos,
    /// When the window of `at` began.
    start: Nanos,
}

impl FixedWindowRule {
    /// The rule for `quota` in a word that has room for a count of `most`, which may be above the
    /// limit.
    fn holding(quota: Quota, start: Nanos, most: u64) -> Result<Self, BuildError> {
        let count_bits = bits(quota.limit().max(most)).max(1);
        let covers = |count_bits: u32| match u64::BITS - count_bits {
            0 => 0,
            // One window less than there are: the first may have begun before the start.
            index_bits => ((1_u128 << index_bits) - 1) * u128::from(quota.window()),
        };
        if covers(count_bits) < REQUIRED_RANGE {
            let fits = (1..64).rev().find(|bits| covers(*bits) >= REQUIRED_RANGE);
            return Err(BuildError::RangeTooShort {
                algorithm: Self::NAME,
                quota,
                covers: covers(count_bits),
                fits: fits.map_or_else(
                    || "take mutex-log, which has no such bound".into(),
                    |bits| {
                        format!(
                            "with this window the limit can be up to {}; mutex-log has no such bound",
                            (1_u64 << bits) - 1
                        )
                    },
                ),
            });
        }
        let window_bits = bits(quota.window() - 1);
        // No time needs a larger index.
        let index_bits = bits(u64::MAX / quota.window()).min(u64::BITS - count_bits);
        let offset_bits = (u64::BITS - count_bits - index_bits).min(window_bits);
        Ok(FixedWindowRule {
            quota,
            count_bits,
            offset_bits,
            offset_shift: window_bits - offset_bits,
            base: start - start % quota.window(),
        })
    }

    fn last_index(&self) -> u64 {
        u64::MAX >> (self.count_bits + self.offset_bits)
    }

    fn last_instant(&self) -> Nanos {
        let windows = u128::from(self.last_index()) + 1;
        let end = u128::from(self.base) + windows * u128::from(self.quota.window()) - 1;
        u64::try_from(end).unwrap_or(u64::MAX)
    }

    #[inline]
    fn unpack(&self, word: u64) -> Fields {
        Fields {
            index: word >> (self.count_bits + self.offset_bits),
            offset: word >> self.count_bits & ((1 << self.offset_bits) - 1),
            count: word & self.most(),
        }
    }

    #[inline]
    fn pack(&self, fields: Fields) -> u64 {
        self.join(
            fields.index << self.offset_bits | fields.offset,
            fields.count,
        )
    }

    /// The word of a time, an index above an offset, and a count.
    #[inline]
    fn join(&self, time: u64, count: u64) -> u64 {
        time << self.count_bits | count
    }

    /// When the window of `index` begins.
    #[inline]
    fn start(&self, index: u64) -> Nanos {
        // Cannot overflow: the index was computed by a division of a u64 time.
        self.base + index * self.quota.window()
    }

    /// The latest time at which anything that is counted can have been accepted, or the window's
    /// start if nothing is counted.
    fn latest(&self, fields: &Fields) -> Nanos {
        let after = match fields.count {
            0 => 0,
            _ => (((fields.offset + 1) << self.offset_shift) - 1).min(self.quota.window() - 1),
        };
        self.start(fields.index).saturating_add(after)
    }

    /// The largest count there is room for.
    #[inline]
    fn most(&self) -> u64 {
        (1 << self.count_bits) - 1
    }

    /// A time before the recorded window is read as that window's start.
    #[inline]
    fn roll(&self, word: u64, now: Nanos) -> Result<Now, RequestError> {
        let window = self.quota.window();
        let Fields { index, count, .. } = self.unpack(word);
        let start = self.start(index);
        let at = now.max(start);
        if at - start < window {
            return Ok(Now {
                index,
                count,
                at,
                start,
            });
        }
        let windows = (at - start) / window;
        if windows > self.last_index() - index {
            return Err(RequestError::TimeOutOfRange {
                now,
                last: self.last_instant(),
            });
        }
        Ok(Now {
            index: index + windows,
            count: 0,
            at,
            start: start + windows * window,
        })
    }
}

impl OneWordRule for FixedWindowRule {
    const NAME: &'static str = "fixed-window";

    fn new(quota: Quota, start: Nanos) -> Result<Self, BuildError> {
        FixedWindowRule::holding(quota, start, 0)
    }

    #[inline]
    fn quota(&self) -> Quota {
        self.quota
    }

    #[inline]
    fn decide(&self, word: u64, now: Nanos, charge: u64) -> Result<Verdict, RequestError> {
        let rolled = self.roll(word, now)?;
        // What was settled upward, or a lowered limit, may have left a count above the limit.
        if charge <= self.quota.limit().saturating_sub(rolled.count) {
            // The later one: the window is not before the word's.
            let offset = (rolled.at - rolled.start) >> self.offset_shift;
            let time = rolled.index << self.offset_bits | offset;
            return Ok(Verdict::Allowed {
                at: rolled.at,
                word: self.join(time.max(word >> self.count_bits), rolled.count + charge),
            });
        }
        // Told on the caller's clock, which may be behind `at`.
        let wait =
            (self.quota.window() - (rolled.at - rolled.start)).saturating_add(rolled.at - now);
        Ok(Verdict::Denied { retry_after: wait })
    }

    fn remaining(&self, word: u64, now: Nanos) -> u64 {
        self.roll(word, now)
            .map_or(0, |now| self.quota.limit().saturating_sub(now.count))
    }

    fn is_idle(&self, word: u64, now: Nanos) -> bool {
        self.roll(word, now).is_ok_and(|now| now.count == 0)
    }

    /// The end of the recorded window, or its start if nothing is counted in it.
    fn idle_from(&self, word: u64) -> Option<Nanos> {
        let Fields { index, count, .. } = self.unpack(word);
        let index = index + u64::from(count > 0);
        let since = index.checked_mul(self.quota.window())?;
        let from = self.base.checked_add(since)?;
        (index <= self.last_index()).then_some(from)
    }
}

/// Exact by the rule, up to the largest count that as many bits as the limit has can hold: what a
/// window is charged beyond that is not remembered.
impl SettleRule for FixedWindowRule {
    fn settle(&self, word: u64, at: Nanos, charged: u64, actual: u64) -> u64 {
        let fields = self.unpack(word);
        match at.checked_sub(self.start(fields.index)) {
            Some(since) if since < self.quota.window() => self.pack(Fields {
                count: settled_count(fields.count, charged, actual, self.most()),
                ..fields
            }),
            _ => word,
        }
    }
}

/// Keeps the count of the window in which the change falls: as it is under the same window, and as
/// accepted at the change under another.
///
/// A change at a time before the latest acceptance counts as made then. The word holds that time in
/// units of at most 4 ns × the limit, and never in more than a window: a count can be kept for so
/// long beyond what the new window asks for.
impl ChangeRule for FixedWindowRule {
    fn changed(&self, word: u64, now: Nanos, quota: Quota) -> Result<(Self, u64), BuildError> {
        let fields = self.unpack(word);
        let at = now.max(self.latest(&fields));
        let count = match at - self.start(fields.index) < self.quota.window() {
            true => fields.count,
            false => 0,
        };
        let rule = FixedWindowRule::holding(quota, at, count)?;
        // Nothing accepted is 0, whatever the time.
        let offset = match count {
            0 => 0,
            _ => (at - rule.base) >> rule.offset_shift,
        };
        let word = rule.pack(Fields {
            index: 0,
            offset,
            count,
        });
        Ok((rule, word))
    }
}

/// The bits of a number up to `most`.
fn bits(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}
