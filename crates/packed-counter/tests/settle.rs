//! Costs that are known later: the counter against a list of what was really used.

use proptest::prelude::*;
use windowpane_core::{Cost, Nanos, Quota, Quotas, RateLimiter, Settle, Unit};
use windowpane_packed_counter::PackedCounter;

fn counter(quota: &str) -> PackedCounter {
    PackedCounter::new(Quotas::parse([quota]).unwrap()).unwrap()
}

fn cost(permits: u64) -> Cost {
    Cost::new(permits).unwrap()
}

/// What was used, each at its time: the counts of the windows are sums over it.
struct Used(Vec<(Nanos, u64)>);

impl Used {
    fn in_window(&self, quota: Quota, index: Option<u64>) -> u64 {
        let inside = |&&(at, _): &&(Nanos, u64)| Some(at / quota.window()) == index;
        self.0.iter().filter(inside).map(|(_, used)| used).sum()
    }

    /// What remains at `t`, by the rule.
    fn left(&self, quota: Quota, t: Nanos) -> u64 {
        let (index, elapsed) = (t / quota.window(), t % quota.window());
        let current = self.in_window(quota, Some(index));
        let previous = self.in_window(quota, index.checked_sub(1));
        let weight = (previous * (quota.window() - elapsed)).div_ceil(quota.window());
        quota.limit().saturating_sub(current + weight)
    }
}

#[derive(Clone, Debug)]
enum Call {
    Acquire {
        step: Nanos,
        cost: u64,
    },
    Settle {
        which: prop::sample::Index,
        actual: u64,
    },
}

fn call() -> impl Strategy<Value = Call> {
    let step = prop_oneof![4 => Just(0_u64), 6 => 0..400_000_u64, 1 => 1_000_000..4_000_000_u64];
    let acquire = (step, 1..10_u64).prop_map(|(step, cost)| Call::Acquire { step, cost });
    let settle = (
        any::<prop::sample::Index>(),
        prop_oneof![Just(0), 0..14_u64],
    );
    let settle = settle.prop_map(|(which, actual)| Call::Settle { which, actual });
    prop_oneof![3 => acquire, 2 => settle]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever was reserved and settled in between, it decides as if each had cost what it really
    /// cost, while no count outgrows its field.
    #[test]
    fn it_decides_as_if_each_request_had_cost_what_it_really_cost(
        // Just above a power of two: its field holds nearly twice as much.
        limit in 1_024..1_040_u64, window in 80_000..1_000_000_u64, calls in prop::collection::vec(call(), 1..60),
    ) {
        let quota = Quota::from_nanos(limit, window, Unit::Permits).unwrap();
        let most = 2_047;
        let counter = PackedCounter::new(quota).unwrap();
        let (mut used, mut unsettled, mut t) = (Used(Vec::new()), Vec::new(), 0);
        for call in calls {
            match call {
                Call::Acquire { step, cost: permits } => {
                    t += step;
                    let permits = permits * 100;
                    let fits = permits <= used.left(quota, t);
                    let answer = counter.decide_detailed_at(t, cost(permits)).unwrap();
                    prop_assert_eq!(answer.is_allowed(), fits);
                    if fits {
                        unsettled.push((used.0.len(), cost(permits)));
                        used.0.push((t, permits));
                    }
                }
                Call::Settle { which, actual } if !unsettled.is_empty() => {
                    let (entry, estimate): (usize, Cost) = unsettled.swap_remove(which.index(unsettled.len()));
                    let at = used.0[entry].0;
                    let index = Some(at / window);
                    let room = most - used.in_window(quota, index) + estimate.get();
                    let actual = (actual * 100).min(room);
                    counter.settle_at(at, estimate, actual);
                    used.0[entry].1 = actual;
                }
                Call::Settle { .. } => {}
            }
            let left = used.left(quota, t);
            let look = counter.peek_at(t, Cost::ONE).unwrap();
            prop_assert_eq!(look.is_allowed(), left > 0);
            prop_assert_eq!(look.remaining(), left.saturating_sub(1));
            // The wait is the smallest after which it fits.
            if let Some(wait) = look.decision().denied().and_then(|d| d.retry_after_nanos()) {
                prop_assert!(used.left(quota, t + wait) > 0);
                prop_assert_eq!(used.left(quota, t + wait - 1), 0);
            }
        }
    }

    /// Beyond its field a count stays full; it never wraps, never touches its neighbours, and is
    /// forgotten two windows later.
    #[test]
    fn a_charge_beyond_the_field_leaves_it_full(limit in 2..4_096_u64, actual: u64, previous: u64) {
        let quota = Quota::from_nanos(limit, 1_000_000, Unit::Permits).unwrap();
        let counter = PackedCounter::new(quota).unwrap();
        let previous = previous % limit + 1;
        prop_assert!(counter.decide_at(999_999, cost(previous)).unwrap().is_allowed());
        let late = 2_000_000 - 1;
        prop_assert!(counter.decide_at(late, Cost::ONE).unwrap().is_allowed());
        let actual = actual.max(limit);
        counter.settle_at(late, Cost::ONE, actual);
        let look = counter.peek_at(late, Cost::ONE).unwrap();
        prop_assert_eq!((look.is_allowed(), look.remaining()), (false, 0));
        // The index has not moved, and neither has the count before.
        counter.settle_at(late, cost(actual), 0);
        let left = counter.peek_at(late, Cost::ONE).unwrap();
        prop_assert!(left.remaining() <= limit);
        counter.settle_at(999_999, cost(previous), 0);
        counter.settle_at(late, cost(u64::MAX), 0);
        prop_assert!(counter.is_idle_at(late));
        prop_assert!(counter.decide_at(late, cost(limit)).unwrap().is_allowed());
    }
}

