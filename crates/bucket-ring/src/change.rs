//! Other quotas for a ring in use.

use windowpane_core::{BuildError, ChangeQuotas, Nanos, Quotas};

use crate::plan::{NAME, Plan};
use crate::ring::BucketRing;

/// Under the same longest window the buckets stay as they are. Under another they are laid out again,
/// in the same number: what an old one held counts as accepted at its last instant, or at the change
/// if that was earlier. So the ring never allows what the exact window would deny, and each
/// such change can make it deny by one of the old buckets earlier. O(buckets).
impl ChangeQuotas for BucketRing {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        let plan = Plan::new(quotas.clone(), self.plan.buckets)?;
        if plan.unit != self.plan.unit {
            return Err(BuildError::UnitChanged {
                algorithm: NAME,
                quota: quotas[0],
            });
        }
        if quotas.longest_window() == self.plan.quotas.longest_window() {
            self.plan = plan;
            return Ok(());
        }
        let changed = BucketRing::of(plan);
        let view = self.view(self.load_head(), now);
        let held = view.held(self.plan.longest());
        // At last nothing, at the change: an earlier time might see what is forgotten now.
        for (end, charge) in held.chain([(view.at, 0)]) {
            let head = changed.load_head();
            // `&mut self`: no other thread claims, so the head stands and the claim succeeds.
            changed.claim(changed.view(head, end.min(view.at)), charge);
        }
        *self = changed;
        Ok(())
    }
}
