//! Faults that users of other limiters met, each by its number in the project's list of cases.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use windowpane_core::{
    Clock, Cost, Decision, Limiter, MAX_WINDOW, Nanos, Quota, Quotas, RateLimiter, RequestError,
    clock::ManualClock,
};
use windowpane_mutex_log::MutexLog;

const SECOND: Nanos = 1_000_000_000;

fn log(quotas: &[&str]) -> MutexLog {
    MutexLog::new(Quotas::parse(quotas).unwrap())
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

#[test]
fn case_2_an_old_timestamp_creates_no_capacity_and_a_denial_does_not_prune() {
    let log = log(&["1/10s"]);
    assert!(log.decide_at(0, Cost::ONE).unwrap().is_allowed());
    // Two costs of 1 at 100 s would fit one after the other; a cost of 2 is an error. A denial far
    // ahead must not drop what an earlier call still has to count.
    let two = MutexLog::<windowpane_mutex_log::StdMutex>::new(
        Quotas::parse(["2/10s", "1/1000s"]).unwrap(),
    );
    assert!(two.decide_at(0, Cost::ONE).unwrap().is_allowed());
    assert!(!two.decide_at(500 * SECOND, Cost::ONE).unwrap().is_allowed());
    let left = two.peek_at(5 * SECOND, Cost::ONE).unwrap();
    assert_eq!(left.remaining_per_quota(), [1, 0]);
}

#[test]
fn case_3_a_clock_set_back_two_days_creates_nothing_waits_honestly_and_resets() {
    let log = log(&["2/60s"]);
    let two_days = 2 * 86_400 * SECOND;
    assert!(log.decide_at(two_days, cost(2)).unwrap().is_allowed());
    let denied = log.decide_at(0, Cost::ONE).unwrap();
    assert_eq!(
        denied.retry_after(),
        Some(Duration::from_secs(2 * 86_400 + 60))
    );
    log.reset();
    assert!(log.decide_at(0, Cost::ONE).unwrap().is_allowed());
}

#[test]
fn case_5_a_window_of_365_days_is_honoured_to_the_nanosecond_anywhere_in_u64() {
    for start in [0, SECOND, u64::MAX - MAX_WINDOW] {
        let quota = Quota::from_nanos(1, MAX_WINDOW, Default::default()).unwrap();
        let log = <MutexLog>::new(quota);
        assert!(log.decide_at(start, Cost::ONE).unwrap().is_allowed());
        let denied = log.decide_at(start + MAX_WINDOW - 1, Cost::ONE).unwrap();
        assert_eq!(denied.denied().unwrap().retry_after_nanos(), Some(1));
        assert!(
            log.decide_at(start + MAX_WINDOW, Cost::ONE)
                .unwrap()
                .is_allowed()
        );
    }
}

#[test]
fn case_9_a_cost_above_the_limit_never_fits_and_changes_nothing() {
    for (quota, too_much) in [("3/1s", 4), ("10/1s", 11), ("5/1s", 5_000)] {
        let log = log(&[quota]);
        let error = log.decide_at(0, cost(too_much)).unwrap_err();
        assert!(matches!(error, RequestError::NeverFits { quota: 0, .. }));
        assert!(error.to_string().contains("can never fit"), "{error}");
        assert!(log.snapshot().is_empty());
    }
}

#[test]
fn case_18_two_quotas_are_charged_together_or_not_at_all() {
    let log = log(&["10/60s", "1/1s"]);
    assert!(log.decide_at(0, Cost::ONE).unwrap().is_allowed());
    for _ in 0..100 {
        assert!(!log.decide_at(0, Cost::ONE).unwrap().is_allowed());
    }
    let left = log.peek_at(SECOND, Cost::ONE).unwrap();
    assert_eq!(
        left.remaining_per_quota(),
        [8, 0],
        "one charged, and the peek's own"
    );
}

#[test]
fn case_27_of_several_denying_quotas_the_longest_wait_is_told_of_equals_the_first() {
    let log = log(&["2/1s", "2/60s", "2/60s"]);
    assert!(log.decide_at(0, cost(2)).unwrap().is_allowed());
    let denied = log.decide_at(0, Cost::ONE).unwrap().denied().unwrap();
    assert_eq!(
        (denied.quota(), denied.retry_after()),
        (1, Some(Duration::from_secs(60)))
    );
}

/// The clock is read inside the lock: a clock that panics there leaves a sound log.
#[test]
fn a_panicking_clock_poisons_nothing() {
    struct Broken;
    impl Clock for Broken {
        fn now(&self) -> Nanos {
            panic!("no time today")
        }
    }
    let log = log(&["1/1s"]);
    let broken = catch_unwind(AssertUnwindSafe(|| log.decide_with(&Broken, Cost::ONE)));
    assert!(broken.is_err());
    assert_eq!(log.decide_at(7, Cost::ONE), Ok(Decision::Allowed { at: 7 }));
}

#[test]
fn what_is_recorded_without_asking_is_counted_beyond_the_limit() {
    let log = log(&["2/1s"]);
    assert_eq!(log.record_at(0, cost(5))[0], 5);
    assert_eq!(
        log.record_at(1, cost(u64::MAX))[0],
        u64::MAX,
        "saturates in the answer"
    );
    assert_eq!(log.peek_at(1, Cost::ONE).unwrap().remaining(), 0);
    assert!(log.decide_at(SECOND + 1, cost(2)).unwrap().is_allowed());
}

#[test]
fn a_limiter_reads_its_own_clock() {
    let limiter = Limiter::with_clock(log(&["1/1s"]), ManualClock::new(0));
    assert!(limiter.try_acquire().is_ok());
    assert!(limiter.try_acquire().is_err());
    limiter.clock().advance(Duration::from_secs(1));
    assert!(limiter.is_idle());
    let (_, status) = limiter.peek(1).unwrap();
    assert_eq!(status.remaining(), 0, "what the request would leave");
    assert!(limiter.try_acquire_detailed(1).is_ok());
}
