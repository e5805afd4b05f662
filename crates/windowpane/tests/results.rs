//! The results of calls that take permits, over the algorithms that are on by default.

use std::error::Error;
use std::time::Duration;

use windowpane::algorithm::{FromQuotas, Settle};
use windowpane::{
    AcquireError, BucketRing, CasRing, Limiter, ManualClock, MutexLog, OnRegression, PackedCounter,
    Quota, Quotas,
};

type Manual<L> = Limiter<L, ManualClock>;

fn limiter<L: FromQuotas>(quotas: &str) -> Manual<L> {
    Limiter::on_clock(quotas, ManualClock::new(0)).unwrap()
}

/// Calls a function for each algorithm.
macro_rules! for_each_algorithm {
    ($check:ident) => {
        $check::<MutexLog>();
        $check::<CasRing>();
        $check::<BucketRing>();
        $check::<PackedCounter>();
    };
}

#[test]
fn a_cost_of_zero_is_an_error_of_each_call() {
    fn check<L: FromQuotas>() {
        let limiter = limiter::<L>("3/60s");
        let zero = AcquireError::ZeroCost;
        assert_eq!(limiter.try_acquire_many(0).unwrap_err(), zero);
        let rejected = limiter.try_acquire_detailed(0).unwrap_err();
        assert_eq!((rejected.error(), rejected.status()), (&zero, None));
        assert_eq!(limiter.peek(0).unwrap_err().error(), &zero);
        assert!(limiter.is_idle());
        let queue = limiter.queued();
        assert_eq!(queue.try_acquire_many(0).unwrap_err(), zero);
        assert_eq!(queue.until_ready_many_blocking(0).unwrap_err(), zero);
        assert_eq!(queue.waiting(), 0);
    }
    for_each_algorithm!(check);
    let log = limiter::<MutexLog>("3/60s");
    assert_eq!(log.try_reserve(0).unwrap_err(), AcquireError::ZeroCost);
}

#[test]
fn a_cost_above_the_limit_never_fits() {
    fn check<L: FromQuotas>() {
        let limiter = limiter::<L>("10/60s");
        let error = limiter.try_acquire_many(11).unwrap_err();
        let text = "a cost of 11 can never fit: the quota is 10/60s";
        assert_eq!(error.to_string(), text);
        assert_eq!(error.denied(), None);
        assert_eq!(limiter.remaining(), 10);
        assert_eq!(limiter.peek(11).unwrap_err().error(), &error);
    }
    for_each_algorithm!(check);
    let error = limiter::<MutexLog>("100/60s, 10/1s").try_acquire_many(11);
    assert_eq!(
        error.unwrap_err(),
        AcquireError::NeverFits {
            cost: 11,
            quota: Quota::per_second(10),
            index: 1
        }
    );
}

#[test]
fn a_limit_of_zero_has_no_wait() {
    fn check<L: FromQuotas>() {
        let limiter = limiter::<L>("0/1s");
        let expected = AcquireError::LimitIsZero {
            quota: Quota::per_second(0),
            index: 0,
        };
        assert_eq!(limiter.try_acquire().unwrap_err(), expected);
        let rejected = limiter.try_acquire_detailed(7).unwrap_err();
        assert_eq!(rejected.error(), &expected);
        assert_eq!(rejected.status().unwrap().remaining(), 0);
        assert_eq!(limiter.remaining(), 0);
    }
    for_each_algorithm!(check);
}

#[test]
fn a_denial_names_the_quota_with_the_longest_wait() {
    let limiter = limiter::<MutexLog>("2/1s, 3/60s");
    limiter.try_acquire_many(2).unwrap();
    let denied = limiter.try_acquire().unwrap_err().denied().unwrap();
    assert_eq!(
        (denied.quota_index(), denied.quota()),
        (0, Quota::per_second(2))
    );
    assert_eq!(denied.retry_after(), Duration::from_secs(1));
    limiter.clock().advance(Duration::from_secs(1));
    limiter.try_acquire().unwrap();
    let rejected = limiter.try_acquire_detailed(1).unwrap_err();
    let denied = rejected.error().denied().unwrap();
    assert_eq!(
        (denied.quota_index(), denied.quota()),
        (1, Quota::per_minute(3))
    );
    assert_eq!(denied.retry_after(), Duration::from_secs(59));
    let status = rejected.status().unwrap();
    assert_eq!(
        (status.remaining(), status.remaining_per_quota()),
        (0, &[1, 0][..])
    );
}

/// The wait of a denial is exact for each algorithm, by its own rule.
#[test]
fn a_request_is_allowed_at_the_end_of_its_wait() {
    fn check<L: FromQuotas>() {
        let limiter = limiter::<L>("4/10s");
        for second in [0, 3, 3, 7] {
            limiter.clock().set(second * 1_000_000_000);
            limiter.try_acquire().unwrap();
        }
        for cost in 1..=4 {
            let denied = limiter.peek(cost).unwrap_err().error().denied().unwrap();
            let now = 7_000_000_000;
            let end = now + u64::try_from(denied.retry_after().as_nanos()).unwrap();
            limiter.clock().set(end - 1);
            assert!(limiter.peek(cost).is_err(), "{limiter:?}: {cost}");
            limiter.clock().set(end);
            assert!(limiter.peek(cost).is_ok(), "{limiter:?}: {cost}");
            limiter.clock().set(now);
        }
    }
    for_each_algorithm!(check);
}

