//! The fixed window against a count by window.

use std::collections::HashMap;

use proptest::prelude::*;
use windowpane_baselines::{FixedWindow, FixedWindowRule};
use windowpane_core::one_word::{self, OneWordRule, Verdict};
use windowpane_core::{
    BuildError, Cost, Decision, Quota, Quotas, RateLimiter, RequestError, Settle, Unit,
};

fn limiter(quota: &str) -> FixedWindow {
    FixedWindow::new(Quotas::parse([quota]).unwrap()).unwrap()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn it_decides_as_a_count_by_window_does(
        limit in 0..12_u64,
        window in prop_oneof![Just(1_u64), 1..50_u64],
        calls in prop::collection::vec((prop_oneof![-20..60_i64, Just(0)], 1..14_u64), 1..80),
    ) {
        let quota = Quota::from_nanos(limit, window, Unit::Permits).unwrap();
        let limiter = FixedWindow::new(quota).unwrap();
        let mut counts = HashMap::<u64, u64>::new();
        let (mut now, mut latest_start) = (200_u64, 0_u64);
        for (step, cost) in calls {
            now = now.saturating_add_signed(step);
            let asked = Cost::new(cost).unwrap();
            let peeked = limiter.peek_at(now, asked);
            let answer = limiter.decide_detailed_at(now, asked);
            prop_assert_eq!(&peeked, &answer);
            if limit > 0 && cost > limit {
                prop_assert_eq!(answer, Err(RequestError::NeverFits { cost: asked, quota: 0, limit }));
                continue;
            }
            let t = now.max(latest_start);
            let start = t / window * window;
            let count = counts.entry(start).or_default();
            let answer = answer.unwrap();
            if *count + cost <= limit {
                prop_assert_eq!(answer.decision(), Decision::Allowed { at: t });
                *count += cost;
                latest_start = start;
            } else {
                let wait = answer.decision().denied().unwrap().retry_after_nanos();
                prop_assert_eq!(wait, (limit > 0).then_some(start + window - now));
            }
            prop_assert_eq!(answer.remaining(), limit - *count);
            prop_assert_eq!(limiter.is_idle_at(now), *count == 0);
        }
        limiter.reset();
        prop_assert!(limiter.is_idle_at(0));
    }
}

#[test]
fn what_does_not_fit_a_word_is_refused_with_what_does() {
    let quota = |limit, window| Quota::from_nanos(limit, window, Unit::Permits).unwrap();
    let Err(error) = FixedWindow::new(quota(1 << 20, 1_000)) else {
        panic!("20 bits of count leave 43 of index: 43 bits of a microsecond are under a year");
    };
    assert!(matches!(error, BuildError::RangeTooShort { .. }));
    assert!(
        error.to_string().contains("the limit can be up to 32767"),
        "{error}"
    );
    assert!(FixedWindow::new(quota(32_767, 1_000)).is_ok());
    assert!(FixedWindow::new(quota(32_768, 1_000)).is_err());
    assert!(FixedWindow::new(quota(u64::MAX, 1)).is_err());

    let two = Quotas::parse(["1/1s", "2/2s"]).unwrap();
    assert!(matches!(
        FixedWindow::new(two),
        Err(BuildError::TooManyQuotas { given: 2, .. })
    ));
}

