//! The two counters against the packed counter, whose rule they run.

use proptest::prelude::*;
use windowpane_core::{Cost, MAX_WINDOW, Quota, Quotas, RateLimiter, Unit};
use windowpane_packed_counter::PackedCounter;

use super::{FACTOR, Forged, Server, agreed, for_all, stretched};
use crate::algorithm::TwoCounter;

#[derive(Clone, Debug)]
struct Call {
    step: i64,
    cost: u64,
}

/// Limits and windows in microseconds.
fn shape() -> impl Strategy<Value = (u64, u64)> {
    let year = MAX_WINDOW / FACTOR;
    prop_oneof![
        (1..4_u64, Just(1_u64)),
        (1..12_u64, 1..50_u64),
        (1..1_000_u64, 20_000..60_000_u64),
        (1..100_000_u64, 1_000_000..1_000_000_000_u64),
        // The largest that is not refused.
        (Just(u64::MAX), year / 3..=year),
        (Just(u64::MAX), 1..100_000_u64),
    ]
    .prop_map(|(limit, window)| (limit.min((1 << 53) / window).min(1 << 31), window))
}

fn story() -> impl Strategy<Value = (u64, u64, Unit, u64, Vec<Call>)> {
    let unit = prop_oneof![3 => Just(Unit::Permits), 1 => Just(Unit::Requests)];
    (shape(), unit, 0..3_u64).prop_flat_map(|((limit, window), unit, start)| {
        let w = window as i64;
        let step = prop_oneof![
            4 => Just(0_i64),
            4 => 0..=w / 3 + 1,
            2 => -w..=w,
            1 => w..=3 * w,
            1 => -2..3_i64,
        ];
        let cost =
            prop_oneof![3 => Just(1), 2 => 1..=limit, 1 => Just(limit), 1 => Just(limit + 1)];
        let call = (step, cost).prop_map(|(step, cost)| Call { step, cost });
        prop::collection::vec(call, 1..60)
            .prop_map(move |calls| (limit, window, unit, start, calls))
    })
}

fn compare(
    server: &Server,
    (limit, window, unit, start, calls): &(u64, u64, Unit, u64, Vec<Call>),
) {
    let quotas = Quotas::from(Quota::from_nanos(*limit, *window, *unit).unwrap());
    let Ok(oracle) = PackedCounter::new(quotas.clone()) else {
        // A word has less room than a string; what does not fit it is the next test's matter.
        return;
    };
    let counter: Forged<TwoCounter> = Forged::new(server, "k", stretched(&quotas, FACTOR));
    let mut now = start * window;
    for Call { step, cost } in calls {
        now = now.saturating_add_signed(*step).min(1 << 53);
        let cost = Cost::new(*cost).unwrap();
        let expected = oracle.decide_detailed_at(now, cost);
        let answer = counter.decide(now * FACTOR, cost);
        if let Some((_, answer)) = agreed(now, expected, answer) {
            counter.check_more(now * FACTOR, &answer);
        }
    }
}

#[test]
fn the_two_counters_decide_and_wait_as_the_packed_counter_does() {
    let Some(server) = Server::start() else {
        return;
    };
    for_all(story(), |story| compare(&server, story));
}

/// A charge that is settled: as if the request had cost that in the first place.
#[test]
fn a_settled_charge_counts_as_if_it_had_cost_that() {
    let Some(server) = Server::start() else {
        return;
    };
    let quota: Quota = "10/60s".parse().unwrap();
    let second = 1_000_000_000;
    let settled: Forged<TwoCounter> = Forged::new(&server, "settled", quota);
    let direct: Forged<TwoCounter> = Forged::new(&server, "direct", quota);
    let cost = |cost| Cost::new(cost).unwrap();
    let same = |at: u64| {
        let (s, d) = (settled.peek(at, Cost::ONE), direct.peek(at, Cost::ONE));
        assert_eq!(s, d, "at {at}");
    };
    for (at, estimate, actual, settled_at) in [
        (5 * second, 8, 3, 6),
        (20 * second, 2, 5, 61),
        (70 * second, 1, 3, 71),
    ] {
        assert!(
            settled
                .acquire(at, cost(estimate))
                .unwrap()
                .detailed
                .is_allowed()
        );
        assert!(
            direct
                .acquire(at, cost(actual))
                .unwrap()
                .detailed
                .is_allowed()
        );
        settled.settle(at, cost(estimate), actual);
        for later in 0..120 {
            same((settled_at + later) * second);
        }
    }
    // What has left both windows changes nothing.
    let later = settled.acquire(190 * second, Cost::ONE).unwrap();
    assert!(later.detailed.is_allowed());
    let before = settled.dump();
    settled.settle(5 * second, cost(3), 9);
    assert!(settled.dump() == before);
}

/// A smaller or larger limit, another window: what was accepted is kept.
#[test]
fn changed_quotas_keep_what_was_accepted() {
    let Some(server) = Server::start() else {
        return;
    };
    let quota = |text: &str| -> Quota { text.parse().unwrap() };
    let second = 1_000_000_000;
    let mut counter: Forged<TwoCounter> = Forged::new(&server, "k", quota("10/60s"));
    let take = |counter: &Forged<TwoCounter>, at, cost| {
        let answer = counter.acquire(at, Cost::new(cost).unwrap()).unwrap();
        (answer.detailed.is_allowed(), answer.detailed.remaining())
    };
    assert_eq!(take(&counter, 60 * second, 8), (true, 2));
    counter.change(quota("20/60s"));
    assert_eq!(take(&counter, 61 * second, 4), (true, 8));
    counter.change(quota("5/60s"));
    assert_eq!(take(&counter, 62 * second, 1), (false, 0));
    // Another window: all of it counts in the one that is current.
    counter.change(quota("20/30s"));
    assert_eq!(take(&counter, 63 * second, 1), (true, 7));
}
