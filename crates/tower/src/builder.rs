//! The builder of a layer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use windowpane_core::wait::Timer;
use windowpane_core::{
    AsyncKeyedRateLimiter, AsyncKeyedSettle, Cost, KeyedRateLimiter, KeyedSettle,
};

use crate::common::{common_settings, meanwhile_settings};
use crate::cost::RequestCost;
use crate::engine::{Decide, Engine, Settles, Shared};
use crate::headers::{Draft, Reset};
use crate::key::{Extract, MissingKey};
use crate::observe::Event;
use crate::policy::NameError;
use crate::rejection::{OnFailure, Rejection};
use crate::service::RateLimitLayer;
use crate::settings::Settings;
use crate::settle::{Meanwhile, Used};
use crate::store::{InMemory, Remote};

/// A builder of a [`RateLimitLayer`], from a store of limiters and the key of a request.
///
/// | | default |
/// |---|---|
/// | [`cost`](Self::cost) | one permit |
/// | [`draft_headers`](Self::draft_headers) | `RateLimit-Policy` and `RateLimit` are sent |
/// | [`missing_key`](Self::missing_key) | rejected: 400 |
/// | [`on_unavailable`](Self::on_unavailable), [`on_full`](Self::on_full) | error: 503 |
/// | [`respond`](Self::respond) | `application/problem+json` |
/// | [`settle`](Self::settle) | the estimate stays charged |
/// | [`shadow`](Self::shadow) | off |
pub struct RateLimitBuilder<L, E: Extract, C = Cost> {
    store: L,
    extract: E,
    cost: C,
    missing: MissingKey<E::Key>,
    settle: Option<Settles<L, E::Key>>,
    meanwhile: Meanwhile,
    settings: Settings,
}

impl<S, E: Extract> RateLimitBuilder<InMemory<S>, E> {
    /// Returns a builder for a store in this process: each key that `key` finds is limited by its
    /// quotas in `store`.
    pub fn new(store: S, key: E) -> Self
    where
        S: KeyedRateLimiter<E::Key> + 'static,
    {
        RateLimitBuilder::of(InMemory(store), key)
    }
}

impl<S, E: Extract> RateLimitBuilder<Remote<S>, E> {
    /// Returns a builder for a store that answers later, for instance on another machine.
    pub fn remote(store: S, key: E) -> Self
    where
        S: AsyncKeyedRateLimiter<E::Key> + 'static,
    {
        RateLimitBuilder::of(Remote(store), key)
    }
}

impl<L, E: Extract> RateLimitBuilder<L, E> {
    fn of(store: L, extract: E) -> Self {
        RateLimitBuilder {
            store,
            extract,
            cost: Cost::ONE,
            missing: MissingKey::Reject,
            settle: None,
            meanwhile: Meanwhile::default(),
            settings: Settings::default(),
        }
    }
}

impl<L, E: Extract, C> RateLimitBuilder<L, E, C> {
    /// Sets the cost of a request: a [`Cost`], or a function of the request's head. The default is
    /// one permit.
    pub fn cost<D: RequestCost>(self, cost: D) -> RateLimitBuilder<L, E, D> {
        RateLimitBuilder {
            cost,
            store: self.store,
            extract: self.extract,
            missing: self.missing,
            settle: self.settle,
            meanwhile: self.meanwhile,
            settings: self.settings,
        }
    }

    /// Names the layer, in metrics and traces and before the names of its quotas. Clients of
    /// several layers tell the quotas apart by it.
    ///
    /// # Errors
    /// [`NameError`] if it is empty or not printable ASCII.
    pub fn named(mut self, name: &str) -> Result<Self, NameError> {
        self.settings.names.policies.set_limiter(name)?;
        Ok(self)
    }

    /// Names the quotas, in their order, as clients read them. A quota without a name is named by
    /// its text: `100/60s`.
    ///
    /// # Errors
    /// [`NameError`] for the first name that is empty or not printable ASCII.
    pub fn policy_names<'n>(
        mut self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, NameError> {
        self.settings.names.policies.set_quotas(names)?;
        Ok(self)
    }