#[test]
fn an_allowance_says_what_was_charged_and_what_is_left() {
    fn check<L: FromQuotas>() {
        let limiter = limiter::<L>("10/60s");
        let (peeked, expected) = limiter.peek(3).unwrap();
        let (allowed, status) = limiter.try_acquire_detailed(3).unwrap();
        assert_eq!((&peeked, &expected), (&allowed, &status));
        assert_eq!((allowed.cost(), allowed.at()), (3, Some(Duration::ZERO)));
        assert_eq!(
            (status.remaining(), status.remaining_per_quota()),
            (7, &[7][..])
        );
        assert_eq!(status.quotas(), &"10/60s".parse::<Quotas>().unwrap());
    }
    for_each_algorithm!(check);
}

/// A cost of what remains is allowed, and one permit more is not.
#[test]
fn what_remains_is_the_largest_cost_that_is_allowed() {
    fn check<L: FromQuotas>() {
        let limiter = limiter::<L>("10/60s");
        for taken in 0..10 {
            let remaining = limiter.remaining();
            assert_eq!(remaining, 10 - taken);
            assert!(limiter.peek(remaining).is_ok());
            assert!(limiter.peek(remaining + 1).is_err());
            limiter.try_acquire().unwrap();
        }
        assert_eq!(limiter.remaining(), 0);
    }
    for_each_algorithm!(check);
}

#[test]
fn what_remains_counts_requests_only_where_they_decide() {
    let both = limiter::<MutexLog>("2req/60s, 100/60s");
    assert_eq!(both.remaining(), 100);
    both.try_acquire_many(40).unwrap();
    assert_eq!(both.remaining(), 60);
    both.try_acquire().unwrap();
    assert_eq!(both.remaining(), 0);
    let requests = limiter::<MutexLog>("2req/60s");
    assert_eq!(requests.remaining(), 2);
    requests.try_acquire_many(1_000).unwrap();
    assert_eq!(requests.remaining(), 1);
}

#[test]
fn a_clock_that_went_back_is_an_error_where_it_is_rejected() {
    let log = MutexLog::with_regression(Quota::per_second(5), OnRegression::Reject);
    let limiter: Manual<MutexLog> = Limiter::with_clock(log, ManualClock::new(100));
    limiter.try_acquire().unwrap();
    limiter.clock().set(40);
    let expected = AcquireError::ClockWentBack {
        now: 40,
        latest: 100,
    };
    assert_eq!(limiter.try_acquire().unwrap_err(), expected);
    assert_eq!(limiter.peek(1).unwrap_err().error(), &expected);
    assert_eq!(limiter.remaining(), 0);
}

#[test]
fn a_reservation_that_is_dropped_stays_charged() {
    fn check<L: FromQuotas + Settle>() {
        let limiter = limiter::<L>("10/60s");
        drop(limiter.try_reserve(4).unwrap());
        assert_eq!(limiter.remaining(), 6);
        limiter.try_reserve(5).unwrap().settle(2);
        assert_eq!(limiter.remaining(), 4);
        let error = limiter.try_reserve(5).unwrap_err();
        assert!(matches!(error, AcquireError::Denied(_)), "{error}");
        limiter.try_reserve(1).unwrap().settle(0);
        assert_eq!(limiter.remaining(), 4);
    }
    check::<MutexLog>();
    check::<PackedCounter>();
}

/// An error and its causes, as reports print them.
fn chain(error: &dyn Error) -> Vec<String> {
    let mut chain = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        chain.push(error.to_string());
        cause = error.source();
    }
    chain
}

#[test]
fn a_report_of_an_error_says_nothing_twice() {
    fn program() -> Result<(), Box<dyn Error>> {
        let limiter = limiter::<CasRing>("1/60s");
        limiter.try_acquire()?;
        limiter.try_acquire_detailed(1)?;
        Ok(())
    }
    let text = "denied by the quota of 1/60s: retry after 60s";
    assert_eq!(chain(&*program().unwrap_err()), [text]);
    let error = limiter::<CasRing>("1/60s").try_acquire_many(2).unwrap_err();
    assert_eq!(chain(&error).len(), 1);
    let build = CasRing::new("1req/60s".parse::<Quota>().unwrap()).unwrap_err();
    assert_eq!(chain(&build).len(), 1);
    let error = AcquireError::Build(Box::new(build));
    assert_eq!(chain(&error).len(), 1);
}

#[test]
fn a_rejection_becomes_its_error_by_the_question_mark() {
    fn program(limiter: &Manual<CasRing>) -> Result<u64, AcquireError> {
        let (_, status) = limiter.try_acquire_detailed(1)?;
        Ok(status.remaining())
    }
    let limiter = limiter::<CasRing>("1/60s");
    assert_eq!(program(&limiter), Ok(0));
    assert!(matches!(program(&limiter), Err(AcquireError::Denied(_))));
}
