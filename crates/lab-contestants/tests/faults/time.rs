//! Faults of time: bursts, old readings, idle gaps, long windows, waits.

use windowpane_core::{MAX_WINDOW, Quota, QuotaError};

use crate::every::{DAY, HOUR, MILLISECOND, MINUTE, SECOND, every, most_in_a_window};

#[test]
fn case_1_sixty_per_minute_are_sixty_in_every_minute() {
    for limiter in every(&["60/60s"]) {
        let at_once = std::iter::repeat_n(0, 60);
        let one_a_second = (1..600).map(|second| second * SECOND);
        let accepted: Vec<u64> = at_once
            .chain(one_a_second)
            .filter(|now| limiter.asks(*now, 1))
            .collect();
        // A token bucket gives a burst and the rate. That is what it is, and why it is no window.
        let by_59 = accepted.iter().filter(|at| **at <= 59 * SECOND).count();
        let expected = if limiter.name == "gcra" { 119 } else { 60 };
        assert_eq!(by_59, expected, "{}", limiter.name);
        // The counter, too, holds here: nothing but the even trickle follows.
        let most = most_in_a_window(&accepted, MINUTE);
        assert_eq!(most, expected, "{}", limiter.name);
    }
}

#[test]
fn case_2_an_old_timestamp_never_creates_capacity() {
    for limiter in every(&["5/10s"]) {
        let t0 = 100 * SECOND;
        let allowed = (0..100_u64).filter(|i| limiter.asks(t0 + (i + 1) % 2 * SECOND, 1));
        assert_eq!(allowed.count(), 5, "{}", limiter.name);
    }
}

#[test]
fn case_3_a_clock_set_back_two_days_creates_nothing_waits_honestly_and_resets() {
    for limiter in every(&["2/60s"]) {
        assert!(limiter.asks(2 * DAY, 2), "{}", limiter.name);
        let wait = limiter.honest_wait(0, 1);
        if limiter.exact {
            assert_eq!(wait, 2 * DAY + MINUTE, "{}", limiter.name);
        }
        assert!(wait > 2 * DAY, "{}", limiter.name);
        limiter.limiter.reset();
        assert!(limiter.asks(0, 2), "{}", limiter.name);
    }
}

#[test]
fn case_4_twelve_idle_hours_leave_full_capacity() {
    for limiter in every(&["100/60s"]) {
        assert_eq!(limiter.allowed_of(150, 7 * SECOND), 100, "{}", limiter.name);
        let later = 7 * SECOND + 12 * HOUR;
        assert!(limiter.limiter.is_idle_at(later), "{}", limiter.name);
        assert_eq!(limiter.allowed_of(150, later), 100, "{}", limiter.name);
    }
}

#[test]
fn case_5_long_windows_are_honoured_or_refused_and_never_shortened() {
    for (text, window) in [("1/30d", 30 * DAY), ("1/365d", MAX_WINDOW)] {
        for limiter in every(&[text]) {
            assert!(limiter.asks(0, 1), "{}", limiter.name);
            assert!(!limiter.asks(1, 1), "{}", limiter.name);
            assert!(!limiter.asks(MILLISECOND, 1), "{}", limiter.name);
            let wait = limiter.honest_wait(MILLISECOND, 1);
            let free = MILLISECOND + wait;
            // The bucket goes as a whole, a sixtieth of the window later at most; a window count of
            // 1 still weighs something until the next window is over.
            let expected = match limiter.name {
                "bucket-ring" => window + window / 60 - 1,
                "packed-counter" => 2 * window,
                _ => window,
            };
            assert_eq!(free, expected, "{} {text}", limiter.name);
        }
    }
    let too_long: Result<Quota, QuotaError> = "1/1000000000s".parse();
    assert!(matches!(too_long, Err(QuotaError::WindowTooLong { .. })));
    let overflow: Result<Quota, QuotaError> = "1/1000000000000000000s".parse();
    assert!(matches!(overflow, Err(QuotaError::BadWindow { .. })));
}

