//! Faults of several quotas at once, on those that hold several.

use std::time::Duration;

use crate::every::{MINUTE, SECOND, cost, every};

#[test]
fn case_18_two_quotas_are_charged_together_or_not_at_all() {
    // Either order: what is checked first must not be charged first.
    for quotas in [["10/60s", "1/1s"], ["1/1s", "10/60s"]] {
        for limiter in every(&quotas) {
            assert!(limiter.asks(0, 1), "{}", limiter.name);
            for _ in 0..100 {
                assert!(!limiter.asks(SECOND / 2, 1), "{}", limiter.name);
            }
            // With buckets of a second the second's permit is back at the next one's end.
            let left = limiter.limiter.peek_at(2 * SECOND, cost(1)).unwrap();
            let mut left = left.remaining_per_quota().to_vec();
            left.sort_unstable();
            assert_eq!(
                left,
                [0, 8],
                "{}: one charged, and the peek's",
                limiter.name
            );
        }
    }
}

#[test]
fn case_27_of_several_denying_quotas_the_longest_wait_is_told_of_equals_the_first() {
    for limiter in every(&["2/1s", "2/60s", "2/60s"]) {
        assert!(limiter.asks(0, 2), "{}", limiter.name);
        let wait = limiter.honest_wait(0, 1);
        let denied = limiter.limiter.decide_at(0, cost(1)).unwrap().denied();
        assert_eq!(denied.unwrap().quota(), 1, "{}", limiter.name);
        let expected = match limiter.exact {
            true => MINUTE,
            false => MINUTE + SECOND - 1,
        };
        assert_eq!(wait, expected, "{}", limiter.name);
    }
    for limiter in every(&["1/10s", "3/60s"]) {
        assert!(limiter.asks(0, 1), "{}", limiter.name);
        let denied = limiter.limiter.decide_at(5 * SECOND, cost(1)).unwrap();
        let denied = denied.denied().unwrap();
        // Only the first denies, so its wait is told.
        assert_eq!(denied.quota(), 0, "{}", limiter.name);
        let late = denied.retry_after().unwrap() - Duration::from_secs(5);
        assert!(late < Duration::from_secs(1), "{}: {late:?}", limiter.name);
    }
}
