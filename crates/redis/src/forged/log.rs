//! The log against the mutex log, the oracle.

use proptest::prelude::*;
use windowpane_core::{Cost, Decision, Quota, Quotas, RateLimiter, Settle, Unit};
use windowpane_mutex_log::MutexLog;

use super::{FACTOR, Forged, Server, agreed, for_all, for_some, stretched};
use crate::algorithm::Log;
use crate::algorithm::sealed::Rule;

#[derive(Clone, Debug)]
enum Call {
    Acquire {
        step: i64,
        cost: u64,
    },
    /// Settles one of the charges so far, by its place, to so many permits.
    Settle {
        place: usize,
        actual: u64,
    },
}

fn quota() -> impl Strategy<Value = Quota> {
    let unit = prop_oneof![3 => Just(Unit::Permits), 1 => Just(Unit::Requests)];
    let window = prop_oneof![Just(1_u64), 1..40_u64];
    let limit = prop_oneof![1 => Just(0_u64), 3 => Just(1), 8 => 1..9_u64, 2 => 10..40_u64];
    (limit, window, unit).prop_map(|(l, w, u)| Quota::from_nanos(l, w, u).unwrap())
}

fn call() -> impl Strategy<Value = Call> {
    // Ties, small steps back and forth, and idle gaps of many windows.
    let step = prop_oneof![4 => Just(0_i64), 8 => 0..10_i64, 2 => -8..0_i64, 1 => 100..400_i64];
    let cost = prop_oneof![4 => Just(1_u64), 1 => 1..10_u64];
    let actual = prop_oneof![2 => 0..12_u64, 1 => Just(1 << 40)];
    prop_oneof![
        6 => (step, cost).prop_map(|(step, cost)| Call::Acquire { step, cost }),
        1 => (0..8_usize, actual).prop_map(|(place, actual)| Call::Settle { place, actual }),
    ]
}

/// Runs `calls` on both; every answer must be the same, to the microsecond.
fn compare(server: &Server, key: &str, quotas: &Quotas, calls: &[Call]) {
    let oracle = <MutexLog>::new(quotas.clone());
    let log: Forged<Log> = Forged::new(server, key, stretched(quotas, FACTOR));
    let mut now = 500_u64;
    let mut charges = Vec::new();
    for call in calls {
        match *call {
            Call::Acquire { step, cost } => {
                now = now.saturating_add_signed(step);
                let cost = Cost::new(cost).unwrap();
                let expected = oracle.decide_detailed_at(now, cost);
                let answer = log.decide(now * FACTOR, cost);
                let Some((expected, answer)) = agreed(now, expected, answer) else {
                    continue;
                };
                if let Decision::Allowed { at } = expected.decision() {
                    charges.push((at, cost));
                }
                check_more(&oracle, now, expected.remaining(), answer.more_after);
            }
            Call::Settle { place, actual } => {
                // The newest first: those that still count.
                if let Some(index) = charges.len().checked_sub(1 + place) {
                    let (at, estimate) = charges.remove(index);
                    oracle.settle_at(at, estimate, actual);
                    log.settle(at * FACTOR, estimate, actual);
                }
            }
        }
    }
}

/// `more_after` by the definition: the first time at which the oracle has more left.
fn check_more(oracle: &MutexLog, now: u64, remaining: u64, told: Option<u64>) {
    let left = |at| {
        let quotas = oracle.quotas();
        let peeked = oracle.peek_at(at, Cost::ONE).unwrap();
        let mut left = windowpane_core::PerQuota::from_slice(peeked.remaining_per_quota());
        if peeked.is_allowed() {
            left.iter_mut().for_each(|left| *left += 1);
        }
        quotas.largest_cost(&left)
    };
    // Everything has left by then, also what an earlier clock recorded ahead; more never gets less.
    let horizon = 2_000;
    let (mut before, mut after) = (now, now + horizon);
    while after - before > 1 && left(now + horizon) > remaining {
        let middle = before.midpoint(after);
        match left(middle) > remaining {
            true => after = middle,
            false => before = middle,
        }
    }
    let first = (after < now + horizon).then_some(after);
    assert_eq!(
        told,
        first.map(|at| (at - now) * FACTOR),
        "more after, at {now}"
    );
}

