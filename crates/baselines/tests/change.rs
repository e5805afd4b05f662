//! Other quotas for a limiter in use.

use proptest::prelude::*;
use windowpane_baselines::{FixedWindow, Gcra, GcraRule};
use windowpane_core::{
    BuildError, ChangeQuotas, Cost, FromQuotas, Nanos, Quota, Quotas, RateLimiter, Unit,
};

const SECOND: Nanos = 1_000_000_000;

fn quotas(text: &str) -> Quotas {
    Quotas::parse([text]).unwrap()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

fn remaining(limiter: &impl RateLimiter, at: Nanos) -> u64 {
    let look = limiter.peek_at(at, Cost::ONE).unwrap();
    look.remaining() + u64::from(look.is_allowed())
}

/// Case 19: a raise is in force at once, a limit lowered below what is used leaves 0 and comes back.
#[test]
fn case_19_raised_and_lowered_live() {
    let mut fixed = FixedWindow::new(quotas("10/60s")).unwrap();
    assert!(fixed.decide_at(0, cost(10)).unwrap().is_allowed());
    fixed.change_at(0, &quotas("12/60s")).unwrap();
    assert_eq!(remaining(&fixed, 0), 2);
    fixed.change_at(SECOND, &quotas("3/60s")).unwrap();
    let denied = fixed.decide_detailed_at(SECOND, Cost::ONE).unwrap();
    assert_eq!(denied.remaining(), 0);
    let wait = denied.decision().denied().unwrap().retry_after_nanos();
    assert_eq!(wait, Some(59 * SECOND));
    assert_eq!(remaining(&fixed, 60 * SECOND), 3);

    // Permits that have not come back stay away, and come back at the new rate.
    let mut gcra = Gcra::new(quotas("10/10s")).unwrap();
    assert!(gcra.decide_at(0, cost(10)).unwrap().is_allowed());
    gcra.change_at(2 * SECOND, &quotas("20/10s")).unwrap();
    assert_eq!(remaining(&gcra, 2 * SECOND), 12);
    gcra.change_at(2 * SECOND, &quotas("5/10s")).unwrap();
    assert_eq!(remaining(&gcra, 2 * SECOND), 0);
    // Eight are out, a permit comes back in 2 s, and five may be: three have to come back first.
    let denied = gcra.decide_at(2 * SECOND, Cost::ONE).unwrap();
    assert_eq!(
        denied.denied().unwrap().retry_after_nanos(),
        Some(8 * SECOND)
    );
    assert_eq!(remaining(&gcra, 18 * SECOND), 5);
}

/// A limiter that has accepted nothing has not accepted anything by a change, at no time.
#[test]
fn a_change_of_what_was_never_used_leaves_no_trace() {
    fn check<L: FromQuotas + ChangeQuotas>() {
        let mut limiter = L::from_quotas(&quotas("4/100ns"), 0).unwrap();
        limiter.change_at(50, &quotas("5/100ns")).unwrap();
        assert!(limiter.is_idle_at(20), "{}", L::NAME);
        assert_eq!(remaining(&limiter, 20), 5, "{}", L::NAME);
    }
    check::<FixedWindow>();
    check::<Gcra>();
}

/// What counts in the window of the change goes on counting, and nothing of a window that is over.
#[test]
fn the_count_of_the_window_of_the_change_is_kept() {
    // The first window began at 1,000, and the one that is counted in at 1,200.
    for (change, left) in [(1_150, 7), (1_200, 7), (1_299, 7), (1_300, 10), (1_450, 10)] {
        let mut fixed = FixedWindow::starting_at(quotas("4/100ns"), 1_050).unwrap();
        assert!(fixed.decide_at(1_230, cost(3)).unwrap().is_allowed());
        fixed.change_at(change, &quotas("10/100ns")).unwrap();
        assert_eq!(remaining(&fixed, change), left, "changed at {change}");
    }
}

#[test]
fn a_burst_of_ones_own_stays() {
    let rule = GcraRule::with_burst("60/60s".parse().unwrap(), Cost::ONE).unwrap();
    let mut gcra = Gcra::with_rule(rule);
    gcra.change_at(0, &quotas("120/60s")).unwrap();
    assert_eq!(gcra.rule().burst(), 1);
    assert_eq!(gcra.rule().interval(), SECOND / 2);
    // One that is the limit is the new limit.
    let mut gcra = Gcra::new(quotas("60/60s")).unwrap();
    assert_eq!(gcra.rule().burst(), 60);
    gcra.change_at(0, &quotas("120/60s")).unwrap();
    assert_eq!(gcra.rule().burst(), 120);
}

#[test]
fn what_cannot_be_held_is_an_error_that_changes_nothing() {
    fn check<L: FromQuotas + ChangeQuotas>(name: &str) {
        let mut limiter = L::from_quotas(&quotas("10/60s"), 0).unwrap();
        assert!(limiter.decide_at(0, cost(4)).unwrap().is_allowed());
        let two = Quotas::parse(["10/60s", "1/1s"]).unwrap();
        let error = limiter.change_at(0, &two).unwrap_err();
        assert!(
            matches!(error, BuildError::TooManyQuotas { given: 2, .. }),
            "{name}: {error}"
        );
        let error = limiter.change_at(0, &quotas("10req/60s")).unwrap_err();
        assert!(
            matches!(error, BuildError::UnitChanged { .. }),
            "{name}: {error}"
        );
        assert!(
            limiter
                .change_at(0, &quotas("9223372036854775807/1ns"))
                .is_err()
        );
        assert_eq!(limiter.quotas(), quotas("10/60s"));
        assert_eq!(remaining(&limiter, 0), 6);
    }
    check::<FixedWindow>("fixed-window");
    check::<Gcra>("gcra");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// What is used right after a change is what was used right before it: never less, and of GCRA at
    /// most a permit more, since a part of one is out.
    #[test]
    fn what_was_used_is_still_used(
        limits in (1..50_u64, 0..50_u64), windows in (1_000..100_000_u64, 1_000..100_000_u64),
        costs in prop::collection::vec((0..20_000_u64, 1..12_u64), 1..20), later in 0..30_000_u64,
    ) {
        fn check<L: FromQuotas + ChangeQuotas>(
            before: Quota, after: Quota, costs: &[(u64, u64)], later: u64, more: u64,
        ) -> Result<(), TestCaseError> {
            let mut limiter = L::from_quotas(&before.into(), 0).unwrap();
            let mut now = 0;
            for (step, permits) in costs {
                now += step;
                let _ = limiter.decide_at(now, cost(*permits));
            }
            now += later;
            let used = before.limit() - remaining(&limiter, now);
            limiter.change_at(now, &after.into()).unwrap();
            let left = match after.limit() {
                0 => 0,
                _ => remaining(&limiter, now),
            };
            let most = after.limit().saturating_sub(used);
            prop_assert!(left <= most && most <= left + more, "{left} of {most}");
            Ok(())
        }
        let quota = |limit, window| Quota::from_nanos(limit, window, Unit::Permits).unwrap();
        let (before, after) = (quota(limits.0, windows.0), quota(limits.1, windows.1));
        check::<Gcra>(before, after, &costs, later, 1)?;
        let millis = |quota: Quota| Quota::from_nanos(quota.limit(), quota.window() * 1_000, quota.unit()).unwrap();
        check::<FixedWindow>(millis(before), millis(after), &costs, later, 0)?;
    }
}

/// What is out comes back no sooner: where the intervals do not divide evenly, it is rounded up.
#[test]
fn a_part_of_a_permit_that_is_out_stays_out() {
    let mut gcra = Gcra::new(quotas("3/9ns")).unwrap();
    assert!(gcra.decide_at(10, Cost::ONE).unwrap().is_allowed());
    // It is back at 13: a third of a permit is out, two thirds of a nanosecond at the new rate.
    gcra.change_at(12, &quotas("4/8ns")).unwrap();
    let denied = gcra.decide_at(12, cost(4)).unwrap().denied().unwrap();
    assert_eq!(denied.retry_after_nanos(), Some(1));
}
