//! One-word limiters that share their rule.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use windowpane_core::one_word::{
    self, ChangeRule, OneWordRule, REQUIRED_RANGE, SettleRule, Verdict,
};
use windowpane_core::sync::{Atomic, Ordering, SPINS_ONE_WORD, back_off};
use windowpane_core::{
    AcquireError, BuildError, ChangeQuotas, Cost, Decision, Denied, Detailed, Nanos, Quota, Quotas,
    RateLimiter, Settle, Unit,
};

use crate::builder::{Build, ForKeys};

/// The most rules that are kept to be shared. Keys of further quotas have rules of their own.
const RULES: usize = 64;

/// A one-word limiter among many: its word, and a pointer to the rule that all keys of the same
/// quotas share.
///
/// It decides as the limiter that has word and rule by itself, in a fraction of its memory: of many
/// keys, more fit a processor's caches. Its range of time is at least half of that one's. O(1);
/// lock-free; no allocation a key.
///
/// ```
/// use windowpane_baselines::GcraRule;
/// use windowpane_core::{Cost, Quotas};
/// use windowpane_keyed::{KeyedLimiter, SharedRule};
///
/// let limiter: KeyedLimiter<String, SharedRule<GcraRule>> =
///     KeyedLimiter::new(Quotas::parse(["100/60s"])?)?;
/// assert!(limiter.acquire("alice", Cost::ONE)?.is_allowed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedRule<R> {
    word: Atomic<u64>,
    rule: Arc<R>,
}

/// The rules that are shared, and the time from which on each holds.
type Rules<R> = Mutex<HashMap<Quota, (Nanos, Arc<R>)>>;

impl<R: OneWordRule + 'static> ForKeys for SharedRule<R> {
    fn maker() -> Build<Self> {
        let rules = Rules::<R>::default();
        Box::new(move |quotas, start| {
            Ok(SharedRule {
                word: Atomic::new(0),
                rule: share(&rules, quotas, start)?,
            })
        })
    }
}

/// The rule for `quotas` for a clock that reads `now`.
fn share<R: OneWordRule>(
    rules: &Rules<R>,
    quotas: &Quotas,
    now: Nanos,
) -> Result<Arc<R>, BuildError> {
    let quota = quotas.single(R::NAME)?;
    // Nothing under the lock leaves the rules half changed.
    let mut rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((start, rule)) = rules.get(&quota) {
        // Not one that begins later, nor one of which less than half of the range is left.
        let age = now.checked_sub(*start).map(u128::from);
        if age.is_some_and(|age| age < REQUIRED_RANGE / 2) {
            return Ok(Arc::clone(rule));
        }
    }
    let rule = Arc::new(R::new(quota, now)?);
    if rules.len() < RULES || rules.contains_key(&quota) {
        rules.insert(quota, (now, Arc::clone(&rule)));
    }
    Ok(rule)
}

impl<R: OneWordRule> RateLimiter for SharedRule<R> {
    fn quotas(&self) -> Quotas {
        self.rule.quota().into()
    }

    #[inline]
    fn acquire_at(&self, now: Nanos, cost: Cost) -> Result<Decision, AcquireError> {
        self.decide(now, cost).map(|(decision, _)| decision)
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        let (decision, word) = self.decide(now, cost)?;
        Ok(one_word::detailed(&*self.rule, word, now, decision))
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        let (word, decision) = match one_word::check(&self.rule.quota(), cost)? {
            None => (0, Decision::Denied(Denied::new(0, None))),
            Some(charge) => {
                let word = self.word.load(Ordering::Relaxed);
                let verdict = self.rule.decide(word, now, charge)?;
                (verdict.word_after(word), verdict.decision())
            }
        };
        Ok(one_word::detailed(&*self.rule, word, now, decision))
    }

    /// Linearized at its compare-and-swap.
    fn reset(&self) {
        self.update(|_| 0);
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.rule.is_idle(self.word.load(Ordering::Relaxed), now)
    }
}

impl<R: OneWordRule> SharedRule<R> {
    /// Decides, and tells the word after the decision. Linearized at its compare-and-swap if it is
    /// allowed and at its load if it is denied; relaxed, since the word is all the state there is.
    #[inline]
    fn decide(&self, now: Nanos, cost: Cost) -> Result<(Decision, u64), AcquireError> {
        let Some(charge) = one_word::check(&self.rule.quota(), cost)? else {
            return Ok((Decision::Denied(Denied::new(0, None)), 0));
        };
        loop {
            let word = self.word.load(Ordering::Relaxed);
            let verdict = self.rule.decide(word, now, charge)?;
            if let Verdict::Allowed { word: next, .. } = verdict
                && self.exchange(word, next).is_err()
            {
                back_off(SPINS_ONE_WORD);
                continue;
            }
            return Ok((verdict.decision(), verdict.word_after(word)));
        }
    }

    #[inline]
    fn exchange(&self, word: u64, next: u64) -> Result<u64, u64> {
        let order = Ordering::Relaxed;
        self.word.compare_exchange_weak(word, next, order, order)
    }

    /// Replaces the word by what `next` makes of it.
    fn update(&self, next: impl Fn(u64) -> u64) {
        let mut word = self.word.load(Ordering::Relaxed);
        while next(word) != word
            && let Err(found) = self.exchange(word, next(word))
        {
            word = found;
        }
    }
}

impl<R: SettleRule> Settle for SharedRule<R> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        if self.rule.quota().unit() == Unit::Permits {
            self.update(|word| self.rule.settle(word, at, estimate.get(), actual));
        }
    }
}

/// As the rule carries its word over; O(1). The rule that it has then is its own.
impl<R: ChangeRule> ChangeQuotas for SharedRule<R> {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        let quota = quotas.single(R::NAME)?;
        if quota.unit() != self.rule.quota().unit() {
            return Err(BuildError::UnitChanged {
                algorithm: R::NAME,
                quota,
            });
        }
        let word = self.word.load(Ordering::Relaxed);
        let (rule, word) = self.rule.changed(word, now, quota)?;
        *self = SharedRule {
            word: Atomic::new(word),
            rule: Arc::new(rule),
        };
        Ok(())
    }
}

impl<R: OneWordRule> fmt::Debug for SharedRule<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRule")
            .field("quota", &self.rule.quota())
            .finish_non_exhaustive()
    }
}
