//! Quotas by key.

use std::fmt;
use std::sync::Arc;

use crate::algorithm::Plan;

/// The function that returns the index of a key's tier.
pub(crate) type TierOf = Arc<dyn Fn(&str) -> Option<usize> + Send + Sync>;

/// The quotas of keys that have others than most.
#[derive(Default)]
pub(crate) struct Tiers {
    plans: Vec<Arc<Plan>>,
    of_key: Option<TierOf>,
}

impl Tiers {
    pub(crate) fn new(plans: Vec<Arc<Plan>>, of_key: Option<TierOf>) -> Tiers {
        Tiers { plans, of_key }
    }

    /// The quotas of the tier of `key`, if it has one.
    pub(crate) fn of(&self, key: &str) -> Option<&Arc<Plan>> {
        let of_key = self.of_key.as_ref()?;
        self.plans.get(of_key(key)?)
    }
}

impl fmt::Debug for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quotas = self.plans.iter().map(|plan| &plan.quotas);
        f.debug_list().entries(quotas).finish()
    }
}
