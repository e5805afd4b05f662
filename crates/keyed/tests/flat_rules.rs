//! The flat table beside a limiter for each key, and the rules it forgets by.

use std::collections::HashMap;

use proptest::prelude::*;
use windowpane_baselines::{FixedWindowRule, GcraRule};
use windowpane_core::clock::ManualClock;
use windowpane_core::one_word::{OneWordRule, SettleRule, Verdict};
use windowpane_core::{
    Cost, Decision, Nanos, OneWordLimiter, Quota, RateLimiter, StoreError, Unit,
};
use windowpane_keyed::DefaultHasher;
use windowpane_keyed::flat::FlatTable;
use windowpane_packed_counter::TwoWindowRule;

/// One call.
#[derive(Clone, Copy, Debug)]
enum Call {
    Acquire { key: u8, cost: u64 },
    Peek { key: u8, cost: u64 },
    Reset { key: u8 },
    Sweep,
}

fn call() -> impl Strategy<Value = Call> {
    let (key, cost) = (0..12_u8, 1..5_u64);
    prop_oneof![
        8 => (key.clone(), cost.clone()).prop_map(|(key, cost)| Call::Acquire { key, cost }),
        3 => (key.clone(), cost).prop_map(|(key, cost)| Call::Peek { key, cost }),
        1 => key.prop_map(|key| Call::Reset { key }),
        1 => Just(Call::Sweep),
    ]
}

/// How far time goes on before a call: mostly not far, so that edges are met.
fn step() -> impl Strategy<Value = Nanos> {
    prop_oneof![Just(0), Just(1), 0..8_u64, 0..60_u64]
}

fn quota() -> impl Strategy<Value = Quota> {
    (1..5_u64, 5..20_u64)
        .prop_map(|(limit, window)| Quota::from_nanos(limit, window, Unit::Permits).unwrap())
}

/// A table, and a limiter for each key that is never forgotten.
struct Beside<R: OneWordRule> {
    table: FlatTable<R, windowpane_keyed::DefaultHasher, ManualClock>,
    quota: Quota,
    limiters: HashMap<u8, OneWordLimiter<R>>,
}

impl<R: OneWordRule> Beside<R> {
    fn new(quota: Quota, entries: usize) -> Self {
        let hasher = DefaultHasher::with_seeds(1, 2, 3, 4);
        let table = FlatTable::builder(quota, entries)
            .clock(ManualClock::new(0))
            .hasher(hasher)
            .build()
            .unwrap();
        Beside {
            table,
            quota,
            limiters: HashMap::new(),
        }
    }

