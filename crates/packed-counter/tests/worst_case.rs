//! How far the counter can be off, as its page says.

use windowpane_core::{Cost, Nanos, Quota, RateLimiter};
use windowpane_packed_counter::PackedCounter;

const SECOND: Nanos = 1_000_000_000;

#[test]
fn at_worst_one_less_than_twice_the_limit_falls_into_one_window() {
    for limit in [1, 2, 10, 60] {
        let quota: Quota = format!("{limit}/60s").parse().unwrap();
        let counter = PackedCounter::new(quota).unwrap();
        // All of it in the last nanosecond of one window, and then as much as there is at any time
        // in a window's length from there.
        let start = 60 * SECOND - 1;
        let all = Cost::new(limit).unwrap();
        assert!(counter.decide_at(start, all).unwrap().is_allowed());
        let mut allowed = limit;
        let mut now = start + 1;
        while now < start + quota.window() {
            match counter.decide_at(now, Cost::ONE).unwrap().denied() {
                None => allowed += 1,
                Some(denied) => now += denied.retry_after_nanos().unwrap(),
            }
        }
        assert_eq!(allowed, 2 * limit - 1, "limit {limit}");
    }
}

#[test]
fn at_worst_a_client_gets_in_once_in_two_windows() {
    let quota: Quota = "1/60s".parse().unwrap();
    let counter = PackedCounter::new(quota).unwrap();
    let asked = (0..600).map(|second| counter.decide_at(second * SECOND, Cost::ONE).unwrap());
    let allowed = asked.filter(|decision| decision.is_allowed()).count();
    assert_eq!(allowed, 5, "in ten minutes");
}