#[test]
fn a_charge_is_replaced_in_this_window_and_in_the_one_before_and_then_no_more() {
    let counter = counter("10/10ns");
    assert!(counter.decide_at(5, cost(8)).unwrap().is_allowed());
    counter.settle_at(5, cost(8), 2);
    assert_eq!(counter.peek_at(5, Cost::ONE).unwrap().remaining(), 7);
    assert!(counter.decide_at(12, cost(3)).unwrap().is_allowed());
    counter.settle_at(5, cost(2), 10);
    // 10 × 8/10 and 3 at 12 ns.
    assert!(!counter.decide_at(12, Cost::ONE).unwrap().is_allowed());
    assert!(counter.decide_at(25, Cost::ONE).unwrap().is_allowed());
    counter.settle_at(5, cost(10), 0);
    // 3 × 5/10 rounds up to 2, and 1.
    assert_eq!(counter.peek_at(25, Cost::ONE).unwrap().remaining(), 6);
}

#[test]
fn nine_pairs_of_taking_and_giving_back_leave_the_capacity_as_it_was() {
    let counter = counter("10/1s");
    for pair in 0..9 {
        let at = pair * 11_000_000;
        assert!(counter.decide_at(at, Cost::ONE).unwrap().is_allowed());
        counter.settle_at(at, Cost::ONE, 0);
    }
    assert!(
        counter
            .decide_at(99_000_000, cost(10))
            .unwrap()
            .is_allowed()
    );
    let look = counter.peek_at(99_000_000, Cost::ONE).unwrap();
    assert!(!look.is_allowed());
}

#[test]
fn a_quota_of_requests_gives_nothing_back() {
    let counter = counter("2req/10ns");
    assert!(counter.decide_at(5, cost(8)).unwrap().is_allowed());
    counter.settle_at(5, cost(8), 0);
    assert_eq!(counter.peek_at(5, Cost::ONE).unwrap().remaining(), 0);
}

/// A charge of the window after the recorded one is none of its own: the word does not tell it.
#[test]
fn what_was_forgotten_is_not_charged_to_the_window_before() {
    let counter = counter("4/100ns");
    assert!(counter.decide_at(100, Cost::ONE).unwrap().is_allowed());
    counter.reset();
    counter.settle_at(100, Cost::ONE, 4);
    let left = counter.peek_at(100, cost(4)).unwrap();
    assert!(left.is_allowed());
}
