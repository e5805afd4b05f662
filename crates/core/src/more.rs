//! When more of a quota remains than does now: for stores.
//!
//! A decision reports a wait for its cost; what remains is the largest cost that fits. So more remains
//! when a cost of one more fits. A quota of requests ignores the cost, and several quotas give back at
//! different times: there the time is searched for. Only the passing of time makes more remain.

use crate::clock::Nanos;
use crate::cost::Cost;
use crate::decision::{Decision, Detailed};
use crate::per_quota::PerQuota;
use crate::quota::{Quota, Unit};
use crate::quotas::Quotas;
use crate::rate_limiter::RateLimiter;

/// The smallest wait from `now`, when it answered `detailed`, after which more would remain than in
/// `detailed` if nothing were accepted meanwhile; `None` if there is none.
pub fn more_after<L: RateLimiter>(limiter: &L, now: Nanos, detailed: &Detailed) -> Option<Nanos> {
    let (quotas, remaining) = (limiter.quotas(), detailed.remaining());
    if remaining > 0 && quotas.iter().all(|quota| quota.unit() == Unit::Requests) {
        let fit = |wait: Nanos| {
            let detailed = limiter.peek_at(now.checked_add(wait)?, Cost::ONE).ok()?;
            // One of those left was for the peek.
            Some(detailed.remaining() + u64::from(detailed.is_allowed()))
        };
        let at = match detailed.decision() {
            Decision::Allowed { at } => at,
            // Of requests alone, none remain then.
            Decision::Denied(_) => now,
        };
        let more = |wait| fit(wait).is_some_and(|fit| fit > remaining);
        return search(&quotas, now, at, more);
    }
    wait_for(limiter, now, remaining.checked_add(1)?)
}

/// As [`more_after`], if a request of `cost` were charged at `at`, which fits, and `remaining`
/// remained after it. Of limiters that are not exact it can be later, never earlier. `like_new` makes a
/// limiter that has accepted nothing.
pub fn more_after_charging<L: RateLimiter>(
    limiter: &L,
    now: Nanos,
    (at, cost): (Nanos, Cost),
    remaining: u64,
    like_new: impl FnOnce() -> Option<L>,
) -> Option<Nanos> {
    let quotas = limiter.quotas();
    // Of one quota, a cost of all that is to fit tells; of several, such a cost may exceed the least.
    if quotas.len() == 1 && quotas[0].unit() == Unit::Permits {
        return wait_for(
            limiter,
            now,
            remaining.checked_add(cost.get())?.checked_add(1)?,
        );
    }
    // It accepts this request alone, so it shows for how long each quota counts it.
    let alone = like_new()?;
    let _charged = alone.decide_at(at, cost).ok()?;
    let left = |now: Nanos| -> Option<PerQuota> {
        let (with_others, alone) = (
            limiter.peek_at(now, cost).ok()?,
            left_before(&quotas, &alone.peek_at(now, cost).ok()?, cost),
        );
        let left = with_others.remaining_per_quota().iter().zip(&alone);
        let left = left.zip(quotas.iter()).map(|((left, alone), quota)| {
            match *alone == quota.limit() {
                // Charged now, it is gone by then; a later peek charged it again.
                true => left + quota.charge(cost),
                false => *left,
            }
        });
        Some(left.collect())
    };
    let fit = |wait: Nanos| Some(quotas.largest_cost(&left(now.checked_add(wait)?)?));
    let more = |wait| fit(wait).is_some_and(|fit| fit > remaining);
    search(&quotas, now, at, more)
}

/// What was left of each quota before a peek of `cost`.
fn left_before(quotas: &Quotas, looked: &Detailed, cost: Cost) -> PerQuota {
    let charged = |quota: &Quota| match looked.is_allowed() {
        true => quota.charge(cost),
        false => 0,
    };
    let left = looked.remaining_per_quota().iter().zip(quotas.iter());
    left.map(|(left, quota)| left + charged(quota)).collect()
}

/// The wait after which a cost of `permits`, which does not fit now, will; `None` if it never will.
fn wait_for<L: RateLimiter>(limiter: &L, now: Nanos, permits: u64) -> Option<Nanos> {
    let detailed = limiter.peek_at(now, Cost::new(permits)?).ok()?;
    detailed.decision().denied()?.retry_after_nanos()
}

/// The smallest wait from `now` after which `more` holds, which then holds for ever; `None` if it never
/// does. A request would be recorded under `at`.
fn search(quotas: &Quotas, now: Nanos, at: Nanos, more: impl Fn(Nanos) -> bool) -> Option<Nanos> {
    // Two windows empty every limiter: one that weighs the window before counts in both. They begin at
    // the latest time that it has recorded, which the clock may be behind.
    let windows = 2 * quotas.longest_window();
    let mut after = windows
        .saturating_add(at.saturating_sub(now))
        .min(Nanos::MAX - now);
    if !more(after) {
        return None;
    }
    let mut before = 0;
    while after - before > 1 {
        let between = before + (after - before) / 2;
        match more(between) {
            true => after = between,
            false => before = between,
        }
    }
    Some(after)
}
