//! Decisions, denials and what remains.

use std::time::Duration;

use windowpane_core::{Cost, Decision, Denial, Detailed, PerQuota, Quotas};

#[test]
fn an_allowance_has_no_wait_and_a_denial_has_its_own() {
    let allowed = Decision::Allowed { at: 7 };
    assert!(allowed.is_allowed());
    assert_eq!((allowed.denied(), allowed.retry_after()), (None, None));

    let denial = Denial::new(2, Some(1_500));
    let denied = Decision::Denied(denial);
    assert!(!denied.is_allowed());
    assert_eq!(denied.denied(), Some(denial));
    assert_eq!(denied.retry_after(), Some(Duration::from_nanos(1_500)));
    assert_eq!(
        (denial.quota(), denial.retry_after_nanos()),
        (2, Some(1_500))
    );
    assert_eq!(denial.retry_after(), denied.retry_after());

    // No wait helps against a limit of 0, and a wait of 0 would be none.
    assert_eq!(Denial::new(0, None).retry_after(), None);
    assert_eq!(Denial::new(0, Some(0)).retry_after_nanos(), Some(1));
}

#[test]
fn of_several_denials_the_longest_counts_then_the_first() {
    let denied = |quota, wait| Denial::new(quota, wait);
    let longest = |denials: [Denial; 3]| {
        denials
            .into_iter()
            .fold(None, |longest, next| Some(Denial::longest(longest, next)))
            .unwrap()
            .quota()
    };
    let waits = |a, b, c| longest([denied(0, a), denied(1, b), denied(2, c)]);
    assert_eq!(waits(Some(5), Some(9), Some(7)), 1);
    assert_eq!(waits(Some(9), Some(5), Some(9)), 0);
    assert_eq!(waits(Some(1), Some(2), Some(3)), 2);
    // A limit of 0 is longer than any wait.
    assert_eq!(waits(Some(9), None, Some(10)), 1);
    assert_eq!(waits(None, Some(9), None), 0);
}

#[test]
fn what_remains_is_per_quota_and_the_largest_cost() {
    let quotas = Quotas::parse(["9/1s", "20/60s"]).unwrap();
    let allowed = Decision::Allowed { at: 7 };
    let detailed = Detailed::new(allowed, &quotas, PerQuota::from_slice(&[5, 3]));
    assert!(detailed.is_allowed());
    assert_eq!(detailed.decision(), allowed);
    assert_eq!(detailed.remaining(), 3);
    assert_eq!(detailed.remaining_per_quota(), [5, 3]);
    let denied = Decision::Denied(Denial::new(0, Some(1)));
    let detailed = Detailed::new(denied, &quotas, PerQuota::from_slice(&[0, 3]));
    assert!(!detailed.is_allowed());
    assert_eq!(detailed.remaining(), 0);
}

#[test]
fn a_cost_is_written_as_its_number() {
    let cost = Cost::of::<250>();
    assert_eq!(cost.to_string(), "250");
    assert_eq!(format!("{cost:>5}"), "  250");
    assert_eq!((Cost::new(250), Cost::new(0)), (Some(cost), None));
}
