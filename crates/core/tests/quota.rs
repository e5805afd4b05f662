//! Quotas as text, their arithmetic, and what is rejected.

use std::time::Duration;

use proptest::prelude::*;
use windowpane_core::{
    BuildError, Cost, MAX_WINDOW, Quota, QuotaError, Quotas, RequestError, Unit, format_nanos,
    parse_nanos,
};

#[test]
fn a_quota_is_shown_as_it_is_read() {
    for text in [
        "100/60s",
        "60req/60s",
        "0/1s",
        "1/1ns",
        "5/20us",
        "7/250ms",
        "1000/1h",
        "10/30d",
        "18446744073709551615/365d",
    ] {
        assert_eq!(text.parse::<Quota>().unwrap().to_string(), text);
    }
    assert_eq!("3/1m".parse::<Quota>().unwrap().to_string(), "3/60s");
}

#[test]
fn a_malformed_quota_is_rejected_with_the_expected_form() {
    for text in [
        "",
        "/",
        "100",
        "100/",
        "/60s",
        "-1/60s",
        "+1/60s",
        "1.5/60s",
        "100/60",
        "100/s",
        "100/60 s",
        "100/60sec",
        "x/60s",
        "100 /60s",
        "1req/",
        "req/1s",
        "100/-1s",
        "18446744073709551616/1s",
        "1/99999999999999999999s",
        "1/300000d",
        "1/60S",
    ] {
        let error = text.parse::<Quota>().unwrap_err();
        assert!(
            matches!(
                error,
                QuotaError::Malformed { .. } | QuotaError::BadWindow { .. }
            ),
            "{text}: {error:?}"
        );
        assert!(error.to_string().contains("expected"), "{error}");
    }
    assert_eq!("1/0s".parse::<Quota>(), Err(QuotaError::ZeroWindow));
    assert_eq!(
        "1/366d".parse::<Quota>(),
        Err(QuotaError::WindowTooLong {
            window: 366 * 86_400_000_000_000
        })
    );
}

/// Cases 5 and 24: a window of 1e9 s is rejected, not wrapped, and a name cannot be misread.
#[test]
fn a_window_too_long_is_rejected_and_none_is_misread() {
    let long = Duration::from_secs(1_000_000_000);
    assert!(matches!(
        Quota::try_new(1, long),
        Err(QuotaError::WindowTooLong { .. })
    ));
    assert!(Quota::try_new(1, Duration::MAX).is_err());
    assert!(Quota::try_new(1, Duration::from_secs(30 * 86_400)).is_ok());
    let quota = Quota::try_new(4_000, Duration::from_secs(1)).unwrap();
    assert_eq!((quota.limit(), quota.window()), (4_000, 1_000_000_000));
}

#[test]
fn a_limiter_needs_a_quota_and_one_word_holds_one() {
    assert_eq!(Quotas::new([]), Err(BuildError::NoQuotas));
    let two = Quotas::parse(["1/1s", "2/2s"]).unwrap();
    let error = two.single("fixed-window").unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("take mutex-log, which holds any"),
        "{error}"
    );
    assert!(matches!(
        Quotas::parse(["1/1s", "zz"]),
        Err(BuildError::Quota(_))
    ));
}

#[test]
fn only_a_cost_above_a_limit_above_zero_can_never_fit() {
    let quotas = Quotas::parse(["0/1s", "100/60s", "5req/60s"]).unwrap();
    assert_eq!(quotas.check_cost(Cost::of::<100>()), Ok(()));
    assert_eq!(
        quotas.check_cost(Cost::of::<101>()),
        Err(RequestError::NeverFits {
            cost: Cost::of::<101>(),
            quota: 1,
            limit: 100
        })
    );
}

#[test]
fn the_largest_cost_is_bounded_by_permits_and_by_requests() {
    let mixed = Quotas::parse(["60req/60s", "1000/60s", "500/1s"]).unwrap();
    assert_eq!(mixed.largest_cost(&[3, 900, 400]), 400);
    assert_eq!(mixed.largest_cost(&[0, 900, 400]), 0);
    let requests = Quotas::parse(["60req/60s", "2req/1s"]).unwrap();
    assert_eq!(requests.largest_cost(&[60, 2]), 2);
}

#[test]
fn the_longest_window_and_largest_limit_are_of_any_quota() {
    let quotas = Quotas::parse(["3/2s", "20/1s", "7/5s", "4/3s"]).unwrap();
    assert_eq!(quotas.longest_window(), 5_000_000_000);
    assert_eq!(quotas.largest_limit(), 20);
    assert_eq!(quotas.to_string(), "3/2s and 20/1s and 7/5s and 4/3s");
}

/// An error prints the span in a unit that leaves digits to read.
#[test]
fn an_error_tells_how_long_the_time_would_last() {
    const SECOND: u128 = 1_000_000_000;
    const DAY: u128 = 86_400 * SECOND;
    let told = |covers: u128| {
        let error = BuildError::RangeTooShort {
            algorithm: "it",
            quota: "1/1s".parse().unwrap(),
            covers,
            fits: "no".into(),
        };
        let text = error.to_string();
        let (_, after) = text.split_once("run out after ").unwrap();
        after.split_once(',').unwrap().0.to_string()
    };
    assert_eq!(told(2 * 365 * DAY), "2 years");
    assert_eq!(told(9 * 365 * DAY + 364 * DAY), "9 years");
    assert_eq!(told(2 * 365 * DAY - 1), "729 days");
    assert_eq!(told(2 * DAY), "2 days");
    assert_eq!(told(2 * DAY - 1), "172799 seconds");
    assert_eq!(told(2 * SECOND), "2 seconds");
    assert_eq!(told(2 * SECOND - 1), "1999999999 nanoseconds");
}

proptest! {
    #[test]
    fn every_window_is_read_back_as_it_was_written(nanos in 1..=MAX_WINDOW, round in 0..5u32) {
        let nanos = (nanos / 1000u64.pow(round) * 1000u64.pow(round)).max(1);
        prop_assert_eq!(parse_nanos(&format_nanos(nanos)), Ok(nanos));
    }

    #[test]
    fn every_quota_is_read_back_as_it_was_written(limit: u64, window in 1..=MAX_WINDOW, requests: bool) {
        let unit = if requests { Unit::Requests } else { Unit::Permits };
        let quota = Quota::from_nanos(limit, window, unit).unwrap();
        prop_assert_eq!(quota.to_string().parse::<Quota>(), Ok(quota));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,40}") {
        let _ = text.parse::<Quota>();
    }
}
