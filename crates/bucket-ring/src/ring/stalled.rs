//! Threads that publish a record, to begin a bucket, and then stall: no answer changes.

use proptest::prelude::*;
use windowpane_core::Quota;

use super::*;

/// Publishes the record of the bucket before, if the cost fits, and stalls before its claim.
fn publish_and_stall(ring: &BucketRing, now: Nanos, cost: Cost) {
    let head = ring.load_head();
    let view = ring.view(head, now);
    let fits = matches!(ring.denial(head, now, cost), Ok(None));
    if fits && !view.is_in_newest() {
        assert!(ring.publish(head, view.newest));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Beside a ring on which no thread stalls.
    #[test]
    fn a_record_published_early_changes_no_answer(
        limit in 1..12_u64, window in 1..20_u64, buckets in 1..7_u32,
        calls in prop::collection::vec((0..9_u64, 0..6_u64, 1..4_u64, any::<bool>()), 1..60),
    ) {
        let quota = Quota::from_nanos(limit, window, Default::default()).unwrap();
        let build = || BucketRing::with_buckets(quota, buckets).unwrap();
        let (ring, unspoilt) = (build(), build());
        let mut latest = 0;
        for (step, behind, cost, stalls) in calls {
            latest += step;
            // Readings arrive out of order, so that more goes into a bucket whose record is published.
            let (now, cost) = (latest.saturating_sub(behind), Cost::new(cost).unwrap());
            if stalls {
                publish_and_stall(&ring, latest, cost);
            }
            prop_assert_eq!(ring.decide_detailed_at(now, cost), unspoilt.decide_detailed_at(now, cost));
            prop_assert_eq!(ring.peek_at(latest, Cost::ONE), unspoilt.peek_at(latest, Cost::ONE));
        }
    }
}

/// A ring in which two requests of half the limit bring the count back.
fn ring_of_terabytes() -> BucketRing {
    let limit = crate::MAX_LIMIT;
    let quota = Quota::from_nanos(limit, 100, Default::default()).unwrap();
    BucketRing::with_buckets(quota, 1).unwrap()
}

#[test]
fn no_head_comes_back_by_resets_on_a_standing_clock() {
    let ring = ring_of_terabytes();
    let half = Cost::new(1 << (crate::head::COUNT_BITS - 1)).unwrap();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..1_000 {
        assert!(ring.decide_at(7, half).unwrap().is_allowed());
        assert!(seen.insert(ring.words.head.load(Ordering::Acquire)));
        ring.reset();
        assert!(seen.insert(ring.words.head.load(Ordering::Acquire)));
    }
}

#[test]
fn a_late_record_after_resets_on_a_standing_clock_fails() {
    for resets in 1..200_u64 {
        let ring = ring_of_terabytes();
        let half = Cost::new(1 << (crate::head::COUNT_BITS - 1)).unwrap();
        assert!(ring.decide_at(7, half).unwrap().is_allowed());
        // A thread sleeps before it publishes the record of the bucket of 7.
        let head = ring.load_head();
        let slot = &ring.slots[head.index() as usize];
        let found = slot.load(Ordering::Acquire);
        let record = Record::new(0, head.resets(), head.accepted());
        for _ in 0..resets {
            ring.reset();
            assert!(ring.decide_at(7, half).unwrap().is_allowed());
        }
        let late = slot.compare_exchange(found, record.0, Ordering::AcqRel, Ordering::Acquire);
        assert!(late.is_err(), "after {resets} resets");
        let left = ring.peek_at(7, Cost::ONE).unwrap().remaining();
        assert_eq!(left, crate::MAX_LIMIT - half.get() - 1);
    }
}

#[test]
fn an_announced_reset_changes_nothing_until_finished() {
    let ring = BucketRing::with_buckets("1/60s".parse::<Quota>().unwrap(), 6).unwrap();
    assert!(ring.decide_at(7, Cost::ONE).unwrap().is_allowed());
    assert_eq!(ring.announce_reset(), 1);
    assert!(!ring.decide_at(8, Cost::ONE).unwrap().is_allowed());
    assert!(!ring.peek_at(8, Cost::ONE).unwrap().is_allowed());
    ring.reset();
    assert_eq!(ring.load_head().resets(), 1);
    assert!(ring.decide_at(8, Cost::ONE).unwrap().is_allowed());
    ring.reset();
    assert_eq!(ring.load_head().resets(), 2);
    assert!(ring.decide_at(3, Cost::ONE).unwrap().is_allowed());
}