#[test]
fn the_log_decides_waits_and_settles_as_the_oracle_does() {
    let Some(server) = Server::start() else {
        return;
    };
    let stories = (
        prop::collection::vec(quota(), 1..4),
        prop::collection::vec(call(), 1..60),
    );
    for_all(stories, |(quotas, calls)| {
        let quotas = Quotas::new(quotas.iter().copied()).unwrap();
        compare(&server, "k", &quotas, calls);
    });
}

/// Histories long enough that what is gone is dropped, on few quotas and at short steps.
#[test]
fn a_long_history_decides_as_the_oracle_does() {
    let Some(server) = Server::start() else {
        return;
    };
    let step = prop_oneof![8 => 0..3_i64, 1 => -4..0_i64, 1 => 3..30_i64];
    let cost = prop_oneof![30 => Just(1_u64), 1 => 1..5_u64];
    let call = prop_oneof![
        40 => (step, cost).prop_map(|(step, cost)| Call::Acquire { step, cost }),
        1 => (0..4_usize, 0..6_u64).prop_map(|(place, actual)| Call::Settle { place, actual }),
    ];
    let limit = 5..60_u64;
    let unit = prop_oneof![3 => Just(Unit::Permits), 1 => Just(Unit::Requests)];
    let quota = (limit, 10..60_u64, unit).prop_map(|(l, w, u)| Quota::from_nanos(l, w, u).unwrap());
    let quotas = prop_oneof![
        3 => prop::collection::vec(quota.clone(), 1..2),
        1 => prop::collection::vec(quota, 2..4),
    ];
    let stories = (quotas, prop::collection::vec(call, 250..400));
    for_some(24, stories, |(quotas, calls)| {
        let quotas = Quotas::new(quotas.iter().copied()).unwrap();
        compare(&server, "k", &quotas, calls);
    });
}

fn quota_of(text: &str) -> Quota {
    text.parse().unwrap()
}

const SECOND: u64 = 1_000_000_000;

fn ask(log: &Forged<Log>, at: u64, cost: u64) -> (bool, Vec<u64>) {
    let answer = log.acquire(at, Cost::new(cost).unwrap()).unwrap();
    let left = answer.detailed.remaining_per_quota().to_vec();
    (answer.detailed.is_allowed(), left)
}

/// One entry whatever it costs: no list of ten thousand elements in a script.
#[test]
fn a_cost_of_ten_thousand_is_one_entry() {
    let Some(server) = Server::start() else {
        return;
    };
    let log: Forged<Log> = Forged::new(&server, "k", quota_of("20000/60s"));
    assert_eq!(ask(&log, 0, 10_000), (true, vec![10_000]));
    assert_eq!(ask(&log, SECOND, 10_000), (true, vec![0]));
    let denied = log.acquire(2 * SECOND, Cost::of::<10_000>()).unwrap();
    let denied = denied.detailed.decision().denied().unwrap();
    assert_eq!(denied.retry_after_nanos(), Some(58 * SECOND));
    assert_eq!(log.length(), 2);
    assert_eq!(ask(&log, 60 * SECOND, 10_000), (true, vec![0]));
    assert_eq!(log.length(), 2, "the first has left");
}

/// Twelve thousand small entries that leave at once, or that one large cost waits for: chunks, and
/// never as many values at once as a script cannot unpack.
#[test]
fn many_entries_are_counted_and_waited_for_in_chunks() {
    let Some(server) = Server::start() else {
        return;
    };
    let log: Forged<Log> = Forged::new(&server, "k", stretched_seconds(12_000));
    for i in 0..12_000 {
        assert!(ask(&log, i * 1_000, 1).0);
    }
    // The 10,001st oldest frees the last of ten thousand and one.
    let denied = log.acquire(20_000_000, Cost::of::<10_001>()).unwrap();
    let wait = denied
        .detailed
        .decision()
        .denied()
        .unwrap()
        .retry_after_nanos();
    assert_eq!(wait, Some(60 * SECOND + 10_000 * 1_000 - 20_000_000));
    // Half of them leave, then all the others.
    let half = 60 * SECOND + 5_999 * 1_000;
    assert_eq!(ask(&log, half, 1), (true, vec![5_999]));
    assert_eq!(log.length(), 6_001);
    assert_eq!(ask(&log, 200 * SECOND, 12_000), (true, vec![0]));
    assert_eq!(log.length(), 1);
}

