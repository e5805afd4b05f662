//! Quotas that change at a time before the latest recorded one: the change counts as made at that one.

use proptest::prelude::*;
use windowpane_bucket_ring::BucketRing;
use windowpane_core::{ChangeQuotas, Cost, Decision, Nanos, Quota, Quotas, RateLimiter, Unit};

fn plain(limit: u64, window: Nanos) -> Quotas {
    Quota::from_nanos(limit, window, Unit::Permits)
        .unwrap()
        .into()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

#[test]
fn earlier_change_keeps_what_was_accepted_after_it() {
    for window in [200, 50] {
        let mut ring = BucketRing::new(plain(5, 100)).unwrap();
        assert!(ring.decide_at(1_000, cost(5)).unwrap().is_allowed());
        ring.change_at(10, &plain(5, window)).unwrap();
        let denied = ring.decide_at(1_001, Cost::ONE).unwrap();
        assert!(
            !denied.is_allowed(),
            "{denied:?} under a window of {window} ns"
        );
        assert_eq!(
            ring.peek_at(1_000 + 2 * window, Cost::ONE)
                .unwrap()
                .remaining(),
            4
        );
    }
}

/// A call, and how far its reading is before the latest one.
#[derive(Clone, Debug)]
enum Call {
    Acquire {
        step: Nanos,
        back: Nanos,
        cost: u64,
    },
    Change {
        back: Nanos,
        limit: u64,
        window: Nanos,
    },
}

fn call() -> impl Strategy<Value = Call> {
    let step = prop_oneof![3 => Just(0_u64), 8 => 0..12_u64, 1 => 40..200_u64];
    let back = prop_oneof![2 => Just(0_u64), 3 => 0..40_u64, 1 => Just(10_000_u64)];
    let acquire = (step, back.clone(), 1..6_u64);
    let acquire = acquire.prop_map(|(step, back, cost)| Call::Acquire { step, back, cost });
    let window = prop_oneof![2 => Just(30_u64), 3 => 1..90_u64];
    let change = (back, 0..14_u64, window);
    let change = change.prop_map(|(back, limit, window)| Call::Change {
        back,
        limit,
        window,
    });
    prop_oneof![6 => acquire, 1 => change]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// No window holds more than its limit, by the recorded times of what had not left every window at
    /// a change.
    #[test]
    fn earlier_changes_create_no_capacity(
        buckets in prop_oneof![1..8_u32, Just(60)], calls in prop::collection::vec(call(), 1..120),
    ) {
        let (mut limit, mut window) = (9, 30);
        let mut ring = BucketRing::with_buckets(plain(limit, window), buckets).unwrap();
        let mut recorded: Vec<(Nanos, u64)> = Vec::new();
        let (mut now, mut latest) = (1_000_u64, 0);
        for call in calls {
            match call {
                Call::Change { back, limit: new_limit, window: new_window } => {
                    let at = now.saturating_sub(back);
                    ring.change_at(at, &plain(new_limit, new_window)).unwrap();
                    latest = latest.max(at);
                    recorded.retain(|(at, _)| at + window > latest);
                    (limit, window) = (new_limit, new_window);
                }
                Call::Acquire { step, back, cost: permits } => {
                    now += step;
                    let reading = now.saturating_sub(back);
                    let Ok(Decision::Allowed { at }) = ring.decide_at(reading, cost(permits)) else {
                        continue;
                    };
                    latest = latest.max(at);
                    recorded.push((at, permits));
                    let inside = recorded.iter().filter(|(other, _)| other + window > at);
                    let used: u64 = inside.map(|(_, permits)| permits).sum();
                    prop_assert!(used <= limit, "{used} of {limit} at {at}");
                }
            }
        }
    }
}
