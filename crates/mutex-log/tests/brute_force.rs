//! The log against a list that keeps all and counts.

use proptest::prelude::*;
use windowpane_core::{
    ChangeQuotas, Cost, Decision, Quota, Quotas, RateLimiter, RequestError, Settle, Unit,
};
use windowpane_mutex_log::{MutexLog, OnRegression};

/// One accepted request.
#[derive(Clone, Copy)]
struct Listed {
    id: usize,
    at: u64,
    cost: u64,
}

impl Listed {
    /// What was settled can have cost nothing; a request it was all the same.
    fn charge(&self, quota: &Quota) -> u64 {
        match quota.unit() {
            Unit::Requests => 1,
            _ => self.cost,
        }
    }
}

/// What was accepted, all of it.
struct List(Vec<Listed>);

impl List {
    /// What `quota` counts in `(t - window, t]`.
    fn used(&self, quota: &Quota, t: u64) -> u64 {
        let inside = |e: &&Listed| e.at <= t && t - e.at < quota.window();
        self.0.iter().filter(inside).map(|e| e.charge(quota)).sum()
    }

    /// Forgets what no quota counts at `t`.
    fn forget(&mut self, quotas: &Quotas, t: u64) {
        let counts = |e: &Listed, q: &Quota| t - e.at < q.window() && e.charge(q) > 0;
        self.0.retain(|e| quotas.iter().any(|q| counts(e, q)));
    }

    /// Makes the entry of that id cost `actual`, if it is still there. What costs nothing and is
    /// counted by no quota is forgotten.
    fn settle(&mut self, quotas: &Quotas, id: usize, actual: u64) {
        if let Some(entry) = self.0.iter_mut().find(|e| e.id == id) {
            entry.cost = actual;
        }
        let all = self.0.iter().copied();
        let counts = |e: &Listed| quotas.iter().any(|q| e.charge(q) > 0);
        self.0 = all.filter(counts).collect();
    }

    fn fits(&self, quotas: &Quotas, t: u64, cost: Cost) -> bool {
        quotas
            .iter()
            .all(|q| self.used(q, t) + q.charge(cost) <= q.limit())
    }

    /// When a request of `cost` is first allowed, from `t` on: at `t` or when something leaves.
    fn first_fit(&self, quotas: &Quotas, t: u64, cost: Cost) -> Option<u64> {
        let leaves = |q: &Quota| self.0.iter().map(|e| e.at + q.window()).collect::<Vec<_>>();
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
    /// The charge not yet settled that is settled after it, and its real cost; without one it is
    /// cancelled.
    settle: Option<(prop::sample::Index, Option<u64>)>,
    resets: bool,
    /// Other quotas, from before it on.
    change: Option<Vec<Quota>>,
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
    let actual = prop_oneof![2 => Just(0_u64), 6 => 0..12_u64, 1 => 0..u64::MAX / 100];
    let actual = prop::option::weighted(0.7, actual);
    let settle = prop::option::weighted(0.3, (any::<prop::sample::Index>(), actual));
    let resets = prop::bool::weighted(0.02);
    let change = prop::option::weighted(0.08, prop::collection::vec(quota(), 1..4));
    (step, cost, settle, resets, change).prop_map(|(step, cost, settle, resets, change)| Call {
        step,
        cost,
        settle,
        resets,
        change,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_log_decides_as_the_list_does(
        quotas in prop::collection::vec(quota(), 1..4),
        calls in prop::collection::vec(call(), 1..60),
        reject: bool,
    ) {
        let mut quotas = Quotas::new(quotas).unwrap();
        let policy = if reject { OnRegression::Reject } else { OnRegression::Clamp };
        let mut log = <MutexLog>::with_regression(quotas.clone(), policy);
        let mut list = List(Vec::new());
        let mut unsettled: Vec<(Listed, Cost)> = Vec::new();
        let (mut now, mut latest) = (500_i64, 0_u64);
        for (id, Call { step, cost, settle, resets, change }) in calls.into_iter().enumerate() {
            if resets {
                log.reset();
                list.0.clear();
                unsettled.clear();
                latest = 0;
            }
            now = (now + step).max(0);
            let (time, cost) = (now as u64, Cost::new(cost).unwrap());
            if let Some(others) = change {
                latest = latest.max(time);
                list.forget(&quotas, latest);
                quotas = Quotas::new(others).unwrap();
                log.change_at(time, &quotas).unwrap();
                prop_assert_eq!(log.quotas(), quotas.clone());
            }
            let peeked = log.peek_at(time, cost);
            let answer = log.decide_detailed_at(time, cost);
            prop_assert_eq!(&peeked, &answer);
            let never = quotas.iter().any(|q| q.limit() > 0 && q.charge(cost) > q.limit());
            if never {
                let error = matches!(answer, Err(RequestError::NeverFits { .. }));
                prop_assert!(error, "{answer:?}");
                continue;
            }
            if reject && time < latest {
                prop_assert_eq!(answer, Err(RequestError::ClockWentBack { now: time, latest }));
                continue;
            }
            let t = time.max(latest);
            let answer = answer.unwrap();
            if list.fits(&quotas, t, cost) {
                prop_assert_eq!(answer.decision(), Decision::Allowed { at: t });
                let entry = Listed { id, at: t, cost: cost.get() };
                unsettled.push((entry, cost));
                list.0.push(entry);
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
            let left = |list: &List| -> Vec<u64> {
                quotas.iter().map(|q| q.limit().saturating_sub(list.used(q, t))).collect()
            };
            prop_assert_eq!(answer.remaining_per_quota(), &left(&list)[..]);
            if let Some((which, actual)) = settle.filter(|_| !unsettled.is_empty()) {
                let (entry, estimate) = unsettled.swap_remove(which.index(unsettled.len()));
                match actual {
                    Some(actual) => {
                        log.settle_at(entry.at, estimate, actual);
                        list.settle(&quotas, entry.id, actual);
                    }
                    None => {
                        log.cancel_at(entry.at, estimate);
                        list.0.retain(|listed| listed.id != entry.id);
                    }
                }
                // The cost of a look must fit each limit, or it tells nothing.
                if let Ok(look) = log.peek_at(t, Cost::ONE) {
                    let taken = u64::from(look.is_allowed());
                    let after: Vec<u64> = left(&list).iter().map(|left| left - taken).collect();
                    prop_assert_eq!(look.remaining_per_quota(), &after[..]);
                }
            }
            let idle = quotas.iter().all(|q| list.used(q, t) == 0);
            prop_assert_eq!(log.is_idle_at(time), idle);
        }
        // Nothing older than the longest window stays, and the snapshot is what the list holds.
        let mut kept: Vec<_> = log.snapshot().iter().map(|e| (e.at, e.permits)).collect();
        let mut listed: Vec<_> = list.0.iter().map(|e| (e.at, e.cost)).collect();
        kept.retain(|(_, permits)| *permits > 0);
        listed.retain(|(_, cost)| *cost > 0);
        let mut tail = listed.split_off(listed.len() - kept.len());
        // Charges alike can have been settled the other way round.
        kept.sort_unstable();
        tail.sort_unstable();
        prop_assert_eq!(kept, tail);
        log.reset();
        prop_assert!(log.snapshot().is_empty() && log.is_idle_at(0));
    }
}
