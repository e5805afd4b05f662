//! The log against a list that keeps all and counts.

use proptest::prelude::*;
use windowpane_core::{AcquireError, Cost, Decision, Quota, Quotas, RateLimiter, Unit};
use windowpane_mutex_log::{MutexLog, OnRegression};

/// What was accepted, all of it.
struct List(Vec<(u64, u64)>);

impl List {
    /// What `quota` counts in `(t - window, t]`.
    fn used(&self, quota: &Quota, t: u64) -> u64 {
        let inside = |&&(at, _): &&(u64, u64)| at <= t && t - at < quota.window();
        let charge = |&(_, cost): &(u64, u64)| quota.charge(Cost::new(cost).unwrap());
        self.0.iter().filter(inside).map(charge).sum()
    }

    fn fits(&self, quotas: &Quotas, t: u64, cost: Cost) -> bool {
        quotas
            .iter()
            .all(|q| self.used(q, t) + q.charge(cost) <= q.limit())
    }

    /// When a request of `cost` is first allowed, from `t` on: at `t` or when something leaves.
    fn first_fit(&self, quotas: &Quotas, t: u64, cost: Cost) -> Option<u64> {
        let leaves = |q: &Quota| {
            self.0
                .iter()
                .map(|(at, _)| at + q.window())
                .collect::<Vec<_>>()
        };
        let mut moments: Vec<u64> = quotas.iter().flat_map(leaves).filter(|m| *m > t).collect();
        moments.push(t);
        moments.sort_unstable();
        moments.into_iter().find(|m| self.fits(quotas, *m, cost))
    }
}

#[derive(Clone, Debug)]
struct Call {
    step: i64,
    cost: u64,
}

fn quota() -> impl Strategy<Value = Quota> {
    let unit = prop_oneof![3 => Just(Unit::Permits), 1 => Just(Unit::Requests)];
    let window = prop_oneof![Just(1_u64), 1..40_u64];
    let limit = prop_oneof![1 => Just(0_u64), 3 => Just(1), 8 => 1..9_u64];
    (limit, window, unit).prop_map(|(l, w, u)| Quota::from_nanos(l, w, u).unwrap())
}

fn call() -> impl Strategy<Value = Call> {
    // Ties, small steps back and forth, and idle gaps of many windows.
    let step = prop_oneof![4 => Just(0_i64), 8 => 0..10_i64, 2 => -8..0_i64, 1 => 100..400_i64];
    let cost = prop_oneof![4 => Just(1_u64), 1 => 1..10_u64];
    (step, cost).prop_map(|(step, cost)| Call { step, cost })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_log_decides_as_the_list_does(
        quotas in prop::collection::vec(quota(), 1..4),
        calls in prop::collection::vec(call(), 1..60),
        reject: bool,
    ) {
        let quotas = Quotas::new(quotas).unwrap();
        let policy = if reject { OnRegression::Reject } else { OnRegression::Clamp };
        let log = <MutexLog>::with_regression(quotas.clone(), policy);
        let mut list = List(Vec::new());
        let (mut now, mut latest) = (500_i64, 0_u64);
        for Call { step, cost } in calls {
            now = (now + step).max(0);
            let (time, cost) = (now as u64, Cost::new(cost).unwrap());
            let peeked = log.peek_at(time, cost);
            let answer = log.acquire_detailed_at(time, cost);
            prop_assert_eq!(&peeked, &answer);
            let never = quotas.iter().any(|q| q.limit() > 0 && q.charge(cost) > q.limit());
            if never {
                let error = matches!(answer, Err(AcquireError::NeverFits { .. }));
                prop_assert!(error, "{answer:?}");
                continue;
            }
            if reject && time < latest {
                prop_assert_eq!(answer, Err(AcquireError::TimeWentBack { now: time, latest }));
                continue;
            }
            let t = time.max(latest);
            let answer = answer.unwrap();
            if list.fits(&quotas, t, cost) {
                prop_assert_eq!(answer.decision(), Decision::Allowed { at: t });
                list.0.push((t, cost.get()));
                latest = t;
            } else {
                let denied = answer.decision().denied().expect("the list denies");
                let fit = list.first_fit(&quotas, t, cost);
                prop_assert_eq!(denied.retry_after_nanos(), fit.map(|at| at - time));
                // The quota named is the first of those with the longest wait.
                let wait = |q: &Quota| match q.limit() {
                    0 => u64::MAX,
                    _ => list.first_fit(&(*q).into(), t, cost).unwrap(),
                };
                let longest = quotas.iter().map(wait).max().unwrap();
                prop_assert_eq!(Some(denied.quota()), quotas.iter().position(|q| wait(q) == longest));
                if reject {
                    latest = t;
                }
            }
            let left: Vec<u64> = quotas.iter().map(|q| q.limit() - list.used(q, t)).collect();
            prop_assert_eq!(answer.remaining_per_quota(), &left[..]);
            let idle = quotas.iter().all(|q| list.used(q, t) == 0);
            prop_assert_eq!(log.is_idle_at(time), idle);
        }
        // Nothing older than the longest window stays, and the snapshot is what the list holds.
        let kept = log.snapshot();
        let tail = &list.0[list.0.len() - kept.len()..];
        prop_assert!(kept.iter().map(|e| (e.at, e.cost.get())).eq(tail.iter().copied()));
        log.reset();
        prop_assert!(log.snapshot().is_empty() && log.is_idle_at(0));
    }
}
