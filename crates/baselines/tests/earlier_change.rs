//! Quotas that change at a time before the latest recorded one: the change creates no capacity.

use proptest::prelude::*;
use windowpane_baselines::{FixedWindow, Gcra};
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
fn earlier_change_of_the_window_keeps_what_is_counted() {
    for limit in [5, 500] {
        let mut fixed = FixedWindow::new(plain(limit, 10_000)).unwrap();
        assert!(fixed.decide_at(9_000, cost(limit)).unwrap().is_allowed());
        fixed.change_at(10, &plain(limit, 2_000)).unwrap();
        let denied = fixed.decide_at(9_100, Cost::ONE).unwrap();
        assert!(!denied.is_allowed(), "{denied:?}");
        let later = fixed.peek_at(12_000, Cost::ONE).unwrap();
        assert_eq!(later.remaining(), limit - 1);
    }
}

/// A clock that does not go back pays nothing for it: new windows begin as they would anyway.
#[test]
fn change_at_its_time_frees_with_the_next_new_window() {
    let hour = 3_600_000_000_000;
    let mut fixed = FixedWindow::new(plain(1_000, hour)).unwrap();
    let now = hour / 60 * 7 + 1;
    assert!(fixed.decide_at(now, cost(800)).unwrap().is_allowed());
    fixed.change_at(now, &plain(100, hour / 60)).unwrap();
    assert!(!fixed.decide_at(now, Cost::ONE).unwrap().is_allowed());
    let next = fixed.peek_at(hour / 60 * 8, Cost::ONE).unwrap();
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
    let step = prop_oneof![3 => Just(0_u64), 8 => 0..1_200_u64, 1 => 4_000..20_000_u64];
    let back = prop_oneof![2 => Just(0_u64), 3 => 0..4_000_u64, 1 => Just(1_000_000_u64)];
    let acquire = (step, back.clone(), 1..6_u64);
    let acquire = acquire.prop_map(|(step, back, cost)| Call::Acquire { step, back, cost });
    let window = prop_oneof![2 => Just(3_000_u64), 3 => 100..9_000_u64];
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
    /// what was counted at the change.
    #[test]
    fn earlier_changes_create_no_capacity(calls in prop::collection::vec(call(), 1..120)) {
        let (mut limit, mut window) = (9, 3_000);
        let mut fixed = FixedWindow::new(plain(limit, window)).unwrap();
        let mut recorded: Vec<(Nanos, u64)> = Vec::new();
        let (mut now, mut latest) = (1_000_000_u64, 0);
        for call in calls {
            match call {
                Call::Change { back, limit: new_limit, window: new_window } => {
                    let at = now.saturating_sub(back);
                    fixed.change_at(at, &plain(new_limit, new_window)).unwrap();
                    latest = latest.max(at);
                    recorded.retain(|(at, _)| at / window == latest / window);
                    (limit, window) = (new_limit, new_window);
                }
                Call::Acquire { step, back, cost: permits } => {
                    now += step;
                    let reading = now.saturating_sub(back);
                    let Ok(Decision::Allowed { at }) = fixed.decide_at(reading, cost(permits)) else {
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

    /// GCRA's stated bound: a change at an earlier time leaves at most one burst more than a change at
    /// the latest recorded time would.
    #[test]
    fn earlier_change_of_gcra_allows_at_most_a_burst_more(
        limits in (1..20_u64, 1..20_u64), windows in (100..10_000_u64, 100..10_000_u64),
        calls in prop::collection::vec((0..2_000_u64, 1..6_u64), 1..20),
        back in 0..40_000_u64, later in 0..5_000_u64,
    ) {
        let (before, after) = (plain(limits.0, windows.0), plain(limits.1, windows.1));
        let mut early = Gcra::new(before.clone()).unwrap();
        let mut true_time = Gcra::new(before).unwrap();
        let mut now = 50_000;
        for (step, permits) in calls {
            now += step;
            let answer = early.decide_at(now, cost(permits));
            prop_assert_eq!(true_time.decide_at(now, cost(permits)), answer);
        }
        early.change_at(now - back, &after).unwrap();
        true_time.change_at(now, &after).unwrap();
        let remaining = |gcra: &Gcra| {
            let look = gcra.peek_at(now + later, Cost::ONE).unwrap();
            look.remaining() + u64::from(look.is_allowed())
        };
        prop_assert!(remaining(&early) <= remaining(&true_time) + limits.0);
    }
}
