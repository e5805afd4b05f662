//! Faults of costs and limits.

use windowpane_core::{Quota, QuotaError, RequestError};

use crate::every::{MINUTE, SECOND, cost, every};

#[test]
fn case_7_a_limit_of_0_denies_all_and_a_window_of_0_is_an_error() {
    for limiter in every(&["0/10s"]) {
        for now in [0, 1, 10 * SECOND, 1_000 * SECOND] {
            let decision = limiter.limiter.decide_at(now, cost(7)).unwrap();
            let denied = decision.denied().expect("denied");
            assert_eq!(denied.retry_after(), None, "{}", limiter.name);
        }
        let peeked = limiter.limiter.peek_at(0, cost(1)).unwrap();
        assert_eq!(peeked.remaining(), 0, "{}", limiter.name);
    }
    let zero: Result<Quota, QuotaError> = "10/0s".parse();
    assert_eq!(zero, Err(QuotaError::ZeroWindow));
}

#[test]
fn case_9_a_cost_above_the_limit_never_fits_and_changes_nothing() {
    for (quota, limit, too_much) in [("3/1s", 3, 4), ("10/1s", 10, 11), ("5/1s", 5, 5_000)] {
        for limiter in every(&[quota]) {
            let error = limiter.limiter.decide_at(0, cost(too_much)).unwrap_err();
            let expected = RequestError::NeverFits {
                cost: cost(too_much),
                quota: 0,
                limit,
            };
            assert_eq!(error, expected, "{}", limiter.name);
            assert_eq!(
                limiter.limiter.peek_at(0, cost(too_much)),
                Err(expected),
                "{}",
                limiter.name
            );
            assert!(limiter.limiter.is_idle_at(0), "{}", limiter.name);
            assert!(
                limiter.asks(0, limit),
                "{}: all of it is there",
                limiter.name
            );
        }
    }
}

#[test]
fn case_10_used_and_cost_together_stay_within_the_limit() {
    for limiter in every(&["10/60s"]) {
        assert!(limiter.asks(0, 8), "{}", limiter.name);
        assert!(!limiter.asks(1, 3), "{}", limiter.name);
        // The denial charged nothing: what is left is there, to the last permit.
        assert!(limiter.asks(2, 2), "{}", limiter.name);
        assert!(!limiter.asks(3, 1), "{}", limiter.name);
    }
}

#[test]
fn case_24_a_quota_says_its_limit_and_its_window_by_name() {
    let quota = Quota::per_second(4_000);
    assert_eq!((quota.limit(), quota.window()), (4_000, SECOND));
    assert_eq!(quota, "4000/1s".parse().unwrap());
    for limiter in every(&["4000/1s"]) {
        let at = 10 * MINUTE;
        assert_eq!(limiter.allowed_of(5_000, at), 4_000, "{}", limiter.name);
        // Not one per 4,000 s: two seconds later all of them again.
        let later = at + 2 * SECOND;
        assert_eq!(limiter.allowed_of(5_000, later), 4_000, "{}", limiter.name);
    }
}
