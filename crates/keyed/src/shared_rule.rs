//! One-word limiters that share their rule.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError};

use windowpane_core::one_word::{ChangeRule, OneWordRule, REQUIRED_RANGE, SettleRule, Word};
use windowpane_core::sync::plain::Mutex;
use windowpane_core::{
    AcquireError, BuildError, ChangeQuotas, Cost, Decision, Detailed, Nanos, Quota, Quotas,
    RateLimiter, Settle,
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
    word: Word,
    rule: Arc<R>,
}

/// The rules that are shared, and the time from which on each holds.
type Rules<R> = Mutex<HashMap<Quota, (Nanos, Arc<R>)>>;

impl<R: OneWordRule + 'static> ForKeys for SharedRule<R> {
    fn maker() -> Build<Self> {
        let rules = Rules::<R>::default();
        Box::new(move |quotas, start| {
            Ok(SharedRule {
                word: Word::default(),
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
        self.word.acquire(&*self.rule, now, cost)
    }

    fn acquire_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.word.acquire_detailed(&*self.rule, now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, AcquireError> {
        self.word.peek(&*self.rule, now, cost)
    }

    fn reset(&self) {
        self.word.reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.word.is_idle(&*self.rule, now)
    }
}

impl<R: SettleRule> Settle for SharedRule<R> {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        self.word.settle(&*self.rule, at, estimate, actual);
    }
}

/// As the rule carries its word over; O(1). The rule that it has then is its own.
impl<R: ChangeRule> ChangeQuotas for SharedRule<R> {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        self.rule = Arc::new(self.word.change(&*self.rule, now, quotas)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use windowpane_baselines::GcraRule;

    fn quotas(limit: usize) -> Quotas {
        Quotas::parse([format!("{limit}/60s").as_str()]).unwrap()
    }

    #[test]
    fn so_many_rules_are_shared_and_keys_of_further_quotas_have_their_own() {
        let rules = Rules::<GcraRule>::default();
        let share = |limit| share(&rules, &quotas(limit), 0).unwrap();
        let first: Vec<_> = (1..=RULES).map(share).collect();
        for (limit, rule) in (1..).zip(&first) {
            assert!(Arc::ptr_eq(rule, &share(limit)), "{limit}");
            assert_eq!(rule.quota(), quotas(limit)[0]);
        }
        let (one, other) = (share(RULES + 1), share(RULES + 1));
        assert!(!Arc::ptr_eq(&one, &other));
        assert_eq!(rules.lock().unwrap().len(), RULES);
    }

    /// A rule lasts for those who come in the first half of its range, and not for those before it;
    /// then another is shared in its place, also where no more are kept.
    #[test]
    fn a_rule_is_shared_for_half_of_its_range() {
        let rules = Rules::<GcraRule>::default();
        let half = (REQUIRED_RANGE / 2) as Nanos;
        let at = |now| share(&rules, &quotas(1), now).unwrap();
        let old = at(7);
        (2..=RULES).for_each(|limit| drop(share(&rules, &quotas(limit), 0)));
        assert!(Arc::ptr_eq(&old, &at(7 + half - 1)));
        let new = at(7 + half);
        assert!(!Arc::ptr_eq(&old, &new));
        assert!(Arc::ptr_eq(&new, &at(7 + half)));
        let before = at(7);
        assert!(!Arc::ptr_eq(&new, &before) && !Arc::ptr_eq(&old, &before));
        assert_eq!(rules.lock().unwrap().len(), RULES);
    }
}
