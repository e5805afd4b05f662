//! The rule of the bucket ring, straight from its definition: a list of all that was accepted, each
//! in the bucket that division puts it in. Included by the tests.

#![allow(dead_code, unreachable_pub)]

use windowpane_core::{Cost, Nanos, Quota, Quotas};

/// All that was accepted, and the rule over it.
pub struct Reference {
    quotas: Quotas,
    width: Nanos,
    accepted: Vec<(Nanos, Cost)>,
}

impl Reference {
    pub fn new(quotas: Quotas, width: Nanos) -> Reference {
        Reference {
            quotas,
            width,
            accepted: Vec::new(),
        }
    }

    /// The latest recorded time.
    pub fn latest(&self) -> Nanos {
        self.accepted.last().map_or(0, |(at, _)| *at)
    }

    pub fn record(&mut self, at: Nanos, cost: Cost) {
        self.accepted.push((at, cost));
    }

    pub fn reset(&mut self) {
        self.accepted.clear();
    }

    /// When what was accepted at `at` counts no more: a bucket b counts at t while
    /// (b + 1) × width − 1 > t − window.
    fn free_at(&self, quota: &Quota, at: Nanos) -> u128 {
        let bucket = u128::from(at / self.width);
        (bucket + 1) * u128::from(self.width) - 1 + u128::from(quota.window())
    }

    /// What `quota` counts at `t`.
    pub fn used(&self, quota: &Quota, t: u128) -> u64 {
        let counts = |&&(at, _): &&(Nanos, Cost)| self.free_at(quota, at) > t;
        let charge = |&(_, cost): &(Nanos, Cost)| quota.charge(cost);
        self.accepted.iter().filter(counts).map(charge).sum()
    }

    pub fn left(&self, t: Nanos) -> Vec<u64> {
        let left = |quota: &Quota| quota.limit() - self.used(quota, t.into());
        self.quotas.iter().map(left).collect()
    }

    fn has_room(&self, quota: &Quota, t: u128, cost: Cost) -> bool {
        self.used(quota, t) + quota.charge(cost) <= quota.limit()
    }

    pub fn fits(&self, t: Nanos, cost: Cost) -> bool {
        let mut quotas = self.quotas.iter();
        quotas.all(|quota| self.has_room(quota, t.into(), cost))
    }

    pub fn never_fits(&self, cost: Cost) -> bool {
        let above = |quota: &Quota| quota.limit() > 0 && quota.charge(cost) > quota.limit();
        self.quotas.iter().any(above)
    }

    /// The quota that denies and the first instant at which it would not, `None` for never.
    pub fn denial(&self, t: Nanos, cost: Cost) -> (usize, Option<u128>) {
        let free = |quota: &Quota| {
            let moments = self
                .accepted
                .iter()
                .map(|(at, _)| self.free_at(quota, *at))
                .chain([t.into()])
                .filter(|moment| *moment >= t.into());
            moments
                .filter(|moment| self.has_room(quota, *moment, cost))
                .min()
        };
        let free: Vec<Option<u128>> = self.quotas.iter().map(free).collect();
        let worst = free.iter().map(|free| free.unwrap_or(u128::MAX)).max();
        let is_worst = |free: &Option<u128>| Some(free.unwrap_or(u128::MAX)) == worst;
        let quota = free.iter().position(is_worst).expect("there is a quota");
        (quota, free[quota])
    }
}
