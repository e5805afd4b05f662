//! The ring beside the exact log, fed the same accepted history: never above a quota, and at most
//! one bucket early with a denial.

mod story;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use story::{Call, Story, story};
use windowpane_bucket_ring::BucketRing;
use windowpane_core::{MAX_WINDOW, Quota, Quotas, RateLimiter};
use windowpane_mutex_log::MutexLog;

/// The quotas with every window longer by `width`; `None` where that is longer than a window can be.
fn widened(quotas: &Quotas, width: u64) -> Option<Quotas> {
    let widen =
        |quota: &Quota| Quota::from_nanos(quota.limit(), quota.window() + width, quota.unit());
    let quotas: Result<Vec<Quota>, _> = quotas.iter().map(widen).collect();
    Some(Quotas::new(quotas.ok()?).unwrap())
}

/// Plays the story; how many were allowed, how many denied, and how many of those falsely.
fn judge(story: &Story) -> Result<[u64; 3], TestCaseError> {
    let ring = BucketRing::with_buckets(story.quotas.clone(), story.buckets).unwrap();
    let exact = <MutexLog>::new(story.quotas.clone());
    let Some(wider) = widened(&story.quotas, ring.width()) else {
        prop_assert!(story.quotas.longest_window() + ring.width() > MAX_WINDOW);
        return Ok([0; 3]);
    };
    let wider = <MutexLog>::new(wider);
    let mut now = story.start;
    let [mut allowed, mut denied, mut falsely] = [0; 3];
    for call in &story.calls {
        let (step, cost) = match *call {
            Call::Reset => {
                ring.reset();
                exact.reset();
                wider.reset();
                continue;
            }
            Call::Acquire { step, cost } => (step, cost),
        };
        now = step.from(now, ring.width());
        let by_the_log = exact.peek_at(now, cost);
        let decision = match ring.decide_at(now, cost) {
            Ok(decision) => decision,
            Err(error) => {
                prop_assert_eq!(by_the_log, Err(error));
                continue;
            }
        };
        let by_the_log = by_the_log.unwrap();
        if let Some(told) = decision.denied() {
            denied += 1;
            falsely += u64::from(by_the_log.is_allowed());
            // Widened by one bucket, the window of the very quota that was named has no room.
            let quota = story.quotas[told.quota()];
            let left = wider.peek_at(now, cost).unwrap().remaining_per_quota()[told.quota()];
            let is_denied = !wider.peek_at(now, cost).unwrap().is_allowed();
            prop_assert!(
                is_denied && left < quota.charge(cost),
                "{left} left at {now}"
            );
        } else {
            allowed += 1;
            prop_assert_eq!(
                decision,
                by_the_log.decision(),
                "above the quota at {}",
                now
            );
            let used = exact.record_at(now, cost);
            prop_assert!(
                used.iter()
                    .zip(story.quotas.iter())
                    .all(|(used, q)| *used <= q.limit())
            );
            let _ = wider.record_at(now, cost);
        }
    }
    Ok([allowed, denied, falsely])
}

#[test]
fn it_never_admits_above_a_quota_and_denies_at_most_one_bucket_early() {
    let total = Cell::new([0_u64; 3]);
    let mut runner = TestRunner::new(Config::with_cases(4_000));
    runner
        .run(&story(), |story| {
            let more = judge(&story)?;
            let sum = total.get();
            total.set([0, 1, 2].map(|i| sum[i] + more[i]));
            Ok(())
        })
        .unwrap();
    // All three kinds were there, or the test has shown nothing.
    let [allowed, denied, falsely] = total.get();
    assert!(
        allowed > 20_000 && denied > 20_000 && falsely > 1_000,
        "{allowed} {denied} {falsely}"
    );
}
