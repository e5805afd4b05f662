//! Costs that are known later.

use std::time::Duration;

use windowpane_core::clock::ManualClock;
use windowpane_core::{Cost, Limiter, Nanos, Quotas, RateLimiter, Settle};
use windowpane_mutex_log::MutexLog;

const SECOND: Nanos = 1_000_000_000;

fn log(quotas: &[&str]) -> MutexLog {
    MutexLog::new(Quotas::parse(quotas).unwrap())
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

/// A caller that takes and gives back must not get more than there is.
#[test]
fn nine_pairs_of_taking_and_giving_back_leave_the_capacity_as_it_was() {
    let clock = ManualClock::new(0);
    let limiter = Limiter::with_clock(log(&["10/1s"]), &clock);
    for _ in 0..9 {
        let reservation = limiter.try_reserve(1).expect("it fits");
        clock.advance(Duration::from_millis(100) / 9);
        reservation.settle(0);
    }
    assert_eq!(limiter.remaining(), 10);
    assert!(limiter.try_acquire_many(10).is_ok());
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn what_is_given_back_was_free_since_its_own_time_and_what_is_charged_leaves_at_its_own_time() {
    let log = log(&["10/10s"]);
    assert!(log.decide_at(0, cost(4)).unwrap().is_allowed());
    assert!(log.decide_at(3 * SECOND, cost(2)).unwrap().is_allowed());
    log.settle_at(0, cost(4), 9);
    // More than used up: 9 and 2 of 10. The wait ends to the nanosecond when the one at 0 s has left.
    let denied = log.decide_detailed_at(5 * SECOND, Cost::ONE).unwrap();
    assert_eq!(denied.remaining(), 0);
    let wait = denied.decision().denied().unwrap().retry_after_nanos();
    assert_eq!(wait, Some(5 * SECOND));
    assert!(
        !log.decide_at(10 * SECOND - 1, Cost::ONE)
            .unwrap()
            .is_allowed()
    );
    log.settle_at(3 * SECOND, cost(2), 1);
    assert!(log.decide_at(10 * SECOND, cost(9)).unwrap().is_allowed());
}

#[test]
fn settling_what_has_left_every_window_changes_nothing() {
    let log = log(&["10/10s", "5/1s"]);
    assert!(log.decide_at(0, cost(5)).unwrap().is_allowed());
    assert!(log.decide_at(10 * SECOND, cost(5)).unwrap().is_allowed());
    log.settle_at(0, cost(5), 0);
    log.settle_at(0, cost(5), 1_000_000);
    let look = log.peek_at(11 * SECOND, Cost::ONE).unwrap();
    assert_eq!(look.remaining_per_quota(), [4, 4]);
}

#[test]
fn a_request_counts_as_one_whatever_it_is_settled_to() {
    let log = log(&["2req/1s", "100/60s"]);
    assert!(log.decide_at(0, cost(70)).unwrap().is_allowed());
    log.settle_at(0, cost(70), 0);
    assert_eq!(
        log.peek_at(0, Cost::ONE).unwrap().remaining_per_quota(),
        [0, 99]
    );
    assert!(!log.is_idle_at(0));
    // No quota counts it any more, though the longest window still reaches it.
    assert!(log.is_idle_at(SECOND));
}

#[test]
fn a_dropped_reservation_keeps_its_estimate() {
    let clock = ManualClock::new(0);
    let limiter = Limiter::with_clock(log(&["10/1s"]), &clock);
    let reservation = limiter.try_reserve(4).unwrap();
    assert_eq!(
        (reservation.at(), reservation.estimate()),
        (Duration::ZERO, 4)
    );
    drop(reservation);
    assert_eq!(limiter.remaining(), 6);
    let denied = limiter.try_reserve(7).unwrap_err().denied().unwrap();
    assert_eq!(denied.retry_after(), Duration::from_secs(1));
}

/// Requests that turn out to cost nothing must not fill the memory of a log whose permits have a long
/// window.
#[test]
fn hollow_entries_do_not_pile_up() {
    for quotas in [&["100/365d"][..], &["100/365d", "10req/1s"]] {
        let log = log(quotas);
        assert!(log.decide_at(0, cost(7)).unwrap().is_allowed());
        for call in 1..10_000 {
            let at = call * SECOND / 10;
            assert!(log.decide_at(at, cost(50)).unwrap().is_allowed());
            log.settle_at(at, cost(50), 0);
            assert!(log.snapshot().len() <= 64, "{call}");
        }
        let look = log.peek_at(2_000 * SECOND, Cost::ONE).unwrap();
        assert_eq!(look.remaining_per_quota()[0], 92);
    }
}

/// Among many entries that count, the hollow ones are dropped when they are as many: seldom enough
/// for each drop, which goes through the whole log, to be paid by as many calls.
#[test]
fn hollow_entries_are_dropped_when_the_log_has_doubled() {
    let log = log(&["1000/365d", "10req/1s"]);
    let at = |call: u64| call * SECOND / 10;
    for call in 0..100 {
        assert!(log.decide_at(at(call), Cost::ONE).unwrap().is_allowed());
    }
    let mut longest = 0;
    for call in 100..5_000 {
        assert!(log.decide_at(at(call), Cost::ONE).unwrap().is_allowed());
        log.settle_at(at(call), Cost::ONE, 0);
        longest = longest.max(log.snapshot().len());
    }
    // A hundred of permits, and ten of the last second.
    assert!((200..=220).contains(&longest), "{longest} entries");
    let look = log.peek_at(at(5_000), Cost::ONE).unwrap();
    assert_eq!(look.remaining_per_quota()[0], 899);
}
