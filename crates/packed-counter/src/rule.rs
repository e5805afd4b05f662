//! The two-window rule, in integers.

use windowpane_core::one_word::{ChangeRule, OneWordRule, SettleRule, Verdict, settled_count};
use windowpane_core::{BuildError, Nanos, Quota, RequestError};

use super::layout::{Counts, Layout};

/// The two-window rule: with `e` of the current window elapsed,
/// `previous × (window − e) / window + current + cost ≤ limit`, compared without rounding.
#[derive(Clone, Copy, Debug)]
pub struct TwoWindowRule {
    quota: Quota,
    layout: Layout,
    /// When the window of index 0 begins: a multiple of the window.
    base: Nanos,
}

/// The counts as they stand at some time, and how much of the current window is elapsed then.
#[derive(Clone, Copy)]
struct Now {
    counts: Counts,
    elapsed: Nanos,
    at: Nanos,
}

impl TwoWindowRule {
    /// The counts of `word` rolled on to `now`. A time before the recorded window is read as that
    /// window's start, an earlier one inside it as it is: both are stricter, never looser.
    #[inline]
    fn roll(&self, word: u64, now: Nanos) -> Result<Now, RequestError> {
        let window = self.quota.window();
        let counts = self.layout.unpack(word);
        let start = self.start(counts.index);
        let at = now.max(start);
        let since = at - start;
        if since < window {
            return Ok(Now {
                counts,
                elapsed: since,
                at,
            });
        }
        let rolled = self.later(counts, at, since);
        if rolled.counts.index > self.layout.last_index() {
            return Err(RequestError::TimeOutOfRange {
                now,
                last: self.last_instant(),
            });
        }
        Ok(rolled)
    }

    /// The counts in a later window than theirs, at `at`, which is `since` after theirs began. The
    /// index can be one that the word has no room for.
    #[inline]
    fn later(&self, counts: Counts, at: Nanos, since: Nanos) -> Now {
        let windows = since / self.quota.window();
        let previous = if windows == 1 { counts.current } else { 0 };
        Now {
            counts: Counts {
                index: counts.index + windows,
                offset: 0,
                current: 0,
                previous,
            },
            elapsed: since - windows * self.quota.window(),
            at,
        }
    }

    /// When the window of `index` begins.
    #[inline]
    fn start(&self, index: u64) -> Nanos {
        // Cannot overflow: the index was computed by a division of a u64 time.
        self.base + index * self.quota.window()
    }

    /// The latest time at which anything that `word` counts can have been accepted, or the start of
    /// its window if nothing is counted in that.
    fn latest(&self, word: u64) -> Nanos {
        let counts = self.layout.unpack(word);
        let after = match counts.current {
            0 => 0,
            _ => (self.layout.latest(counts.offset)).min(self.quota.window() - 1),
        };
        self.start(counts.index).saturating_add(after)
    }

    fn last_instant(&self) -> Nanos {
        let windows = u128::from(self.layout.last_index()) + 1;
        let end = u128::from(self.base) + windows * u128::from(self.quota.window()) - 1;
        u64::try_from(end).unwrap_or(u64::MAX)
    }

    /// How much of the window must be elapsed until `previous` weighs at most `room`: the smallest
    /// `e` with `previous × (window − e) ≤ room × window`. Equal to the window if nothing less does.
    #[inline]
    fn elapsed_until(&self, previous: u64, room: u64) -> Nanos {
        if previous <= room {
            return 0;
        }
        let window = self.quota.window();
        // room < previous, so the quotient is below the window.
        let weight = match room.checked_mul(window) {
            Some(product) => product / previous,
            None => (u128::from(room) * u128::from(window) / u128::from(previous)) as u64,
        };
        window - weight
    }

    /// The smallest wait from `now.at` after which `charge` fits, which it does not yet.
    fn wait(&self, now: Now, charge: u64) -> Nanos {
        let Counts {
            current, previous, ..
        } = now.counts;
        let (limit, window) = (self.quota.limit(), self.quota.window());
        if let Some(room) = limit.checked_sub(current + charge) {
            let elapsed = self.elapsed_until(previous, room);
            // At the very end of this window the next one begins, and the rule for it (the current
            // count whole as the previous one) says the same.
            return elapsed - now.elapsed;
        }
        (window - now.elapsed) + self.elapsed_until(current, limit - charge)
    }
}

impl OneWordRule for TwoWindowRule {
    const NAME: &'static str = "packed-counter";

    fn new(quota: Quota, start: Nanos) -> Result<Self, BuildError> {
        Ok(TwoWindowRule {
            quota,
            layout: Layout::new(Self::NAME, quota)?,
            base: start - start % quota.window(),
        })
    }

    #[inline]
    fn quota(&self) -> Quota {
        self.quota
    }

