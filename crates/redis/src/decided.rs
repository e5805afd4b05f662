//! A decision that says what made it.

use std::fmt;

use windowpane_core::{AcquireError, Allowed, Answer, Cost, Rejected, Status};

use crate::policy::UNRECORDED;

/// A decision, and what made it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that is not read limits nothing"]
#[non_exhaustive]
pub struct Decided {
    /// The decision and what remains.
    pub answer: Answer,
    /// What made the decision.
    pub by: By,
}

/// What made a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum By {
    /// The store.
    Store,
    /// A lease that this process holds, without a round trip.
    Lease,
    /// The deny cache: the store had denied this cost, and the time to retry has not come.
    DenyCache,
    /// The [policy](crate::WhenUnavailable), because the store is unavailable.
    Policy {
        /// What happened.
        reason: String,
        /// Whether a quota denied, if it is a denial. Otherwise the denial names the first quota,
        /// because it has to name one.
        by_quota: bool,
    },
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Store => f.write_str("the store"),
            By::Lease => f.write_str("the lease"),
            By::DenyCache => f.write_str("the deny cache"),
            By::Policy { reason, .. } => {
                write!(f, "the policy, because the store is unavailable: {reason}")
            }
        }
    }
}

impl Decided {
    /// Returns the decision as the user's calls do: `Ok` only if the caller may go on.
    ///
    /// # Errors
    /// [`Rejected`], with what is left if a quota denied.
    pub fn into_result(self, cost: Cost) -> Result<(Allowed, Status), Rejected> {
        let retry_after = self.answer.detailed.decision().retry_after();
        match (self.by, retry_after) {
            (
                By::Policy {
                    reason,
                    by_quota: false,
                },
                Some(retry_after),
            ) => Err(AcquireError::DeniedByPolicy {
                retry_after,
                reason,
            }
            .into()),
            _ => self.answer.into_result(cost, |at| at != UNRECORDED),
        }
    }
}
