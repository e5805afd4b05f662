//! From when on a word may be forgotten: what a store of many words asks before it reuses one.

use proptest::prelude::*;
use windowpane_core::one_word::{OneWordRule, SettleRule, Verdict};
use windowpane_core::{Nanos, Quota, RequestError};
use windowpane_packed_counter::TwoWindowRule;

const SECOND: Nanos = 1_000_000_000;

fn rule(quota: &str, start: Nanos) -> TwoWindowRule {
    let quota: Quota = quota.parse().unwrap();
    TwoWindowRule::new(quota, start).unwrap()
}

/// The word after `charge` was asked for at `now`.
fn after(rule: &TwoWindowRule, word: u64, now: Nanos, charge: u64) -> u64 {
    rule.decide(word, now, charge).unwrap().word_after(word)
}

proptest! {
    /// From the time told on the word decides as a fresh one; a nanosecond earlier something counts.
    #[test]
    fn a_word_may_be_forgotten_from_the_time_told_and_no_earlier(
        start in 0..10_000_u64,
        steps in prop::collection::vec((0..250_u64, 1..5_u64), 1..6),
        later in prop_oneof![Just(0), 0..1_000_u64],
        charge in 1..=4_u64,
    ) {
        let rule = rule("4/100ns", start);
        let (mut word, mut now) = (0, start);
        for (step, charge) in steps {
            now += step;
            word = after(&rule, word, now, charge);
        }
        let from = rule.idle_from(word).unwrap();
        let fresh = rule.decide(0, from + later, charge).unwrap();
        prop_assert_eq!(rule.decide(word, from + later, charge).unwrap(), fresh);
        prop_assert!(rule.is_idle(word, from));
        // The first charge is of the rule's first window or later, so there is a nanosecond before.
        prop_assert!(!rule.is_idle(word, from - 1));
    }
}

#[test]
fn nothing_accepted_may_be_forgotten_from_the_start() {
    assert_eq!(rule("4/100ns", 250).idle_from(0), Some(200));
}

/// A charge that was settled to 0 leaves a word in which only the window before counts.
#[test]
fn a_count_of_the_window_before_alone_may_be_forgotten_a_window_sooner() {
    let rule = rule("4/100ns", 0);
    let first = after(&rule, 0, 50, 2);
    let both = after(&rule, first, 180, 1);
    assert_eq!(rule.idle_from(both), Some(300));
    let settled = rule.settle(both, 180, 1, 0);
    assert_eq!(rule.idle_from(settled), Some(200));
    assert!(!rule.is_idle(settled, 199));
    assert!(rule.is_idle(settled, 200));
}

#[test]
fn what_counts_to_the_end_of_the_range_is_never_forgotten() {
    let rule = rule("1000000/60s", 0);
    let Err(RequestError::TimeOutOfRange { last, .. }) = rule.decide(0, Nanos::MAX, 1) else {
        panic!("24 bits of windows of a minute end before u64 does");
    };
    let window = 60 * SECOND;
    for (accepted_at, from) in [
        (last, None),
        (last - window, None),
        (last - 2 * window, Some(last + 1 - window)),
    ] {
        let Verdict::Allowed { word, .. } = rule.decide(0, accepted_at, 1).unwrap() else {
            panic!("a fresh word allows");
        };
        assert_eq!(rule.idle_from(word), from, "accepted at {accepted_at}");
    }
}
