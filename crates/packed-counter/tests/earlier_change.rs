//! Quotas that change at a time before the latest recorded one: the change creates no capacity.

use proptest::prelude::*;
use windowpane_core::{ChangeQuotas, Cost, Decision, Nanos, Quota, Quotas, RateLimiter, Unit};
use windowpane_packed_counter::PackedCounter;

fn plain(limit: u64, window: Nanos) -> Quotas {
    Quota::from_nanos(limit, window, Unit::Permits)
        .unwrap()
        .into()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

#[test]
fn earlier_change_of_the_window_keeps_what_is_counted() {
    for limit in [5, 50] {
        let mut counter = PackedCounter::new(plain(limit, 100_000)).unwrap();
        assert!(counter.decide_at(90_000, cost(limit)).unwrap().is_allowed());
        counter.change_at(10, &plain(limit, 20_000)).unwrap();
        let denied = counter.decide_at(90_001, Cost::ONE).unwrap();
        assert!(!denied.is_allowed(), "{denied:?}");
        let later = counter.peek_at(140_000, Cost::ONE).unwrap();
        assert_eq!(later.remaining(), limit - 1);
    }
}

/// A clock that does not go back pays nothing for it: new windows begin as they would anyway.
#[test]
fn change_at_its_time_frees_with_the_next_new_windows() {
    let hour = 3_600_000_000_000;
    let mut counter = PackedCounter::new(plain(1_000, hour)).unwrap();
    let now = hour / 60 * 7 + 1;
    assert!(counter.decide_at(now, cost(800)).unwrap().is_allowed());
    counter.change_at(now, &plain(100, hour / 60)).unwrap();
    assert!(!counter.decide_at(now, Cost::ONE).unwrap().is_allowed());
    let next = counter.peek_at(hour / 60 * 9, Cost::ONE).unwrap();
    assert_eq!(next.remaining(), 99);
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
    let step = prop_oneof![3 => Just(0_u64), 8 => 0..12_000_u64, 1 => 40_000..200_000_u64];
    let back = prop_oneof![2 => Just(0_u64), 3 => 0..40_000_u64, 1 => Just(10_000_000_u64)];
    let acquire = (step, back.clone(), 1..6_u64);
    let acquire = acquire.prop_map(|(step, back, cost)| Call::Acquire { step, back, cost });
    let window = prop_oneof![2 => Just(30_000_u64), 3 => 1_000..90_000_u64];
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

    /// Between two multiples of the window no more than the limit is allowed, by the recorded times of
    /// what was counted whole at the change.
    #[test]
    fn earlier_changes_create_no_capacity(calls in prop::collection::vec(call(), 1..120)) {
        let (mut limit, mut window) = (9, 30_000);
        let mut counter = PackedCounter::new(plain(limit, window)).unwrap();
        let mut recorded: Vec<(Nanos, u64)> = Vec::new();
        let (mut now, mut latest) = (10_000_000_u64, 0);
        for call in calls {
            match call {
                Call::Change { back, limit: new_limit, window: new_window } => {
                    let at = now.saturating_sub(back);
                    counter.change_at(at, &plain(new_limit, new_window)).unwrap();
                    latest = latest.max(at);
                    recorded.retain(|(at, _)| at / window == latest / window);
                    (limit, window) = (new_limit, new_window);
                }
                Call::Acquire { step, back, cost: permits } => {
                    now += step;
                    let reading = now.saturating_sub(back);
                    let Ok(Decision::Allowed { at }) = counter.decide_at(reading, cost(permits)) else {
                        continue;
                    };
                    latest = latest.max(at);
                    recorded.push((at, permits));
                    let inside = recorded.iter().filter(|(other, _)| other / window == at / window);
                    let used: u64 = inside.map(|(_, permits)| permits).sum();
                    prop_assert!(used <= limit, "{used} of {limit} at {at}");
                }
            }
        }
    }
}
