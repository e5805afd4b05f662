//! Limiters whose whole state is one 64-bit word: the rule, apart from the atomic cell.
//!
//! A [`OneWordRule`] is arithmetic without side effects. [`OneWordLimiter`] has one atomic cell and
//! applies a rule to it by compare-and-swap. A store of many keys can have cells of its own and apply
//! the same rule.

use core::fmt;

use crate::build::FromQuotas;
use crate::change_quotas::ChangeQuotas;
use crate::clock::Nanos;
use crate::cost::Cost;
use crate::decision::{Decision, Denial, Detailed};
use crate::error::{BuildError, RequestError};
use crate::per_quota::PerQuota;
use crate::quota::{Quota, Unit};
use crate::quotas::Quotas;
use crate::rate_limiter::RateLimiter;
use crate::settle::Settle;
use crate::sync::{Atomic, Ordering, SPINS_ONE_WORD, back_off};

/// Ten years in nanoseconds: how long the time in a word must last.
pub const REQUIRED_RANGE: u128 = 3_653 * 86_400_000_000_000;

/// A rule's verdict about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may go on; the state after it is `word`.
    Allowed {
        /// The time it is recorded under.
        at: Nanos,
        /// The state with the charge in it.
        word: u64,
    },
    /// It must not go on; the state stays as it is.
    Denied {
        /// The smallest wait after which it would be allowed, at least 1 ns.
        retry_after: Nanos,
    },
}

impl Verdict {
    /// The decision, for the caller.
    #[inline]
    pub fn decision(self) -> Decision {
        match self {
            Verdict::Allowed { at, .. } => Decision::Allowed { at },
            Verdict::Denied { retry_after } => Decision::Denied(Denial::new(0, Some(retry_after))),
        }
    }

    /// The state after it, if the state was `before`.
    #[inline]
    pub fn word_after(self, before: u64) -> u64 {
        match self {
            Verdict::Allowed { word, .. } => word,
            Verdict::Denied { .. } => before,
        }
    }
}

/// A rule over one word: integers only, no side effects, total on every word it produced.
///
/// The word 0 is the state of a limiter that has accepted nothing.
pub trait OneWordRule: Send + Sync + Sized {
    /// The algorithm's name, as the command line knows it.
    const NAME: &'static str;

    /// The rule for one quota, for clocks that read about `start` now or later.
    ///
    /// # Errors
    /// [`BuildError`] if the word cannot represent the quota.
    fn new(quota: Quota, start: Nanos) -> Result<Self, BuildError>;

    /// The quota.
    fn quota(&self) -> Quota;

    /// Decides a request that charges `charge`, 1 to the limit, at `now`.
    ///
    /// # Errors
    /// [`RequestError::TimeOutOfRange`]; [`RequestError::NeverFits`] where a rule takes less than
    /// the limit at once.
    fn decide(&self, word: u64, now: Nanos, charge: u64) -> Result<Verdict, RequestError>;

    /// What is left of the quota at `now`, so never more than its limit; 0 outside the range of time.
    fn remaining(&self, word: u64, now: Nanos) -> u64;

    /// Whether forgetting `word` at `now` changes no later decision.
    fn is_idle(&self, word: u64, now: Nanos) -> bool;

    /// The time from which on `word` and a fresh word decide alike; `None` if it is out of range. A
    /// store that forgets `word` must read earlier times as this one from then on. Otherwise a clock
    /// that steps back creates capacity.
    fn idle_from(&self, word: u64) -> Option<Nanos>;
}

/// A rule whose word still shows what was charged in a window, so that a charge can be replaced.
pub trait SettleRule: OneWordRule {
    /// The word in which what was recorded under `at` counts `actual` instead of `charged`; the same
    /// word where it no longer shows that window. A count neither falls below 0 nor leaves its field.
    fn settle(&self, word: u64, at: Nanos, charged: u64, actual: u64) -> u64;
}

/// A rule that can hand over to one of another quota.
pub trait ChangeRule: OneWordRule {
    /// The rule for `quota` from `now` on, and the word by which it counts what this rule counts by
    /// `word` then. The quotas' units are the same.
    ///
    /// # Errors
    /// [`BuildError`] if the word cannot represent the quota beside what is counted.
    fn changed(&self, word: u64, now: Nanos, quota: Quota) -> Result<(Self, u64), BuildError>;
}

/// A `count` in which `charged` is replaced by `actual`, from 0 to `most`.
pub fn settled_count(count: u64, charged: u64, actual: u64, most: u64) -> u64 {
    let settled = (u128::from(count) + u128::from(actual)).saturating_sub(charged.into());
    settled.min(most.into()) as u64
}

