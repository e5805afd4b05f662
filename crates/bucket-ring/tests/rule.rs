//! The ring against its own rule, written out by brute force: decision, wait, what remains,
//! idleness.

mod reference;
mod story;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reference::Reference;
use story::{Call, Story, story};
use windowpane_bucket_ring::{BucketRing, MAX_LIMIT};
use windowpane_core::{Cost, Decision, Denial, Detailed, Nanos, Quota, RateLimiter, RequestError};

/// What the reference answers to a request; it records what it allows.
fn answer(
    reference: &mut Reference,
    now: Nanos,
    cost: Cost,
) -> (Decision, Vec<u64>, Option<Nanos>) {
    let at = now.max(reference.latest());
    if reference.fits(at, cost) {
        reference.record(at, cost);
        return (Decision::Allowed { at }, reference.left(at), None);
    }
    let (quota, free) = reference.denial(at, cost);
    let wait = free.map(|free| u64::try_from(free - u128::from(now)).unwrap_or(u64::MAX));
    let denied = Denial::new(quota, wait);
    (Decision::Denied(denied), reference.left(at), wait)
}

/// Asks the ring for `cost` in every way, in turn, and says what it answered.
fn ask(ring: &BucketRing, now: Nanos, cost: Cost, turn: u64) -> Result<Detailed, RequestError> {
    let peeked = ring.peek_at(now, cost);
    if turn.is_multiple_of(2) {
        assert_eq!(ring.decide_detailed_at(now, cost), peeked);
    } else {
        let expected = peeked.clone().map(|detailed| detailed.decision());
        assert_eq!(ring.decide_at(now, cost), expected);
    }
    peeked
}

/// Plays the story on both and returns how many requests were compared, and how many were denied.
fn compare(story: &Story) -> Result<(u64, u64), TestCaseError> {
    let ring = BucketRing::with_buckets(story.quotas.clone(), story.buckets).unwrap();
    let longest = story.quotas.longest_window();
    prop_assert_eq!(ring.width(), longest.div_ceil(story.buckets.into()));
    let mut reference = Reference::new(story.quotas.clone(), ring.width());
    let mut now = story.start;
    let (mut compared, mut denied) = (0, 0);
    for call in &story.calls {
        let (step, cost) = match *call {
            Call::Reset => {
                ring.reset();
                reference.reset();
                continue;
            }
            Call::Acquire { step, cost } => (step, cost),
        };
        now = step.from(now, ring.width());
        let at = now.max(reference.latest());
        let limits = story.quotas.iter().map(Quota::limit);
        let is_idle = reference.left(at).into_iter().eq(limits);
        prop_assert_eq!(ring.is_idle_at(now), is_idle);
        let answered = ask(&ring, now, cost, compared);
        compared += 1;
        if reference.never_fits(cost) {
            let never = matches!(answered, Err(RequestError::NeverFits { .. }));
            prop_assert!(never, "{answered:?}");
            continue;
        }
        let answered = answered.unwrap();
        let (decision, left, wait) = answer(&mut reference, now, cost);
        prop_assert_eq!(answered.decision(), decision);
        prop_assert_eq!(answered.remaining_per_quota(), &left[..]);
        prop_assert_eq!(answered.remaining(), story.quotas.largest_cost(&left));
        denied += u64::from(!answered.is_allowed());
        if let Some(free) = wait.and_then(|wait| now.checked_add(wait)) {
            let peek = |at| ring.peek_at(at, cost).unwrap().is_allowed();
            prop_assert!(
                !peek(free - 1) && peek(free),
                "free at {free}, told at {now}"
            );
        }
    }
    Ok((compared, denied))
}

/// At least 100,000 requests in all, however short the stories turn out, a good part of either kind.
#[test]
fn the_ring_decides_as_its_rule_says() {
    let (compared, denied) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config::with_cases(4_000));
    runner
        .run(&story(), |story| {
            let (more, of_them) = compare(&story)?;
            compared.set(compared.get() + more);
            denied.set(denied.get() + of_them);
            Ok(())
        })
        .unwrap();
    let (compared, denied) = (compared.get(), denied.get());
    assert!(compared >= 100_000, "{compared} requests");
    let share = denied * 100 / compared;
    assert!((20..80).contains(&share), "{share} % denied");
}

/// The count of all that was accepted runs modulo 2^39.
#[test]
fn the_counts_wrap() {
    let limit = MAX_LIMIT;
    for (cost, step) in [(limit, 7), (limit / 2, 3), (limit / 3, 1)] {
        let quota = format!("{limit}/10ns").parse::<Quota>().unwrap();
        let ring = BucketRing::with_buckets(quota, 5).unwrap();
        let mut reference = Reference::new(quota.into(), ring.width());
        let cost = Cost::new(cost).unwrap();
        for i in 0..2_000 {
            let answered = ring.decide_detailed_at(i * step, cost).unwrap();
            let (decision, left, _) = answer(&mut reference, i * step, cost);
            assert_eq!(answered.decision(), decision, "request {i}");
            assert_eq!(answered.remaining_per_quota(), &left[..]);
        }
    }
}

/// One request every few years: records far apart, far beyond the bits of a bucket's number.
#[test]
fn a_trickle_over_centuries_is_read_right() {
    let day = 86_400_000_000_000;
    for (quota, buckets) in [("2/365d", 3_600), ("3/1s", 60), ("1/5ns", 5)] {
        let quota: Quota = quota.parse().unwrap();
        let ring = BucketRing::with_buckets(quota, buckets).unwrap();
        let mut reference = Reference::new(quota.into(), ring.width());
        for i in 0..2_000_u64 {
            // Uneven steps, in bursts of three.
            let now = i / 3 * 100 * day + i * 7_919 % day;
            let cost = Cost::new(1 + i % quota.limit()).unwrap();
            let answered = ring.decide_detailed_at(now, cost).unwrap();
            let (decision, left, _) = answer(&mut reference, now, cost);
            assert_eq!(answered.decision(), decision, "request {i}");
            assert_eq!(answered.remaining_per_quota(), &left[..]);
        }
    }
}

/// A slot holds 24 bits of a bucket's number: what is older than that must be forgotten in time.
#[test]
fn buckets_that_look_alike_are_told_apart() {
    let quota: Quota = "3/10ns".parse().unwrap();
    for buckets in [1, 5, 10] {
        let ring = BucketRing::with_buckets(quota, buckets).unwrap();
        let mut reference = Reference::new(quota.into(), ring.width());
        for i in 0..300_u64 {
            let around = (i / 3) * (ring.width() << 24) + 20;
            let now = around + (i % 3) * ring.width() - i % 2;
            let answered = ring.decide_detailed_at(now, Cost::ONE).unwrap();
            let (decision, left, _) = answer(&mut reference, now, Cost::ONE);
            assert_eq!(answered.decision(), decision, "request {i}");
            assert_eq!(answered.remaining_per_quota(), &left[..]);
        }
    }
}
