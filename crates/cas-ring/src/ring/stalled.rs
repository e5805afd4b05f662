//! Threads that claim and then stall: whoever comes next finishes what they left, and no answer is
//! another for it.

use proptest::prelude::*;
use windowpane_mutex_log::MutexLog;

use super::*;

#[derive(Clone, Debug)]
enum Call {
    /// Asks, in either way.
    Acquire {
        cost: u64,
        detailed: bool,
    },
    /// Claims if there is room, and stalls after so many places of the record.
    Stall {
        cost: u64,
        put: usize,
    },
    Change(Vec<Quota>),
    Reset,
}

fn quotas() -> impl Strategy<Value = Vec<Quota>> {
    let quota = (1..7_u64, 1..20_u64);
    let quota = quota.prop_map(|(l, w)| Quota::from_nanos(l, w, Unit::Permits).unwrap());
    prop::collection::vec(quota, 1..4)
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => (1..8_u64, any::<bool>()).prop_map(|(cost, detailed)| Call::Acquire { cost, detailed }),
        6 => (1..8_u64, 0..8_usize).prop_map(|(cost, put)| Call::Stall { cost, put }),
        1 => quotas().prop_map(Call::Change),
        1 => Just(Call::Reset),
    ]
}

/// Claims as `acquire_at` does, if there is room, and puts no more than the first `put` places of
/// the record. Whether there was room.
fn claim_and_stall(ring: &CasRing, now: Nanos, cost: Cost, put: usize) -> bool {
    let head = ring.load_head();
    if !matches!(ring.judge(head, now, cost), Ok(None)) {
        return false;
    }
    // Nobody claims before the record before is in place.
    assert!(ring.settle(head));
    let (at, filled) = ring.effective(head, now);
    let claimed = head.claim(at, cost.get(), filled, ring.capacity());
    let (before, after) = (head.to_bits(), claimed.to_bits());
    let claim = ring
        .head
        .compare_exchange(before, after, Ordering::AcqRel, Ordering::Acquire);
    assert!(claim.is_ok());
    let places = (1..=cost.get()).rev().take(put);
    assert!({ places }.all(|nth| ring.put(claimed, nth)));
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_a_stalled_thread_leaves_unfinished_changes_no_answer(
        first in quotas(), spare in 0..3_u64, calls in prop::collection::vec((0..9_u64, call()), 1..40),
    ) {
        let first = Quotas::new(first).unwrap();
        let mut ring = CasRing::with_capacity(first.clone(), first.largest_limit() + spare).unwrap();
        let mut log = <MutexLog>::new(first);
        let mut now = 0;
        for (step, call) in calls {
            now += step;
            match call {
                Call::Acquire { cost, detailed } => {
                    let cost = Cost::new(cost).unwrap();
                    let expected = log.acquire_detailed_at(now, cost);
                    if detailed {
                        prop_assert_eq!(ring.acquire_detailed_at(now, cost), expected);
                    } else {
                        let expected = expected.map(|detailed| detailed.decision());
                        prop_assert_eq!(ring.acquire_at(now, cost), expected);
                    }
                }
                Call::Stall { cost, put } => {
                    let cost = Cost::new(cost).unwrap();
                    let expected = log.acquire_at(now, cost).is_ok_and(|d| d.is_allowed());
                    prop_assert_eq!(claim_and_stall(&ring, now, cost, put), expected);
                }
                Call::Change(others) => {
                    let others = Quotas::new(others).unwrap();
                    if ring.change_at(now, &others).is_ok() {
                        log.change_at(now, &others).unwrap();
                    }
                }
                Call::Reset => {
                    ring.reset();
                    log.reset();
                }
            }
            prop_assert_eq!(ring.peek_at(now, Cost::ONE), log.peek_at(now, Cost::ONE));
            prop_assert_eq!(ring.is_idle_at(now), log.is_idle_at(now));
        }
    }
}