/// The index has to last for ten years whenever in its first window the limiter begins.
#[test]
fn ten_years_are_held_and_no_less() {
    let ten_years = u64::try_from(one_word::REQUIRED_RANGE).unwrap();
    assert_eq!(ten_years, 3_653 * 86_400_000_000_000);
    // 60 bits of count leave 4 of index: 16 windows, of which the first may be nearly over.
    let made = |window| {
        FixedWindow::new(Quota::from_nanos(1 << 59, window, Unit::Permits).unwrap()).map(drop)
    };
    assert_eq!(made(ten_years / 15), Ok(()));
    for window in [ten_years / 15 - 1, ten_years / 16] {
        let error = made(window).unwrap_err();
        let BuildError::RangeTooShort { covers, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(covers, 15 * u128::from(window));
    }
}

#[test]
fn past_its_range_it_is_an_error_and_not_a_wrong_decision() {
    let quota = Quota::from_nanos(32_767, 1_000, Unit::Permits).unwrap();
    let limiter = FixedWindow::new(quota).unwrap();
    let Err(RequestError::TimeOutOfRange { last, .. }) = limiter.decide_at(u64::MAX, Cost::ONE)
    else {
        panic!("out of range");
    };
    assert!(limiter.decide_at(last + 1, Cost::ONE).is_err());
    assert!(limiter.decide_at(last, Cost::ONE).unwrap().is_allowed());
    // The range ends there whichever window it is asked from.
    assert!(limiter.decide_at(last + 1, Cost::ONE).is_err());
    assert_eq!(
        limiter.peek_at(last, Cost::ONE).unwrap().remaining(),
        32_765
    );
}

#[test]
fn requests_are_counted_once_whatever_they_cost() {
    let limiter = FixedWindow::new(Quotas::parse(["2req/1s"]).unwrap()).unwrap();
    assert!(
        limiter
            .decide_at(0, Cost::of::<500>())
            .unwrap()
            .is_allowed()
    );
    assert!(
        limiter
            .decide_at(0, Cost::of::<500>())
            .unwrap()
            .is_allowed()
    );
    assert!(
        !limiter
            .decide_at(0, Cost::of::<500>())
            .unwrap()
            .is_allowed()
    );
}

#[test]
fn a_charge_is_replaced_while_its_window_lasts_and_then_no_more() {
    let limiter = limiter("10/10ns");
    let remaining = |at| limiter.peek_at(at, Cost::ONE).unwrap().remaining();
    assert!(limiter.decide_at(13, cost(8)).unwrap().is_allowed());
    limiter.settle_at(13, cost(8), 3);
    assert_eq!(remaining(13), 6);
    // Of another window: before it, and after it.
    limiter.settle_at(9, cost(3), 0);
    limiter.settle_at(20, cost(3), 0);
    assert_eq!(remaining(13), 6);
    // Charged more than there is, it is used up until the window is over; the index is untouched.
    limiter.settle_at(13, cost(3), 12);
    let denied = limiter.decide_detailed_at(19, Cost::ONE).unwrap();
    assert_eq!(denied.remaining(), 0);
    let wait = denied.decision().denied().unwrap().retry_after_nanos();
    assert_eq!(wait, Some(1));
    limiter.settle_at(13, Cost::ONE, u64::MAX);
    assert!(!limiter.decide_at(19, Cost::ONE).unwrap().is_allowed());
    assert!(limiter.decide_at(20, cost(10)).unwrap().is_allowed());
    limiter.settle_at(13, cost(3), 0);
    assert!(!limiter.decide_at(20, Cost::ONE).unwrap().is_allowed());
}

#[test]
fn nine_pairs_of_taking_and_giving_back_leave_the_capacity_as_it_was() {
    let limiter = limiter("10/1s");
    for pair in 0..9 {
        let at = pair * 11_000_000;
        assert!(limiter.decide_at(at, Cost::ONE).unwrap().is_allowed());
        limiter.settle_at(at, Cost::ONE, 0);
    }
    assert!(
        limiter
            .decide_at(99_000_000, cost(10))
            .unwrap()
            .is_allowed()
    );
    assert!(
        !limiter
            .decide_at(99_000_000, Cost::ONE)
            .unwrap()
            .is_allowed()
    );
}

/// The wait after which there is more is told where something is used, and ends with the window.
#[test]
fn more_remains_when_it_is_told() {
    let rule = |quota: &str| FixedWindowRule::new(quota.parse().unwrap(), 0).unwrap();
    let after = |rule: &FixedWindowRule, word, charge| match rule.decide(word, 4, charge) {
        Ok(Verdict::Allowed { word, .. }) => word,
        other => panic!("{other:?}"),
    };
    let three = rule("3/10ns");
    assert_eq!(one_word::more_after(&three, 0, 4), None);
    let word = after(&three, 0, 2);
    assert_eq!(one_word::more_after(&three, word, 4), Some(6));
    assert_eq!(one_word::more_after(&three, word, 9), Some(1));
    assert_eq!(one_word::more_after(&three, word, 10), None);
    let word = after(&three, word, 1);
    assert_eq!(one_word::more_after(&three, word, 4), Some(6));
    assert_eq!(one_word::more_after(&rule("0/10ns"), 0, 4), None);
}

#[test]
fn a_limit_of_0_denies_without_a_wait_and_has_nothing_left() {
    let limiter = limiter("0/1s");
    for answer in [
        limiter.decide_detailed_at(5, Cost::ONE),
        limiter.peek_at(5, cost(9)),
    ] {
        let answer = answer.unwrap();
        assert_eq!(answer.decision().denied().unwrap().retry_after(), None);
        assert_eq!(answer.remaining(), 0);
    }
}

#[test]
fn a_count_of_requests_gives_nothing_back() {
    let limiter = limiter("2req/1s");
    assert!(limiter.decide_at(0, cost(500)).unwrap().is_allowed());
    limiter.settle_at(0, cost(500), 0);
    assert_eq!(limiter.peek_at(0, Cost::ONE).unwrap().remaining(), 0);
}
