//! GCRA, the token bucket told by one time: what most libraries run.

use alloc::format;

use windowpane_core::one_word::{ChangeRule, OneWordRule, REQUIRED_RANGE, Verdict};
use windowpane_core::{BuildError, Cost, Nanos, OneWordLimiter, Quota, RequestError};

/// A token bucket by the generic cell rate algorithm: a burst at once, then a permit each
/// `T = ceil(window / limit)`.
///
/// One quota, any cost; O(1); a denial writes nothing; one word a key. It is no window: beside the
/// burst it lets the rate through, so up to `burst + limit − 1` in one window. Times are taken as
/// they are, earlier ones too: that is stricter, never looser. Any `start` does: the word holds a
/// time on the caller's clock.
///
/// ```
/// use windowpane_baselines::Gcra;
/// use windowpane_core::{Cost, Quotas, RateLimiter};
///
/// let limiter = Gcra::new(Quotas::parse(["60/60s"])?)?;
/// assert!(limiter.decide_at(0, Cost::of::<60>())?.is_allowed());
/// let second = 1_000_000_000;
/// assert!(limiter.decide_at(second, Cost::ONE)?.is_allowed(), "61 within a second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Gcra = OneWordLimiter<GcraRule>;

/// The rule of [`Gcra`]: `max(TAT, now) + charge × T − now ≤ burst × T`.
///
/// The word is the theoretical arrival time (TAT): when all that was accepted would have been
/// accepted at the bare rate. 0 stands for nothing accepted; an acceptance always leaves more.
#[derive(Clone, Copy, Debug)]
pub struct GcraRule {
    quota: Quota,
    burst: u64,
    /// T: how long a permit takes to come back.
    interval: Nanos,
    /// How far the TAT may be ahead of the clock: burst × T.
    tolerance: Nanos,
    /// How far the TAT is ahead of a clock that does not step back: the tolerance, or more where a
    /// change lowered the limit below what was out.
    most_ahead: Nanos,
}

impl GcraRule {
    /// The rule with a burst other than the limit: at most `burst` permits at once.
    ///
    /// A burst above the limit is saved up for over several windows; one request still costs at
    /// most the limit.
    ///
    /// ```
    /// use windowpane_baselines::{Gcra, GcraRule};
    /// use windowpane_core::{Cost, RateLimiter};
    ///
    /// let limiter = Gcra::with_rule(GcraRule::with_burst("60/60s".parse()?, Cost::ONE)?);
    /// assert!(limiter.decide_at(0, Cost::ONE)?.is_allowed());
    /// let denied = limiter.decide_at(0, Cost::ONE)?;
    /// assert_eq!(denied.retry_after().unwrap().as_secs(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::LimitTooLarge`] above one permit a nanosecond; [`BuildError::RangeTooShort`]
    /// if the burst takes so long to come back that less than ten years of `u64` nanoseconds are
    /// left before it.
    pub fn with_burst(quota: Quota, burst: Cost) -> Result<GcraRule, BuildError> {
        if quota.limit() > quota.window() {
            return Err(BuildError::LimitTooLarge {
                algorithm: Self::NAME,
                limit: quota.limit(),
                max: quota.window(),
                instead: "mutex-log",
            });
        }
        // With a limit of 0 nothing is ever decided here.
        let interval = quota.window().div_ceil(quota.limit().max(1));
        let burst = burst.get();
        let covers = |burst: u64| {
            u128::from(u64::MAX).saturating_sub(u128::from(burst) * u128::from(interval))
        };
        if covers(burst) < REQUIRED_RANGE {
            let most = (u128::from(u64::MAX) - REQUIRED_RANGE) / u128::from(interval);
            return Err(BuildError::RangeTooShort {
                algorithm: Self::NAME,
                quota,
                covers: covers(burst),
                fits: format!("the burst can be up to {most}, not {burst}"),
            });
        }
        Ok(GcraRule {
            quota,
            burst,
            interval,
            tolerance: burst * interval,
            most_ahead: burst * interval,
        })
    }

    /// The most permits at once.
    pub fn burst(&self) -> u64 {
        self.burst
    }

    /// How long a permit takes to come back, in nanoseconds.
    pub fn interval(&self) -> Nanos {
        self.interval
    }

    fn check_range(&self, now: Nanos) -> Result<(), RequestError> {
        let last = u64::MAX - self.tolerance;
        match now <= last {
            true => Ok(()),
            false => Err(RequestError::TimeOutOfRange { now, last }),
        }
    }

    /// How far the TAT is ahead of the clock.
    fn ahead(tat: u64, now: Nanos) -> Nanos {
        tat.saturating_sub(now)
    }
}

impl OneWordRule for GcraRule {
    const NAME: &'static str = "gcra";

    fn new(quota: Quota, _start: Nanos) -> Result<Self, BuildError> {
        let burst = Cost::new(quota.limit()).unwrap_or(Cost::ONE);
        GcraRule::with_burst(quota, burst)
    }

    #[inline]
    fn quota(&self) -> Quota {
        self.quota
    }

    #[inline]
    fn decide(&self, word: u64, now: Nanos, charge: u64) -> Result<Verdict, RequestError> {
        self.check_range(now)?;
        if charge > self.burst {
            return Err(RequestError::NeverFits {
                cost: Cost::new(charge).unwrap_or(Cost::ONE),
                quota: 0,
                limit: self.burst,
            });
        }
        let room = self.tolerance - charge * self.interval;
        let ahead = Self::ahead(word, now);
        if ahead > room {
            return Ok(Verdict::Denied {
                retry_after: ahead - room,
            });
        }
        // Cannot overflow: at most `tolerance` after `now`, which is in range.
        let tat = now + ahead + charge * self.interval;
        Ok(Verdict::Allowed { at: now, word: tat })
    }

    fn remaining(&self, word: u64, now: Nanos) -> u64 {
        if self.check_range(now).is_err() {
            return 0;
        }
        let room = self.tolerance.saturating_sub(Self::ahead(word, now));
        (room / self.interval).min(self.quota.limit())
    }

    fn is_idle(&self, word: u64, now: Nanos) -> bool {
        Self::ahead(word, now) == 0
    }

    /// The TAT itself.
    fn idle_from(&self, word: u64) -> Option<Nanos> {
        self.check_range(word).is_ok().then_some(word)
    }
}

/// Keeps the permits that have not come back, a part of one as a part of one; they come back at the
/// new rate. A burst that was the limit is the new limit, any other stays.
///
/// A time before anything that can have been recorded is read as the earliest such time. The word
/// holds no more than that: if the change is earlier than what was recorded, up to one burst can be
/// allowed once more.
impl ChangeRule for GcraRule {
    fn changed(&self, word: u64, now: Nanos, quota: Quota) -> Result<(Self, u64), BuildError> {
        let mut rule = match self.burst == self.quota.limit().max(1) {
            true => GcraRule::new(quota, now)?,
            false => GcraRule::with_burst(quota, Cost::new(self.burst).unwrap_or(Cost::ONE))?,
        };
        let at = now.max(word.saturating_sub(self.most_ahead));
        let ahead = u128::from(Self::ahead(word, at)) * u128::from(rule.interval);
        let ahead = ahead.div_ceil(u128::from(self.interval));
        rule.most_ahead = rule.tolerance.max(u64::try_from(ahead).unwrap_or(u64::MAX));
        let tat = u128::from(at) + ahead;
        // Nothing accepted is 0, whatever the time.
        let word = match ahead {
            0 => 0,
            _ => u64::try_from(tat).unwrap_or(u64::MAX),
        };
        Ok((rule, word))
    }
}