/// A limiter that keeps one word and changes it by compare-and-swap alone.
///
/// Lock-free; O(1); no allocation. A decision is linearized at its compare-and-swap if allowed and
/// at its load if denied: a denial writes nothing. The word is all the state there is and nothing
/// else is published through it, so the orders are relaxed: one atomic has one modification order
/// whatever they are, and calls of which one happens before the other see it in that order.
// One cache line: the word, and the constants that every decision reads beside it.
#[repr(align(64))]
pub struct OneWordLimiter<R> {
    word: Word,
    rule: R,
}

impl<R: OneWordRule> OneWordLimiter<R> {
    /// A limiter that has accepted nothing, for a clock whose zero is about now.
    ///
    /// # Errors
    /// [`BuildError`] if the quotas are more than one or do not fit a word; it says what would.
    pub fn new(quotas: impl Into<Quotas>) -> Result<Self, BuildError> {
        Self::starting_at(quotas, 0)
    }

    /// A limiter for a clock that reads about `start` now: the range of time counts from there.
    /// Windows still begin at multiples of the window on that clock.
    ///
    /// # Errors
    /// [`BuildError`] if the quotas are more than one or do not fit a word; it says what would.
    pub fn starting_at(quotas: impl Into<Quotas>, start: Nanos) -> Result<Self, BuildError> {
        let quota = quotas.into().single(R::NAME)?;
        Ok(Self::with_rule(R::new(quota, start)?))
    }

    /// A limiter that has accepted nothing, with a rule made by hand: for rules that take more than
    /// a quota.
    pub fn with_rule(rule: R) -> Self {
        OneWordLimiter {
            word: Word::default(),
            rule,
        }
    }

    /// The rule.
    pub fn rule(&self) -> &R {
        &self.rule
    }
}

/// The word of a limiter, apart from its rule: what is done to it by compare-and-swap.
///
/// [`OneWordLimiter`] has one beside a rule of its own; a store of many keys has one a key, and one
/// rule for all. Its owner always applies the same rule to it.
#[derive(Debug)]
pub struct Word {
    word: Atomic<u64>,
}

/// Nothing accepted.
impl Default for Word {
    fn default() -> Word {
        Word {
            word: Atomic::new(0),
        }
    }
}

impl Word {
    /// Returns the decision and the word that it is about, charged if it was allowed.
    #[inline]
    fn decide<R: OneWordRule>(
        &self,
        rule: &R,
        now: Nanos,
        cost: Cost,
    ) -> Result<(Decision, u64), RequestError> {
        let quota = rule.quota();
        let Some(charge) = check(&quota, cost)? else {
            return Ok((Decision::Denied(Denial::new(0, None)), 0));
        };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            match rule.decide(word, now, charge)? {
                Verdict::Denied { retry_after } => {
                    return Ok((Decision::Denied(Denial::new(0, Some(retry_after))), word));
                }
                Verdict::Allowed { at, word: next } => {
                    match self.word.compare_exchange_weak(
                        word,
                        next,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => return Ok((Decision::Allowed { at }, next)),
                        Err(_) => {
                            back_off(SPINS_ONE_WORD);
                            word = self.word.load(Ordering::Relaxed);
                        }
                    }
                }
            }
        }
    }

    /// As [`RateLimiter::decide_at`].
    ///
    /// # Errors
    /// Those of [`check`] and of the rule.
    #[inline]
    pub fn acquire<R: OneWordRule>(
        &self,
        rule: &R,
        now: Nanos,
        cost: Cost,
    ) -> Result<Decision, RequestError> {
        self.decide(rule, now, cost).map(|(decision, _)| decision)
    }

    /// As [`RateLimiter::decide_detailed_at`].
    ///
    /// # Errors
    /// Those of [`check`] and of the rule.
    pub fn decide_detailed<R: OneWordRule>(
        &self,
        rule: &R,
        now: Nanos,
        cost: Cost,
    ) -> Result<Detailed, RequestError> {
        let (decision, word) = self.decide(rule, now, cost)?;
        Ok(detailed(rule, word, now, decision))
    }

    /// As [`RateLimiter::peek_at`].
    ///
    /// # Errors
    /// Those of [`check`] and of the rule.
    pub fn peek<R: OneWordRule>(
        &self,
        rule: &R,
        now: Nanos,
        cost: Cost,
    ) -> Result<Detailed, RequestError> {
        let Some(charge) = check(&rule.quota(), cost)? else {
            let denied = Decision::Denied(Denial::new(0, None));
            return Ok(detailed(rule, 0, now, denied));
        };
        let word = self.word.load(Ordering::Relaxed);
        let verdict = rule.decide(word, now, charge)?;
        let word = verdict.word_after(word);
        Ok(detailed(rule, word, now, verdict.decision()))
    }

    /// As [`RateLimiter::reset`]. Linearized at its compare-and-swap.
    pub fn reset(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        while let Err(found) =
            self.word
                .compare_exchange(word, 0, Ordering::Relaxed, Ordering::Relaxed)
        {
            word = found;
        }
    }

    /// As [`RateLimiter::is_idle_at`].
    pub fn is_idle<R: OneWordRule>(&self, rule: &R, now: Nanos) -> bool {
        rule.is_idle(self.word.load(Ordering::Relaxed), now)
    }

    /// As [`Settle::settle_at`]. Linearized at its compare-and-swap, or at its load where it changes
    /// nothing.
    pub fn settle<R: SettleRule>(&self, rule: &R, at: Nanos, estimate: Cost, actual: u64) {
        if rule.quota().unit() == Unit::Permits {
            self.replace(rule, at, estimate.get(), actual);
        }
    }

    /// As [`Settle::cancel_at`]. Linearized as [`settle`](Self::settle).
    pub fn cancel<R: SettleRule>(&self, rule: &R, at: Nanos, cost: Cost) {
        self.replace(rule, at, rule.quota().charge(cost), 0);
    }

    fn replace<R: SettleRule>(&self, rule: &R, at: Nanos, charged: u64, actual: u64) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let settled = rule.settle(word, at, charged, actual);
            if settled == word {
                return;
            }
            match self
                .word
                .compare_exchange(word, settled, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
    }

    /// Carries what the word says under `rule` over to the rule for `quotas`, which it returns.
    ///
    /// # Errors
    /// [`BuildError`] if the rule cannot be changed so; nothing was changed then.
    pub fn change<R: ChangeRule>(
        &mut self,
        rule: &R,
        now: Nanos,
        quotas: &Quotas,
    ) -> Result<R, BuildError> {
        let quota = quotas.single(R::NAME)?;
        if quota.unit() != rule.quota().unit() {
            return Err(BuildError::UnitChanged {
                algorithm: R::NAME,
                quota,
            });
        }
        let (rule, word) = rule.changed(self.word.load(Ordering::Relaxed), now, quota)?;
        self.word = Atomic::new(word);
        Ok(rule)
    }
}

