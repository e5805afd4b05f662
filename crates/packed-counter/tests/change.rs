//! Other quotas for a counter in use.

use proptest::prelude::*;
use windowpane_core::{BuildError, ChangeQuotas, Cost, Nanos, Quota, Quotas, RateLimiter, Unit};
use windowpane_packed_counter::PackedCounter;

const SECOND: Nanos = 1_000_000_000;

fn quotas(text: &str) -> Quotas {
    Quotas::parse([text]).unwrap()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

fn remaining(counter: &PackedCounter, at: Nanos) -> u64 {
    let look = counter.peek_at(at, Cost::ONE).unwrap();
    look.remaining() + u64::from(look.is_allowed())
}

/// Case 19: a raise is in force at once; a limit lowered below what is used leaves 0, and that comes
/// back as the rule says, with all that was used.
#[test]
fn case_19_raised_and_lowered_live() {
    let mut counter = PackedCounter::new(quotas("900/10s")).unwrap();
    assert!(counter.decide_at(0, cost(900)).unwrap().is_allowed());
    counter.change_at(SECOND, &quotas("1000/10s")).unwrap();
    assert_eq!(remaining(&counter, SECOND), 100);
    counter.change_at(2 * SECOND, &quotas("10/10s")).unwrap();
    let denied = counter.decide_detailed_at(2 * SECOND, Cost::ONE).unwrap();
    assert_eq!(denied.remaining(), 0);
    // 900 × (10 s − e) / 10 s is at most 9 from e = 9.9 s of the next window on.
    let wait = denied.decision().denied().unwrap().retry_after_nanos();
    assert_eq!(wait, Some(17_900_000_000));
    assert_eq!(remaining(&counter, 19 * SECOND), 0);
    assert_eq!(remaining(&counter, 20 * SECOND), 10);
}

/// The windows of the new quota begin at its own multiples, wherever the change falls.
#[test]
fn new_windows_begin_at_their_own_multiples() {
    let start = 1_500;
    let mut counter = PackedCounter::starting_at(quotas("4/1us"), start).unwrap();
    assert!(counter.decide_at(1_700, cost(4)).unwrap().is_allowed());
    counter.change_at(1_700, &quotas("4/300ns")).unwrap();
    let denied = counter.decide_at(1_700, Cost::ONE).unwrap();
    // The window from 1,500 on ends at 1,800; 4 × (300 − e) / 300 is at most 3 from e = 75 on.
    let wait = denied.denied().unwrap().retry_after_nanos();
    assert_eq!(wait, Some(175));
    assert_eq!(remaining(&counter, 2_099), 3);
    assert_eq!(remaining(&counter, 2_100), 4);
}

#[test]
fn what_cannot_be_held_is_an_error_that_changes_nothing() {
    let mut counter = PackedCounter::new(quotas("1000/60s")).unwrap();
    assert!(counter.decide_at(0, cost(1_000)).unwrap().is_allowed());
    let unit = counter.change_at(0, &quotas("10req/60s")).unwrap_err();
    assert!(matches!(unit, BuildError::UnitChanged { .. }), "{unit}");
    // A limit of 1 has room beside a window of 1 us; what is used has not.
    assert!(PackedCounter::new(quotas("1/1us")).is_ok());
    let range = counter.change_at(0, &quotas("1/1us")).unwrap_err();
    assert!(matches!(range, BuildError::RangeTooShort { .. }), "{range}");
    assert_eq!(counter.quotas(), quotas("1000/60s"));
    assert_eq!(remaining(&counter, 0), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Right after a change as much is used as right before it. Under the same window the counter
    /// then decides as one that had the new limit all along and accepted the same.
    #[test]
    fn what_was_used_is_still_used(
        limits in (1..50_u64, 1..50_u64),
        windows in prop_oneof![
            (1_000_000..2_000_000_u64).prop_map(|window| (window, window)),
            (1_000_000..2_000_000_u64, 100_000..9_000_000_u64),
        ],
        costs in prop::collection::vec((0..900_000_u64, 1..12_u64), 1..20),
        later in 0..1_500_000_u64,
        looks in prop::collection::vec(0..900_000_u64, 1..10),
    ) {
        let quota = |limit, window| Quota::from_nanos(limit, window, Unit::Permits).unwrap();
        let mut counter = PackedCounter::new(quota(limits.0, windows.0)).unwrap();
        // One so wide that it takes all that the first accepts.
        let wide = PackedCounter::new(quota(1 << 10, windows.0)).unwrap();
        let mut now = 0;
        for (step, permits) in costs {
            now += step;
            let answer = counter.decide_at(now, cost(permits));
            if answer.is_ok_and(|decision| decision.is_allowed()) {
                prop_assert!(wide.decide_at(now, cost(permits)).unwrap().is_allowed());
            }
        }
        now += later;
        let used = (1 << 10) - remaining(&wide, now);
        counter.change_at(now, &quota(limits.1, windows.1).into()).unwrap();
        prop_assert_eq!(remaining(&counter, now), limits.1.saturating_sub(used));
        for step in looks.into_iter().filter(|_| windows.0 == windows.1) {
            now += step;
            let used = (1 << 10) - remaining(&wide, now);
            prop_assert_eq!(remaining(&counter, now), limits.1.saturating_sub(used));
        }
    }
}