fn stretched_seconds(limit: u64) -> Quota {
    Quota::from_nanos(limit, 60 * SECOND, Unit::Permits).unwrap()
}

/// Limits, windows and their number change; what was accepted is counted under the new ones.
#[test]
fn changed_quotas_count_what_was_accepted() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut log: Forged<Log> = Forged::new(&server, "k", quota_of("10/60s"));
    for at in [0, 10, 20, 30, 40] {
        assert!(ask(&log, at * SECOND, 2).0);
    }
    log.change(Quotas::parse(["12/60s"]).unwrap());
    assert_eq!(ask(&log, 41 * SECOND, 1), (true, vec![1]));
    log.change(Quotas::parse(["4/60s"]).unwrap());
    assert_eq!(ask(&log, 42 * SECOND, 1), (false, vec![0]));
    // Another number of quotas, in other windows and units: counted anew, none forgotten.
    log.change(Quotas::parse(["100/15s", "20req/60s", "14/60s"]).unwrap());
    assert_eq!(ask(&log, 43 * SECOND, 2), (true, vec![93, 13, 1]));
    assert_eq!(ask(&log, 44 * SECOND, 2), (false, vec![93, 13, 1]));
    // And back: the shorter window has not let go of what the longer still counts.
    log.change(Quotas::parse(["10/60s"]).unwrap());
    assert_eq!(ask(&log, 61 * SECOND, 1), (false, vec![0]));
    assert_eq!(ask(&log, 70 * SECOND, 1), (true, vec![0]));
}

/// What is settled at more than a script counts to is charged as far as it counts, and the sums
/// stay whole: when it has left, nothing of it is left.
#[test]
fn a_settled_charge_beyond_all_numbers_leaves_no_trace_when_it_has_left() {
    let Some(server) = Server::start() else {
        return;
    };
    let log: Forged<Log> = Forged::new(&server, "k", quota_of("10/60s"));
    for at in [0, 1, 2] {
        assert!(ask(&log, at * SECOND, 2).0);
    }
    log.settle(0, Cost::of::<2>(), u64::MAX >> 1);
    log.settle(SECOND, Cost::of::<2>(), 3);
    log.settle(2 * SECOND, Cost::of::<2>(), 1);
    assert_eq!(ask(&log, 3 * SECOND, 1), (false, vec![0]));
    let (allowed, left) = ask(&log, 60 * SECOND, 1);
    assert!(allowed, "the huge one has left");
    // 3 was charged as far as it counted beside the huge one, at least its estimate.
    assert!((6..=7).contains(&left[0]), "{left:?}");
    assert_eq!(ask(&log, 200 * SECOND, 1), (true, vec![9]));
}

/// A key of another kind, or of another program, is an error and not overwritten.
#[test]
fn what_is_no_log_is_left_alone() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut connection = server.connection();
    let script = crate::script::on_clock(super::CLOCK, crate::script::LOG);
    let plan = Log::plan(quota_of("5/60s").into()).unwrap();
    let number = |n: f64| n.to_le_bytes().to_vec();
    let sized = |text: &[u8], n, size| [text, &number(n), &number(size)].concat();
    let tail = [0; 144];
    for foreign in [
        b"x".to_vec(),
        vec![0; 200],
        sized(b"p1", 1.0, 160.0),
        sized(&tail, 1.0, f64::NAN),
        sized(&tail, 1.0, 1e300),
        sized(&tail, f64::INFINITY, 160.0),
        sized(&tail, 0.5, 160.0),
        sized(&tail, 1.0, 160.0),
    ] {
        let _: () = redis::cmd("SET")
            .arg("{k}")
            .arg(&foreign)
            .query(&mut connection)
            .unwrap();
        let mut command = redis::cmd("EVAL");
        command.arg(script.text()).arg(1).arg("{k}");
        plan.add_arguments(&mut command, Cost::ONE, false);
        let answer: redis::RedisResult<redis::Value> = command.arg(100).query(&mut connection);
        let error = answer.unwrap_err().to_string();
        assert!(error.contains("WRONGSTATE"), "{error}");
        let left: Vec<u8> = redis::cmd("GET").arg("{k}").query(&mut connection).unwrap();
        assert_eq!(left, foreign);
    }
}
