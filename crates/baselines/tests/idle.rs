//! From when on a word may be forgotten: what a store of many words asks before it reuses one.

use proptest::prelude::*;
use windowpane_baselines::{FixedWindowRule, GcraRule};
use windowpane_core::one_word::{OneWordRule, SettleRule};
use windowpane_core::{Nanos, Quota, RequestError};

fn rule<R: OneWordRule>(quota: &str, start: Nanos) -> R {
    let quota: Quota = quota.parse().unwrap();
    R::new(quota, start).unwrap()
}

/// The word after `charge` was asked for at `now`.
fn after<R: OneWordRule>(rule: &R, word: u64, now: Nanos, charge: u64) -> u64 {
    rule.decide(word, now, charge).unwrap().word_after(word)
}

/// From the time told on the word decides as a fresh one; a nanosecond earlier something counts.
fn may_be_forgotten<R: OneWordRule>(
    start: Nanos,
    steps: &[(Nanos, u64)],
    later: Nanos,
    charge: u64,
) -> Result<(), TestCaseError> {
    let rule = rule::<R>("4/100ns", start);
    let (mut word, mut now) = (0, start);
    for (step, charge) in steps {
        now += step;
        word = after(&rule, word, now, *charge);
    }
    let from = rule.idle_from(word).unwrap();
    let at = from + later;
    prop_assert_eq!(rule.decide(word, at, charge), rule.decide(0, at, charge));
    prop_assert!(rule.is_idle(word, from));
    prop_assert!(!rule.is_idle(word, from - 1));
    Ok(())
}

proptest! {
    #[test]
    fn a_word_may_be_forgotten_from_the_time_told_and_no_earlier(
        start in 0..10_000_u64,
        steps in prop::collection::vec((0..250_u64, 1..5_u64), 1..6),
        later in prop_oneof![Just(0), 0..1_000_u64],
        charge in 1..=4_u64,
    ) {
        may_be_forgotten::<FixedWindowRule>(start, &steps, later, charge)?;
        may_be_forgotten::<GcraRule>(start, &steps, later, charge)?;
    }
}

#[test]
fn nothing_accepted_may_be_forgotten_from_the_start() {
    assert_eq!(
        rule::<FixedWindowRule>("4/100ns", 250).idle_from(0),
        Some(200)
    );
    assert_eq!(rule::<GcraRule>("4/100ns", 250).idle_from(0), Some(0));
}

/// A charge that was settled to 0 leaves nothing but its window behind.
#[test]
fn a_window_in_which_nothing_counts_any_more_may_be_forgotten_from_its_start() {
    let rule = rule::<FixedWindowRule>("4/100ns", 250);
    let word = after(&rule, 0, 350, 3);
    assert_eq!(rule.idle_from(word), Some(400));
    let settled = rule.settle(word, 350, 3, 0);
    assert_eq!(rule.idle_from(settled), Some(300));
    assert!(rule.is_idle(settled, 300));
}

#[test]
fn what_counts_to_the_end_of_the_range_is_never_forgotten() {
    fn last<R: OneWordRule>(rule: &R) -> Nanos {
        match rule.decide(0, Nanos::MAX, 1) {
            Err(RequestError::TimeOutOfRange { last, .. }) => last,
            other => panic!("the range ends before u64 does: {other:?}"),
        }
    }
    let fixed = rule::<FixedWindowRule>("32767/1us", 0);
    let end = last(&fixed);
    for (accepted_at, from) in [(end, None), (end - 1_000, Some(end + 1 - 1_000))] {
        let word = after(&fixed, 0, accepted_at, 1);
        assert_eq!(fixed.idle_from(word), from, "accepted at {accepted_at}");
    }
    let gcra = rule::<GcraRule>("4/100ns", 0);
    let end = last(&gcra);
    for (accepted_at, from) in [(end - 24, None), (end - 25, Some(end))] {
        let word = after(&gcra, 0, accepted_at, 1);
        assert_eq!(gcra.idle_from(word), from, "accepted at {accepted_at}");
    }
}