#[test]
fn case_6_a_large_rate_is_kept_to_a_thousandth() {
    // A million requests a second, evenly, for ten seconds.
    const REQUESTS: u64 = 10_000_000;
    for limiter in every(&["100000/1s"]) {
        let allowed = (0..REQUESTS).filter(|i| limiter.asks(i * 1_000, 1)).count() as u64;
        let quota = 1_000_000;
        let off = allowed.abs_diff(quota);
        match limiter.name {
            // Beside the rate there is the burst, once; the last permit is back at 10 s.
            "gcra" => assert_eq!(allowed, quota + 100_000 - 1),
            name if limiter.exact => assert_eq!(off, 0, "{name}"),
            name => assert!(off <= quota / 1_000, "{name}: {allowed}"),
        }
    }
}

#[test]
fn case_8_one_per_ten_seconds_passes_first_and_again_after_the_window() {
    for limiter in every(&["1/10s"]) {
        let start = 1_000 * SECOND;
        assert!(limiter.asks(start, 1), "{}", limiter.name);
        let wait = limiter.honest_wait(start + 1, 1);
        let after = wait + 1;
        let expected = [
            ("mutex-log", 10 * SECOND),
            ("cas-ring", 10 * SECOND),
            ("gcra", 10 * SECOND),
            ("fixed-window", 10 * SECOND),
            ("packed-counter", 20 * SECOND),
        ];
        if limiter.name == "bucket-ring" {
            let width = (10 * SECOND).div_ceil(60);
            let late = after - 10 * SECOND;
            assert!(late < width, "{late}");
        } else {
            assert_eq!(after, limiter.expected(&expected), "{}", limiter.name);
        }
        assert!(limiter.asks(start + after, 1), "{}", limiter.name);
    }
}

#[test]
fn case_11_a_drained_one_per_second_waits_800_ms_after_200() {
    for limiter in every(&["1/1s"]) {
        assert!(limiter.asks(0, 1), "{}", limiter.name);
        let wait = limiter.honest_wait(200 * MILLISECOND, 1);
        let expected = [
            ("mutex-log", 800_000_000),
            ("cas-ring", 800_000_000),
            ("gcra", 800_000_000),
            ("fixed-window", 800_000_000),
            // Its bucket ends 16,666,666 ns after the request.
            ("bucket-ring", 816_666_666),
            // A count of 1 weighs something until the end of the next window.
            ("packed-counter", 1_800_000_000),
        ];
        assert_eq!(wait, limiter.expected(&expected), "{}", limiter.name);
    }
}

#[test]
fn case_12_the_wait_is_until_enough_has_left_and_not_a_whole_window() {
    for limiter in every(&["5/20s"]) {
        for (at, permits) in [(0, 1), (5, 2), (10, 2)] {
            assert!(limiter.asks(at * SECOND, permits), "{}", limiter.name);
        }
        if limiter.name == "gcra" {
            // A permit is back each four seconds, so that four are there already.
            let wait = limiter.honest_wait(19 * SECOND, 5);
            assert_eq!(wait, 2 * SECOND);
            continue;
        }
        // At 19 s: one permit comes back at 20 s, two more at 25, two more at 30.
        let waits = [1, 2, 3, 4, 5].map(|permits| limiter.honest_wait(19 * SECOND, permits));
        let exact = [1, 6, 6, 11, 11].map(|seconds| seconds * SECOND);
        if limiter.exact {
            assert_eq!(waits, exact, "{}", limiter.name);
        }
        if limiter.name == "bucket-ring" {
            let width = (20 * SECOND).div_ceil(60);
            let late = |(wait, exact)| wait >= exact && wait < exact + width;
            assert!(waits.into_iter().zip(exact).all(late), "{waits:?}");
        }
    }
}

#[test]
fn case_14_what_was_used_late_in_the_window_stays_when_the_early_part_leaves() {
    for limiter in every(&["10/1h"]) {
        assert!(limiter.asks(0, 1), "{}", limiter.name);
        assert!(limiter.asks(59 * MINUTE, 8), "{}", limiter.name);
        let expected = [
            ("mutex-log", 2),
            ("cas-ring", 2),
            ("bucket-ring", 2),
            ("gcra", 2),
            // Nine weigh 8.85.
            ("packed-counter", 1),
            // The fault itself: that is why it is only a baseline.
            ("fixed-window", 10),
        ];
        let more = limiter.allowed_of(20, 61 * MINUTE);
        assert_eq!(more, limiter.expected(&expected), "{}", limiter.name);
    }
}