    #[inline]
    fn decide(&self, word: u64, now: Nanos, charge: u64) -> Result<Verdict, RequestError> {
        let rolled = self.roll(word, now)?;
        let Counts {
            current, previous, ..
        } = rolled.counts;
        let window = u128::from(self.quota.window());
        let overlap = u128::from(self.quota.window() - rolled.elapsed);
        // The counts are below 2^31 and a window is below 2^55.
        let weighted = u128::from(previous) * overlap + u128::from(current + charge) * window;
        if weighted <= u128::from(self.quota.limit()) * window {
            let offset = self.layout.offset(rolled.elapsed);
            let counts = Counts {
                offset: offset.max(rolled.counts.offset),
                current: current + charge,
                ..rolled.counts
            };
            return Ok(Verdict::Allowed {
                at: rolled.at,
                word: self.layout.pack(counts),
            });
        }
        // Told on the caller's clock, which may be behind.
        let wait = self.wait(rolled, charge).saturating_add(rolled.at - now);
        Ok(Verdict::Denied { retry_after: wait })
    }

    fn remaining(&self, word: u64, now: Nanos) -> u64 {
        let Ok(Now {
            counts, elapsed, ..
        }) = self.roll(word, now)
        else {
            return 0;
        };
        let window = u128::from(self.quota.window());
        let overlap = window - u128::from(elapsed);
        let weight = (u128::from(counts.previous) * overlap).div_ceil(window) as u64;
        self.quota.limit().saturating_sub(counts.current + weight)
    }

    fn is_idle(&self, word: u64, now: Nanos) -> bool {
        self.roll(word, now)
            .is_ok_and(|now| now.counts.current == 0 && now.counts.previous == 0)
    }

    /// The start of the first window in which no count weighs.
    fn idle_from(&self, word: u64) -> Option<Nanos> {
        let counts = self.layout.unpack(word);
        let index = match counts {
            Counts { current: 1.., .. } => counts.index + 2,
            Counts { previous: 1.., .. } => counts.index + 1,
            _ => counts.index,
        };
        let since = index.checked_mul(self.quota.window())?;
        let from = self.base.checked_add(since)?;
        (index <= self.layout.last_index()).then_some(from)
    }
}

/// Exact by the rule, up to the largest count that as many bits as the limit has can hold: what a
/// window is charged beyond that is not remembered.
impl SettleRule for TwoWindowRule {
    fn settle(&self, word: u64, at: Nanos, charged: u64, actual: u64) -> u64 {
        let window = self.quota.window();
        let counts = self.layout.unpack(word);
        let start = self.start(counts.index);
        let settled = |count| settled_count(count, charged, actual, self.layout.most());
        let is_current = at.checked_sub(start).is_some_and(|since| since < window);
        let is_previous = start
            .checked_sub(at)
            .is_some_and(|before| (1..=window).contains(&before));
        self.layout.pack(Counts {
            current: if is_current {
                settled(counts.current)
            } else {
                counts.current
            },
            previous: if is_previous {
                settled(counts.previous)
            } else {
                counts.previous
            },
            ..counts
        })
    }
}

/// Under the same window both counts stay as they are. Under another, what the rule counts at the
/// change (the previous count weighted and rounded up, and the current one) is counted as accepted at
/// the change: later than it was, so never too little.
///
/// A change at a time before the latest acceptance counts as made then. The word holds that time in
/// units of at most 8 ns × the limit squared, and never in more than a window: a count can be kept
/// for so long beyond what the new window asks for.
impl ChangeRule for TwoWindowRule {
    fn changed(&self, word: u64, now: Nanos, quota: Quota) -> Result<(Self, u64), BuildError> {
        // A change is also a way on for a counter whose range is over.
        let Now {
            mut counts,
            elapsed,
            at,
        } = self.roll(word, now).unwrap_or_else(|_| {
            let counts = self.layout.unpack(word);
            self.later(counts, now, now - self.start(counts.index))
        });
        let at = at.max(self.latest(word));
        if quota.window() != self.quota.window() {
            let window = u128::from(self.quota.window());
            let overlap = window - u128::from(elapsed);
            let weight = (u128::from(counts.previous) * overlap).div_ceil(window) as u64;
            counts.current += weight;
            counts.previous = 0;
        }
        let most = counts.current.max(counts.previous);
        let rule = TwoWindowRule {
            quota,
            layout: Layout::holding(Self::NAME, quota, most)?,
            base: at - at % quota.window(),
        };
        counts.index = 0;
        // Nothing accepted is 0, whatever the time.
        counts.offset = match counts.current {
            0 => 0,
            _ => rule.layout.offset(at - rule.base),
        };
        Ok((rule, rule.layout.pack(counts)))
    }
}