    /// Names the unit of permits that are not requests, such as `content-bytes` or `tokens`: the
    /// `qu` of `RateLimit-Policy`. Without it, clients take permits for requests.
    ///
    /// # Errors
    /// [`NameError`] if it is empty or not printable ASCII.
    pub fn permit_unit(mut self, unit: &str) -> Result<Self, NameError> {
        self.settings.names.permit_unit = Some(crate::policy::checked(unit)?.to_owned());
        Ok(self)
    }

    common_settings!();

    /// Sets the policy for a request without a key. By default it is rejected with status 400.
    pub fn missing_key(mut self, policy: MissingKey<E::Key>) -> Self {
        self.missing = policy;
        self
    }

    fn engine(self) -> Engine<L, E, C> {
        Engine {
            store: self.store,
            extract: self.extract,
            cost: self.cost,
            missing: self.missing,
            settle: self.settle,
            meanwhile: self.meanwhile,
            settings: self.settings,
        }
    }

    fn finish(self) -> RateLimitLayer
    where
        Shared<Engine<L, E, C>>: Decide + 'static,
    {
        RateLimitLayer::of(Arc::new(Shared(Arc::new(self.engine()))))
    }
}

impl<S, E, C> RateLimitBuilder<InMemory<S>, E, C>
where
    S: KeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    /// Returns the layer.
    pub fn build(self) -> RateLimitLayer {
        self.finish()
    }
}

impl<S, E, C> RateLimitBuilder<Remote<S>, E, C>
where
    S: AsyncKeyedRateLimiter<E::Key> + 'static,
    E: Extract,
    C: RequestCost,
{
    /// Returns the layer.
    pub fn build(self) -> RateLimitLayer {
        self.finish()
    }
}

impl<S, E: Extract, C> RateLimitBuilder<InMemory<S>, E, C> {
    /// Replaces the estimate that was charged by what `used` returns once the response has ended;
    /// for `None` the estimate stays charged. `Used::metered` settles by what the handler reports to
    /// its [`Meter`](crate::Meter), `|used| used.bytes_sent(1024)` by the length of the body.
    ///
    /// A response has ended when its body was handed to the connection as a whole, failed, or was
    /// dropped. If the handler panics, fails, or is dropped because the client went away, there is
    /// no response, and `used` is called then.
    pub fn settle<F>(mut self, used: F) -> Self
    where
        S: KeyedSettle<E::Key> + 'static,
        F: Fn(&Used) -> Option<u64> + Send + Sync + 'static,
    {
        self.settle = Some(Settles {
            using: Arc::new(used),
            replace: Arc::new(|store: &InMemory<S>, key, charge, actual| {
                store.0.settle(key, charge, actual);
            }),
        });
        self
    }

    meanwhile_settings!();
}

impl<S, E: Extract, C> RateLimitBuilder<Remote<S>, E, C> {
    /// Replaces the estimate that was charged by what `used` returns once the response has ended, as
    /// [`settle`](RateLimitBuilder::settle) does for a store in this process. `spawn` runs the
    /// settlement, for instance `|settling| drop(tokio::spawn(settling))`. A settlement that still
    /// runs when the program ends is lost: the estimate stays charged.
    pub fn settle_on<F, P>(mut self, used: F, spawn: P) -> Self
    where
        S: AsyncKeyedSettle<E::Key> + Clone + 'static,
        F: Fn(&Used) -> Option<u64> + Send + Sync + 'static,
        P: Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + 'static,
    {
        self.settle = Some(Settles {
            using: Arc::new(used),
            replace: Arc::new(move |store: &Remote<S>, key: &E::Key, charge, actual| {
                let (store, key) = (store.0.clone(), key.clone());
                spawn(Box::pin(async move {
                    if let Err(error) = store.settle(&key, charge, actual).await {
                        crate::observe::lost(&error);
                    }
                }));
            }),
        });
        self
    }
}

impl<L, E: Extract, C> fmt::Debug for RateLimitBuilder<L, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitBuilder")
            .field("name", &self.settings.limiter())
            .field("shadow", &self.settings.shadow)
            .finish_non_exhaustive()
    }
}