/// The charge of `cost`, or `None` where the limit of 0 denies whatever it is.
///
/// # Errors
/// [`RequestError::NeverFits`] above the limit.
#[inline]
pub fn check(quota: &Quota, cost: Cost) -> Result<Option<u64>, RequestError> {
    let (charge, limit) = (quota.charge(cost), quota.limit());
    match limit {
        0 => Ok(None),
        _ if charge > limit => Err(RequestError::NeverFits {
            cost,
            quota: 0,
            limit,
        }),
        _ => Ok(Some(charge)),
    }
}

/// `decision`, after which the word is `word`, with what remains.
pub fn detailed<R: OneWordRule>(rule: &R, word: u64, now: Nanos, decision: Decision) -> Detailed {
    let left = rule.remaining(word, now);
    Detailed::new(
        decision,
        &rule.quota().into(),
        PerQuota::from_slice(&[left]),
    )
}

/// The wait from `now` after which more would remain if nothing else were accepted meanwhile; `None`
/// where nothing is used or no wait helps.
pub fn more_after<R: OneWordRule>(rule: &R, word: u64, now: Nanos) -> Option<Nanos> {
    let left = rule.remaining(word, now);
    if left >= rule.quota().limit() {
        return None;
    }
    match rule.decide(word, now, left + 1) {
        Ok(Verdict::Denied { retry_after }) => Some(retry_after),
        _ => None,
    }
}

impl<R: SettleRule> Settle for OneWordLimiter<R> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        self.word.settle(&self.rule, at, estimate, actual);
    }

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        self.word.cancel(&self.rule, at, cost);
    }
}

/// As the rule carries its word over; O(1).
impl<R: ChangeRule> ChangeQuotas for OneWordLimiter<R> {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        self.rule = self.word.change(&self.rule, now, quotas)?;
        Ok(())
    }
}

impl<R: OneWordRule> FromQuotas for OneWordLimiter<R> {
    const NAME: &'static str = R::NAME;

    fn from_quotas(quotas: &Quotas, start: Nanos) -> Result<Self, BuildError> {
        Self::starting_at(quotas.clone(), start)
    }
}

impl<R: OneWordRule> RateLimiter for OneWordLimiter<R> {
    fn quotas(&self) -> Quotas {
        self.rule.quota().into()
    }

    #[inline]
    fn quota(&self, _index: usize) -> Quota {
        self.rule.quota()
    }

    #[inline]
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.word.acquire(&self.rule, now, cost)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.word.decide_detailed(&self.rule, now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.word.peek(&self.rule, now, cost)
    }

    fn reset(&self) {
        self.word.reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.word.is_idle(&self.rule, now)
    }
}

impl<R: OneWordRule> fmt::Debug for OneWordLimiter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneWordLimiter")
            .field("name", &R::NAME)
            .field("quota", &self.rule.quota())
            .finish_non_exhaustive()
    }
}
