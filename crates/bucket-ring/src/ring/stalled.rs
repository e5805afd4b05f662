//! Threads that put a record, to begin a bucket, and then stall: no answer is another for it.

use proptest::prelude::*;
use windowpane_core::Quota;

use super::*;

/// Goes as far as the claim of what fits, and stalls before it.
fn put_and_stall(ring: &BucketRing, now: Nanos, cost: Cost) {
    let head = ring.load_head();
    let view = ring.view(head, now);
    let fits = matches!(ring.judge(head, now, cost), Ok(None));
    if fits && !view.is_in_newest() {
        assert!(ring.put(head, view.newest));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Beside a ring on which nobody stalls.
    #[test]
    fn a_record_put_before_its_time_changes_no_answer(
        limit in 1..12_u64, window in 1..20_u64, buckets in 1..7_u32,
        calls in prop::collection::vec((0..9_u64, 0..6_u64, 1..4_u64, any::<bool>()), 1..60),
    ) {
        let quota = Quota::from_nanos(limit, window, Default::default()).unwrap();
        let build = || BucketRing::with_buckets(quota, buckets).unwrap();
        let (ring, unspoilt) = (build(), build());
        let mut latest = 0;
        for (step, behind, cost, stalls) in calls {
            latest += step;
            // Readings arrive out of order, so that more goes into a bucket whose record is put.
            let (now, cost) = (latest.saturating_sub(behind), Cost::new(cost).unwrap());
            if stalls {
                put_and_stall(&ring, latest, cost);
            }
            prop_assert_eq!(ring.acquire_detailed_at(now, cost), unspoilt.acquire_detailed_at(now, cost));
            prop_assert_eq!(ring.peek_at(latest, Cost::ONE), unspoilt.peek_at(latest, Cost::ONE));
        }
    }
}
