//! Other quotas for a ring in use, beside the exact log with the same changes.

use proptest::prelude::*;
use windowpane_bucket_ring::BucketRing;
use windowpane_core::{
    BuildError, ChangeQuotas, Cost, Decision, Nanos, Quota, Quotas, RateLimiter, Unit,
};
use windowpane_mutex_log::MutexLog;

fn quotas(texts: &[&str]) -> Quotas {
    Quotas::parse(texts).unwrap()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

#[derive(Clone, Debug)]
enum Call {
    Acquire {
        step: Nanos,
        cost: u64,
    },
    Change {
        step: Nanos,
        limit: u64,
        window: Nanos,
    },
}

fn call() -> impl Strategy<Value = Call> {
    let step = prop_oneof![3 => Just(0_u64), 8 => 0..12_u64, 1 => 40..200_u64];
    let acquire = (step.clone(), 1..6_u64).prop_map(|(step, cost)| Call::Acquire { step, cost });
    let window = prop_oneof![2 => Just(30_u64), 3 => 1..90_u64];
    let change = (step, 0..14_u64, window);
    let change = change.prop_map(|(step, limit, window)| Call::Change {
        step,
        limit,
        window,
    });
    prop_oneof![8 => acquire, 1 => change]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// Whatever changes in between, it never allows what the log denies; and what it denies, a
    /// log denies whose windows are longer by one bucket, of now and of each change that laid the
    /// buckets again.
    #[test]
    fn it_stays_one_sided_and_bounded_through_changes(
        buckets in prop_oneof![1..8_u32, Just(60)], calls in prop::collection::vec(call(), 1..120),
    ) {
        let plain = |limit, window| Quotas::from(Quota::from_nanos(limit, window, Unit::Permits).unwrap());
        let mut ring = BucketRing::with_buckets(plain(9, 30), buckets).unwrap();
        let (mut limit, mut window) = (9, 30);
        let mut late = 0;
        let mut exact = <MutexLog>::new(plain(limit, window));
        let mut wider = <MutexLog>::new(plain(limit, window + ring.width()));
        let mut now = 1_000;
        for call in calls {
            match call {
                Call::Change { step, limit: other_limit, window: other_window } => {
                    now += step;
                    if other_window != window {
                        late += ring.width();
                    }
                    (limit, window) = (other_limit, other_window);
                    ring.change_at(now, &plain(limit, window)).unwrap();
                    exact.change_at(now, &plain(limit, window)).unwrap();
                    let width = ring.width();
                    wider.change_at(now, &plain(limit, window + late + width)).unwrap();
                    prop_assert_eq!(ring.quotas(), plain(limit, window));
                }
                Call::Acquire { step, cost: permits } => {
                    now += step;
                    let asked = cost(permits);
                    let by_the_log = exact.peek_at(now, asked);
                    let Ok(decision) = ring.decide_at(now, asked) else {
                        prop_assert!(by_the_log.is_err());
                        continue;
                    };
                    if decision.is_allowed() {
                        prop_assert!(by_the_log.unwrap().is_allowed(), "above the quota at {}", now);
                        let _ = (exact.record_at(now, asked), wider.record_at(now, asked));
                    } else {
                        prop_assert!(!wider.peek_at(now, asked).unwrap().is_allowed());
                    }
                }
            }
        }
    }
}

#[test]
fn limits_change_and_what_is_used_counts_on() {
    let mut ring = BucketRing::new(quotas(&["10/60s", "5/1s"])).unwrap();
    assert!(ring.decide_at(0, cost(5)).unwrap().is_allowed());
    ring.change_at(0, &quotas(&["4/60s", "8/1s"])).unwrap();
    let look = ring.peek_at(0, Cost::ONE).unwrap();
    assert_eq!(look.remaining_per_quota(), [0, 3]);
    ring.change_at(0, &quotas(&["20/60s"])).unwrap();
    assert!(ring.decide_at(0, cost(15)).unwrap().is_allowed());
}

#[test]
fn what_it_cannot_hold_is_an_error_that_changes_nothing() {
    let mut ring = BucketRing::new(quotas(&["10/60s"])).unwrap();
    assert!(ring.decide_at(0, cost(4)).unwrap().is_allowed());
    let cut = ring.change_at(0, &quotas(&["10/60s", "1/1500ms"]));
    assert!(matches!(cut, Err(BuildError::WindowNotInBuckets { .. })));
    let unit = ring.change_at(0, &quotas(&["10req/60s"])).unwrap_err();
    assert_eq!(
        unit.to_string(),
        "bucket-ring has counted in another unit than 10req/60s does and cannot tell one from the \
         other: take mutex-log, which knows both, or build it again"
    );
    assert_eq!(ring.quotas(), quotas(&["10/60s"]));
    assert_eq!(ring.peek_at(0, Cost::ONE).unwrap().remaining(), 5);
}

/// What had left every window at a change stays forgotten, and no earlier reading brings back the
/// room from before it.
#[test]
fn an_earlier_reading_after_a_change_counts_as_the_change() {
    let mut ring = BucketRing::new(quotas(&["1/10ns"])).unwrap();
    assert!(ring.decide_at(80, cost(1)).unwrap().is_allowed());
    ring.change_at(100, &quotas(&["1/60ns"])).unwrap();
    let decision = ring.decide_at(85, cost(1)).unwrap();
    assert_eq!(decision, Decision::Allowed { at: 100 });
}

#[test]
fn what_has_accepted_nothing_is_idle_after_a_change_too() {
    let mut ring = BucketRing::new(quotas(&["10/60s"])).unwrap();
    assert!(ring.is_idle_at(5));
    ring.change_at(5, &quotas(&["10/30s"])).unwrap();
    assert!(ring.is_idle_at(5));
}
