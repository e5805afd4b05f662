//! One limit of a stack, as a program gives it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use windowpane_core::wait::Timer;
use windowpane_core::{Cost, KeyedRateLimiter, KeyedSettle};

use super::part::{Last, Part, Returning};
use crate::common::meanwhile_settings;
use crate::cost::RequestCost;
use crate::key::{Extract, MissingKey};
use crate::policy::{NameError, Names, checked};
use crate::settle::{Meanwhile, Used, Using};

/// One limit of a [`StackBuilder`](super::StackBuilder): a name, a store, the key of a request, and its
/// cost.
///
/// A request that its extractor [exempts](crate::Extracted::Exempt) is not limited by it, and is
/// limited by the others.
pub struct Limit<S, E: Extract, C = Cost> {
    pub(super) names: Names,
    pub(super) store: S,
    pub(super) extract: E,
    pub(super) cost: C,
    pub(super) missing: MissingKey<E::Key>,
    pub(super) settle: Option<Using>,
    pub(super) meanwhile: Meanwhile,
}

impl<S, E: Extract> Limit<S, E> {
    /// Returns a limit of each key that `key` finds, in `store`. The names of its quotas begin with
    /// `name`.
    ///
    /// # Errors
    /// [`NameError`] if the name is empty or not printable ASCII.
    pub fn new(name: &str, store: S, key: E) -> Result<Self, NameError>
    where
        S: KeyedRateLimiter<E::Key> + 'static,
    {
        let mut names = Names::default();
        names.policies.set_limiter(name)?;
        Ok(Limit {
            names,
            store,
            extract: key,
            cost: Cost::ONE,
            missing: MissingKey::Reject,
            settle: None,
            meanwhile: Meanwhile::default(),
        })
    }
}

impl<S, E: Extract, C> Limit<S, E, C> {
    /// Sets the cost of a request for this limit: a [`Cost`], or a function of the request's head.
    /// The default is one permit.
    pub fn cost<D: RequestCost>(self, cost: D) -> Limit<S, E, D> {
        Limit {
            cost,
            names: self.names,
            store: self.store,
            extract: self.extract,
            missing: self.missing,
            settle: self.settle,
            meanwhile: self.meanwhile,
        }
    }

    /// Sets the policy for a request without this limit's key. By default it is rejected with status
    /// 400. Under [`MissingKey::Allow`], the other limits alone hold for it.
    pub fn missing_key(mut self, policy: MissingKey<E::Key>) -> Self {
        self.missing = policy;
        self
    }

    /// Names the quotas, in their order, as clients read them.
    ///
    /// # Errors
    /// [`NameError`] for the first name that is empty or not printable ASCII.
    pub fn policy_names<'n>(
        mut self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, NameError> {
        self.names.policies.set_quotas(names)?;
        Ok(self)
    }

    /// Names the unit of permits that are not requests, such as `tokens`.
    ///
    /// # Errors
    /// [`NameError`] if it is empty or not printable ASCII.
    pub fn permit_unit(mut self, unit: &str) -> Result<Self, NameError> {
        self.names.permit_unit = Some(checked(unit)?.to_owned());
        Ok(self)
    }

    /// Replaces the estimate that this limit was charged by what `used` returns, as
    /// [`RateLimitBuilder::settle`](crate::RateLimitBuilder::settle) does. A limit that is charged last
    /// is not settled.
    pub fn settle<F>(mut self, used: F) -> Self
    where
        S: KeyedSettle<E::Key> + 'static,
        F: Fn(&Used) -> Option<u64> + Send + Sync + 'static,
    {
        self.settle = Some(Arc::new(used));
        self
    }

    meanwhile_settings!();

    pub(super) fn into_part(self) -> Box<dyn Part>
    where
        S: KeyedSettle<E::Key> + 'static,
        C: RequestCost,
    {
        Box::new(Returning(Arc::new(self)))
    }

    pub(super) fn into_last_part(self) -> Box<dyn Part>
    where
        S: KeyedRateLimiter<E::Key> + 'static,
        C: RequestCost,
    {
        Box::new(Last(Arc::new(self)))
    }
}

impl<S, E: Extract, C> fmt::Debug for Limit<S, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("name", &self.names.policies.limiter())
            .finish_non_exhaustive()
    }
}
