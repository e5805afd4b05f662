//! One-word limiters that share their rule.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError};

use windowpane_core::one_word::{ChangeRule, OneWordRule, REQUIRED_RANGE, SettleRule, Word};
use windowpane_core::sync::plain::Mutex;
use windowpane_core::{
    BuildError, ChangeQuotas, Cost, Decision, Detailed, Nanos, Quota, Quotas, RateLimiter,
    RequestError, Settle,
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
/// use windowpane_keyed::{KeyedLimiter, SharedRule};
///
/// let limiter = KeyedLimiter::<String, SharedRule<GcraRule>>::new("100/60s")?;
/// limiter.try_acquire("alice")?;
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

/// The rule for `quotas` for a clock that reads `now`. Rules are the caller's code, so none is made or
/// dropped under the lock.
fn share<R: OneWordRule>(
    rules: &Rules<R>,
    quotas: &Quotas,
    now: Nanos,
) -> Result<Arc<R>, BuildError> {
    let quota = quotas.single(R::NAME)?;
    let shared = |rules: &HashMap<Quota, (Nanos, Arc<R>)>| {
        let (start, rule) = rules.get(&quota)?;
        // Not one that begins later, nor one of which less than half of the range is left.
        let age = now.checked_sub(*start).map(u128::from)?;
        (age < REQUIRED_RANGE / 2).then(|| Arc::clone(rule))
    };
    // Nothing under the lock leaves the rules half changed.
    let lock = || rules.lock().unwrap_or_else(PoisonError::into_inner);
    let found = shared(&lock());
    if let Some(rule) = found {
        return Ok(rule);
    }
    let rule = Arc::new(R::new(quota, now)?);
    let mut rules = lock();
    if let Some(other) = shared(&rules) {
        // Another thread was first. The rule of this one is dropped after the lock.
        drop(rules);
        return Ok(other);
    }
    let replaced = match rules.len() < RULES || rules.contains_key(&quota) {
        true => rules.insert(quota, (now, Arc::clone(&rule))),
        false => None,
    };
    drop(rules);
    drop(replaced);
    Ok(rule)
}

impl<R: OneWordRule> RateLimiter for SharedRule<R> {
    fn quotas(&self) -> Quotas {
        self.rule.quota().into()
    }

    #[inline]
    fn quota(&self, _index: usize) -> Quota {
        self.rule.quota()
    }

    #[inline]
    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.word.acquire(&*self.rule, now, cost)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.word.decide_detailed(&*self.rule, now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
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

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        self.word.cancel(&*self.rule, at, cost);
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
    use std::cell::RefCell;

    use super::*;
    use windowpane_baselines::GcraRule;
    use windowpane_core::one_word::Verdict;

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

    /// A rule is shared by keys that come in the first half of its range, not by earlier ones; then
    /// another replaces it, also where no more are kept.
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

    thread_local! {
        /// The rules that a test shares, for [`Watching`].
        static SHARED: RefCell<Option<Arc<Rules<Watching>>>> = const { RefCell::new(None) };
    }

    /// A rule that asks for the lock of the shared rules when it is made and when it is dropped.
    struct Watching(GcraRule);

    impl Watching {
        fn check() {
            let rules = SHARED.with_borrow(Clone::clone);
            let rules = rules.expect("a test shares rules");
            assert!(rules.try_lock().is_ok(), "called under the lock");
        }
    }

    impl Drop for Watching {
        fn drop(&mut self) {
            Watching::check();
        }
    }

    impl OneWordRule for Watching {
        const NAME: &'static str = "watching";

        fn new(quota: Quota, start: Nanos) -> Result<Self, BuildError> {
            Watching::check();
            GcraRule::new(quota, start).map(Watching)
        }

        fn quota(&self) -> Quota {
            self.0.quota()
        }

        fn decide(&self, word: u64, now: Nanos, charge: u64) -> Result<Verdict, RequestError> {
            self.0.decide(word, now, charge)
        }

        fn remaining(&self, word: u64, now: Nanos) -> u64 {
            self.0.remaining(word, now)
        }

        fn is_idle(&self, word: u64, now: Nanos) -> bool {
            self.0.is_idle(word, now)
        }

        fn idle_from(&self, word: u64) -> Option<Nanos> {
            self.0.idle_from(word)
        }
    }

    #[test]
    fn rules_are_made_and_dropped_while_nothing_is_locked() {
        let rules = Arc::new(Rules::<Watching>::default());
        SHARED.set(Some(Arc::clone(&rules)));
        drop(share(&rules, &quotas(1), 0).unwrap());
        // Another takes its place, and the first one is dropped.
        let late = (REQUIRED_RANGE / 2) as Nanos;
        let rule = share(&rules, &quotas(1), late).unwrap();
        assert_eq!(Arc::strong_count(&rule), 2);
        let held = std::mem::take(&mut *rules.lock().unwrap());
        assert_eq!(held.len(), 1);
        drop((held, rule));
        SHARED.set(None);
    }
}
