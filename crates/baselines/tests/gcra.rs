//! GCRA against ten lines of arithmetic, and beside a window in figures.

use proptest::prelude::*;
use windowpane_baselines::{Gcra, GcraRule};
use windowpane_core::one_word;
use windowpane_core::{
    BuildError, Cost, Decision, MAX_WINDOW, Nanos, Quota, Quotas, RateLimiter, RequestError, Unit,
};
use windowpane_mutex_log::MutexLog;

const SECOND: Nanos = 1_000_000_000;

fn quota(text: &str) -> Quota {
    text.parse().unwrap()
}

/// The rule in whole numbers of any size: the TAT after it, or the wait.
fn reference(tat: u128, now: u128, charge: u128, quota: &Quota, burst: u128) -> Result<u128, u128> {
    let t = u128::from(quota.window()).div_ceil(u128::from(quota.limit()));
    let next = tat.max(now) + charge * t;
    match next <= now + burst * t {
        true => Ok(next),
        false => Err(next - now - burst * t),
    }
}

fn shape() -> impl Strategy<Value = (Quota, u64)> {
    let window = prop_oneof![Just(1_u64), 1..100_u64, 1..=MAX_WINDOW, Just(MAX_WINDOW)];
    (
        window,
        1..30_u64,
        prop_oneof![Just(None), (1..60_u64).prop_map(Some)],
    )
        .prop_map(|(window, limit, burst)| {
            let limit = limit.min(window);
            let quota = Quota::from_nanos(limit, window, Unit::Permits).unwrap();
            (quota, burst.unwrap_or(limit))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn it_decides_as_the_arithmetic_says(
        (quota, burst) in shape(),
        start in prop_oneof![Just(0_u64), Just(1 << 62)],
        calls in prop::collection::vec((-8..24_i64, -1..2_i64, 1..32_u64), 1..80),
    ) {
        let rule = GcraRule::with_burst(quota, Cost::new(burst).unwrap()).unwrap();
        let limiter = Gcra::with_rule(rule);
        let interval = rule.interval() as i64;
        let (mut now, mut tat) = (start, 0_u128);
        for (intervals, nanos, charge) in calls {
            now = now.saturating_add_signed(intervals * interval + nanos).min(1 << 63);
            let cost = Cost::new(charge).unwrap();
            let peeked = limiter.peek_at(now, cost);
            let answer = limiter.decide_detailed_at(now, cost);
            prop_assert_eq!(&peeked, &answer);
            if charge > quota.limit().min(burst) {
                let limit = if charge > quota.limit() { quota.limit() } else { burst };
                prop_assert_eq!(answer, Err(RequestError::NeverFits { cost, quota: 0, limit }));
                continue;
            }
            let answer = answer.unwrap();
            match reference(tat, now.into(), charge.into(), &quota, burst.into()) {
                Ok(next) => {
                    tat = next;
                    prop_assert_eq!(answer.decision(), Decision::Allowed { at: now });
                }
                Err(wait) => {
                    let told = answer.decision().denied().unwrap().retry_after_nanos();
                    prop_assert_eq!(told.map(u128::from), Some(wait));
                    let at = |wait| limiter.peek_at(now + wait, cost).unwrap().is_allowed();
                    let told = told.unwrap();
                    prop_assert!(!at(told - 1) && at(told));
                }
            }
            let fits = |cost: &u64| {
                reference(tat, now.into(), (*cost).into(), &quota, burst.into()).is_ok()
            };
            let most = (1..=quota.limit()).rev().find(fits).unwrap_or(0);
            prop_assert_eq!(answer.remaining(), most);
            prop_assert_eq!(limiter.is_idle_at(now), tat <= now.into());
        }
        limiter.reset();
        prop_assert!(limiter.is_idle_at(0));
    }
}

/// The figures of the crate's page.
#[test]
fn sixty_per_minute_are_119_in_the_first_59_seconds_where_a_window_lets_60() {
    let allowed = |limiter: &dyn RateLimiter| {
        let at_once = (0..1_000).map(|_| 0);
        let times = at_once.chain((1..60).map(|second| second * SECOND));
        times
            .filter(|now| limiter.decide_at(*now, Cost::ONE).unwrap().is_allowed())
            .count()
    };
    assert_eq!(allowed(&Gcra::new(quota("60/60s")).unwrap()), 119);
    assert_eq!(allowed(&<MutexLog>::new(quota("60/60s"))), 60);
    // A burst of 1 keeps the rate in every window, and lets nobody come twice within a second.
    let rule = GcraRule::with_burst(quota("60/60s"), Cost::ONE).unwrap();
    assert_eq!(allowed(&Gcra::with_rule(rule)), 60);
}

#[test]
fn a_rate_that_no_whole_interval_has_is_rounded_down() {
    // 7 in 10 s are 1,428,571,428.6 ns each.
    let limiter = Gcra::new(quota("7/10s")).unwrap();
    assert_eq!(limiter.rule().interval(), 1_428_571_429);
    assert!(limiter.decide_at(0, Cost::of::<7>()).unwrap().is_allowed());
    let left = |at| limiter.peek_at(at, Cost::of::<7>()).unwrap().remaining();
    assert_eq!(left(10 * SECOND), 6, "3 ns more until the seventh is back");
    assert_eq!(
        left(10 * SECOND + 3),
        0,
        "allowed: what acquire would leave"
    );
}

#[test]
fn what_no_whole_nanosecond_tells_is_refused() {
    assert!(Gcra::new(quota("1000/1us")).is_ok());
    let Err(error) = Gcra::new(quota("1001/1us")) else {
        panic!("more than one permit a nanosecond")
    };
    let too_large = matches!(
        error,
        BuildError::LimitTooLarge {
            limit: 1_001,
            max: 1_000,
            ..
        }
    );
    assert!(too_large, "{error:?}");

    let day = |burst| GcraRule::with_burst(quota("1/1d"), Cost::new(burst).unwrap());
    let error = day(u64::MAX).unwrap_err().to_string();
    assert!(error.contains("ten years"), "{error}");
    assert!(error.contains("the burst can be up to 209850,"), "{error}");
    assert!(day(209_850).is_ok() && day(209_851).is_err());

    // A burst that leaves ten years to the nanosecond, and one that leaves less.
    let ten_years = u64::try_from(one_word::REQUIRED_RANGE).unwrap();
    let most = (u64::MAX - ten_years) / 5;
    assert_eq!(most * 5 + ten_years, u64::MAX);
    let burst = |burst| GcraRule::with_burst(quota("1/5ns"), Cost::new(burst).unwrap());
    assert_eq!(burst(most).unwrap().burst(), most);
    assert!(burst(most + 1).is_err());

    let two = Quotas::parse(["1/1s", "2/2s"]).unwrap();
    assert!(matches!(
        Gcra::new(two),
        Err(BuildError::TooManyQuotas { given: 2, .. })
    ));
}

#[test]
fn past_its_range_it_is_an_error_and_not_a_wrong_decision() {
    let limiter = Gcra::new(quota("10/60s")).unwrap();
    let Err(RequestError::TimeOutOfRange { last, .. }) = limiter.decide_at(u64::MAX, Cost::ONE)
    else {
        panic!("out of range");
    };
    assert_eq!(last, u64::MAX - 60 * SECOND);
    assert!(limiter.decide_at(last + 1, Cost::ONE).is_err());
    let all = limiter.decide_at(last, Cost::of::<10>()).unwrap();
    assert!(all.is_allowed());
    assert!(!limiter.decide_at(last, Cost::ONE).unwrap().is_allowed());
}

#[test]
fn a_limit_of_0_denies_without_a_wait() {
    let limiter = Gcra::new(quota("0/1s")).unwrap();
    let answer = limiter.decide_detailed_at(5, Cost::ONE).unwrap();
    assert_eq!(answer.decision().denied().unwrap().retry_after(), None);
    assert_eq!(answer.remaining(), 0);
}

#[test]
fn requests_are_counted_once_whatever_they_cost() {
    let limiter = Gcra::new(quota("2req/1s")).unwrap();
    let ask = || {
        limiter
            .decide_at(0, Cost::of::<500>())
            .unwrap()
            .is_allowed()
    };
    assert_eq!([ask(), ask(), ask()], [true, true, false]);
}