    fn limiter(&mut self, key: u8) -> &OneWordLimiter<R> {
        let new = || OneWordLimiter::new(self.quota).unwrap();
        self.limiters.entry(key).or_insert_with(new)
    }
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

/// Nothing that the table does for room, and no sweep, changes any answer.
fn answers_alike<R: OneWordRule>(quota: Quota, calls: &[(Nanos, Call)]) {
    let mut beside = Beside::<R>::new(quota, 200);
    let mut now = 0;
    for &(step, call) in calls {
        now += step;
        match call {
            Call::Acquire { key, cost: permits } => {
                let told = beside.table.decide_detailed_at(&key, now, cost(permits));
                let expected = beside.limiter(key).decide_detailed_at(now, cost(permits));
                if let Ok(answer) = &told {
                    let more = answer.more_after;
                    more_is_there_when_told(beside.limiter(key), now, &answer.detailed, more);
                }
                let told = told.map(|answer| answer.detailed);
                assert_eq!(told, expected.map_err(StoreError::from), "{}", R::NAME);
            }
            Call::Peek { key, cost: permits } => {
                let told = beside.table.peek_at(&key, now, cost(permits));
                let expected = beside.limiter(key).peek_at(now, cost(permits));
                let told = told.map(|answer| answer.detailed);
                assert_eq!(told, expected.map_err(StoreError::from), "{}", R::NAME);
            }
            Call::Reset { key } => {
                beside.table.reset(&key);
                beside.limiter(key).reset();
            }
            Call::Sweep => {
                let before = beside.table.len();
                let removed = beside.table.sweep_at(now);
                assert_eq!(beside.table.len(), before - removed);
            }
        }
    }
    assert_eq!(beside.table.stats().full, 0);
    assert!(beside.table.len() <= beside.limiters.len());
}

/// At `more_after` more remains, and a nanosecond earlier it does not.
fn more_is_there_when_told(
    limiter: &impl RateLimiter,
    now: Nanos,
    told: &windowpane_core::Detailed,
    more_after: Option<Nanos>,
) {
    let left = told.remaining();
    let limit = limiter.quotas().largest_limit();
    let fits = |at| {
        let looked = limiter.peek_at(at, cost(left + 1)).unwrap();
        looked.is_allowed()
    };
    match more_after {
        None => assert_eq!(left, limit, "something is used, and a wait helps"),
        Some(wait) => assert!(fits(now + wait) && !fits(now + wait - 1)),
    }
}

/// A table so small that keys make room for each other all the time, on a clock that steps back:
/// what it allows, the limiter that is never forgotten allows too, at the time it was recorded under.
fn never_looser<R: OneWordRule>(quota: Quota, calls: &[(Nanos, Nanos, Call)]) {
    let mut beside = Beside::<R>::new(quota, 8);
    let mut latest = 0;
    for &(step, back, call) in calls {
        latest += step;
        let now = latest.saturating_sub(back);
        match call {
            Call::Acquire { key, cost: permits } => {
                let told = beside.table.decide_at(&key, now, cost(permits));
                let Ok(Decision::Allowed { at }) = told else {
                    continue;
                };
                let expected = beside.limiter(key).decide_at(at, cost(permits)).unwrap();
                assert!(expected.is_allowed(), "{}: {key} at {at}", R::NAME);
            }
            Call::Peek { key, cost: permits } => {
                let before = beside.table.len();
                let _ = beside.table.peek_at(&key, now, cost(permits));
                assert_eq!(beside.table.len(), before);
            }
            Call::Reset { key } => {
                beside.table.reset(&key);
                beside.limiter(key).reset();
            }
            Call::Sweep => {
                beside.table.sweep_at(now);
            }
        }
        assert!(beside.table.len() <= 8);
    }
}

/// From `idle_from` on a word and a fresh one decide alike, and no earlier by the rule's own word.
fn is_forgotten_in_time<R: OneWordRule>(quota: Quota, history: &[(Nanos, u64)], later: Nanos) {
    let rule = R::new(quota, 0).unwrap();
    let (mut word, mut now) = (0, 0);
    for (step, charge) in history {
        now += step;
        let charge = 1 + charge % quota.limit();
        if let Verdict::Allowed { word: next, .. } = rule.decide(word, now, charge).unwrap() {
            word = next;
        }
    }
    let from = rule.idle_from(word).expect("far from the end of the range");
    if word != 0 {
        assert!(!rule.is_idle(word, from - 1), "{}", R::NAME);
    }
    for at in [from, from + 1, from + later] {
        assert!(rule.is_idle(word, at), "{}", R::NAME);
        assert_eq!(
            rule.remaining(word, at),
            rule.remaining(0, at),
            "{}",
            R::NAME
        );
        for charge in 1..=quota.limit() {
            let (kept, fresh) = (rule.decide(word, at, charge), rule.decide(0, at, charge));
            assert_eq!(kept, fresh, "{}", R::NAME);
        }
    }
}

proptest! {
    #[test]
    fn a_big_table_answers_as_a_limiter_for_each_key(
        quota in quota(), calls in prop::collection::vec((step(), call()), 1..150),
    ) {
        answers_alike::<FixedWindowRule>(quota, &calls);
        answers_alike::<TwoWindowRule>(quota, &calls);
        answers_alike::<GcraRule>(quota, &calls);
    }

    #[test]
    fn a_small_table_on_a_bad_clock_is_never_looser(
        quota in quota(), calls in prop::collection::vec((step(), 0..30_u64, call()), 1..150),
    ) {
        never_looser::<FixedWindowRule>(quota, &calls);
        never_looser::<TwoWindowRule>(quota, &calls);
        never_looser::<GcraRule>(quota, &calls);
    }

    #[test]
    fn an_idle_word_is_as_good_as_none(
        quota in quota(), history in prop::collection::vec((0..25_u64, 0..5_u64), 0..12),
        later in 0..100_u64,
    ) {
        is_forgotten_in_time::<FixedWindowRule>(quota, &history, later);
        is_forgotten_in_time::<TwoWindowRule>(quota, &history, later);
        is_forgotten_in_time::<GcraRule>(quota, &history, later);
    }
}

/// Where the range of time ends, nothing is idle any more rather than too early.
#[test]
fn a_word_at_the_end_of_the_range_is_never_idle() {
    fn ends<R: OneWordRule>(last: Nanos) {
        let rule = R::new("1/10ns".parse().unwrap(), 0).unwrap();
        let Verdict::Allowed { word, .. } = rule.decide(0, last, 1).unwrap() else {
            panic!("{}: a fresh word denies nothing that fits", R::NAME);
        };
        assert_eq!(rule.idle_from(word), None, "{}", R::NAME);
    }
    ends::<FixedWindowRule>(u64::MAX);
    ends::<TwoWindowRule>(u64::MAX);
    ends::<GcraRule>(u64::MAX - 10);
    // Counts that were settled away leave the window they stood in, and no earlier one, behind.
    let rule = FixedWindowRule::new("1/10ns".parse().unwrap(), 0).unwrap();
    let Verdict::Allowed { word, .. } = rule.decide(0, 35, 1).unwrap() else {
        panic!("a fresh word denies nothing that fits");
    };
    let word = rule.settle(word, 35, 1, 0);
    assert_eq!(rule.idle_from(word), Some(30));
}
