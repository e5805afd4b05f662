//! What a layer is made of: whose quotas, what a request costs, what clients and operators see.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use windowpane_core::{AsyncKeyedSettle, Charge, Cost, KeyedSettle, Local};

use crate::cost::RequestCost;
use crate::headers::{Headers, Reset};
use crate::key::{Extract, MissingKey};
use crate::observe::{Event, Observer};
use crate::policy::{NameError, Policies};
use crate::refusal::{OnFailure, Refusal};
use crate::service::RateLimitLayer;
use crate::settle::Used;
use crate::written::Kept;

/// How a charge is replaced by what was used.
pub(crate) type Settle<L, K> = Arc<dyn Fn(&L, K, Charge, &Used) + Send + Sync>;

/// How a refusal is put to the client.
pub(crate) type Respond = Arc<dyn Fn(&Refusal) -> Response<Bytes> + Send + Sync>;

/// Builds a [`RateLimitLayer`]: from a store of limiters and a way to find a request's key, the rest
/// having defaults.
///
/// | | default |
/// |---|---|
/// | [`cost`](Self::cost) | one permit |
/// | [`headers`](Self::draft_headers) | `RateLimit-Policy` and `RateLimit`; `Retry-After` with a denial |
/// | [`missing_key`](Self::missing_key) | refused: 400 |
/// | [`on_unavailable`](Self::on_unavailable), [`on_full`](Self::on_full) | refused: 503 |
/// | [`respond`](Self::respond) | `application/problem+json` |
/// | [`settle`](Self::settle) | what was charged stays charged |
/// | [`shadow`](Self::shadow) | off |
pub struct RateLimit<L, E: Extract, C = Cost> {
    pub(crate) limiter: L,
    pub(crate) extract: E,
    pub(crate) cost: C,
    pub(crate) options: Options<L, E::Key>,
}

/// The part that does not depend on the types of extractor and cost.
pub(crate) struct Options<L, K> {
    pub(crate) policies: Policies,
    pub(crate) headers: Headers,
    pub(crate) missing: MissingKey<K>,
    pub(crate) on_full: OnFailure,
    pub(crate) on_unavailable: OnFailure,
    pub(crate) shadow: bool,
    pub(crate) respond: Option<Respond>,
    pub(crate) settle: Option<Settle<L, K>>,
    pub(crate) observer: Option<Observer>,
}

impl<L, E: Extract> RateLimit<L, E> {
    /// Limits each key that `extract` finds by its quotas in `limiter`: a store that answers later,
    /// or one of this machine in [`Local`].
    pub fn new(limiter: L, extract: E) -> RateLimit<L, E> {
        RateLimit {
            limiter,
            extract,
            cost: Cost::ONE,
            options: Options {
                policies: Policies::default(),
                headers: Headers {
                    draft: true,
                    trio: None,
                    permit_unit: None,
                    kept: Kept::default(),
                },
                missing: MissingKey::Refuse,
                on_full: OnFailure::Refuse,
                on_unavailable: OnFailure::Refuse,
                shadow: false,
                respond: None,
                settle: None,
                observer: None,
            },
        }
    }
}

impl<L, E: Extract, C> RateLimit<L, E, C> {
    /// What a request costs: a [`Cost`], or a function of its head. Default: one permit.
    pub fn cost<D: RequestCost>(self, cost: D) -> RateLimit<L, E, D> {
        RateLimit {
            limiter: self.limiter,
            extract: self.extract,
            cost,
            options: self.options,
        }
    }

    /// Names the layer, in metrics and traces and before its quotas' names; where several layers
    /// stand behind each other, clients tell their quotas apart by it.
    ///
    /// # Errors
    /// [`NameError`] if it is empty or not printable ASCII.
    pub fn named(mut self, name: &str) -> Result<Self, NameError> {
        self.options.policies.set_limiter(name)?;
        Ok(self)
    }

    /// Names the quotas, in their order, as clients read them. A quota without a name of its own is
    /// called what it is: `100/60s`.
    ///
    /// # Errors
    /// [`NameError`] for the first that is empty or not printable ASCII.
    pub fn policy_names<'n>(
        mut self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, NameError> {
        self.options.policies.set_quotas(names)?;
        Ok(self)
    }

    /// What permits are, where they are not requests, such as `content-bytes` or `tokens`: the `qu`
    /// of `RateLimit-Policy`. Without it clients take permits for requests.
    ///
    /// # Errors
    /// [`NameError`] if it is empty or not printable ASCII.
    pub fn permit_unit(mut self, unit: &str) -> Result<Self, NameError> {
        self.options.headers.permit_unit = Some(crate::policy::checked(unit)?.to_owned());
        Ok(self)
    }

    /// Whether `RateLimit-Policy` and `RateLimit` are sent (draft-ietf-httpapi-ratelimit-headers,
    /// read at -10), on allowed responses and denials; default yes.
    pub fn draft_headers(mut self, send: bool) -> Self {
        self.options.headers.draft = send;
        self
    }

    /// Sends `X-RateLimit-Limit`, `-Remaining` and `-Reset` as well, of the quota that denied or
    /// has least left. Of several layers the one with least remaining is told.
    pub fn x_headers(mut self, reset: Reset) -> Self {
        self.options.headers.trio = Some(reset);
        self
    }

    /// What happens to a request without a key; default: it is refused with status 400.
    pub fn missing_key(mut self, policy: MissingKey<E::Key>) -> Self {
        self.options.missing = policy;
        self
    }

    /// What happens to a request when the store has no room for its key; default: it is refused
    /// with status 503. To let it pass means no limit for new clients under a flood of keys.
    pub fn on_full(mut self, policy: OnFailure) -> Self {
        self.options.on_full = policy;
        self
    }

    /// What happens to a request when the store does not answer, or cannot; default: it is refused
    /// with status 503. To let it pass means no limit meanwhile.
    pub fn on_unavailable(mut self, policy: OnFailure) -> Self {
        self.options.on_unavailable = policy;
        self
    }

    /// Lets everything through, without headers, while events, metrics and traces tell what would
    /// have been refused. Default off.
    pub fn shadow(mut self, on: bool) -> Self {
        self.options.shadow = on;
        self
    }

    /// How refusals are put to clients; default [`Refusal::response`]. The layer adds its headers
    /// to the response. Calls of gRPC are answered in gRPC's own way in any case.
    pub fn respond<F>(mut self, respond: F) -> Self
    where
        F: Fn(&Refusal) -> Response<Bytes> + Send + Sync + 'static,
    {
        self.options.respond = Some(Arc::new(respond));
        self
    }

    /// Shows each request's [`Event`] to a function, which should be quick.
    pub fn observe<F>(mut self, observer: F) -> Self
    where
        F: Fn(&Event<'_>) + Send + Sync + 'static,
    {
        self.options.observer = Some(Arc::new(observer));
        self
    }

    /// Replaces what was charged by what `used` makes of a response once it has ended, as
    /// [`settle`](Self::settle) does, in a store that answers later. `spawn` runs the settling, for
    /// instance `|settling| drop(tokio::spawn(settling))`. What is still running when the program
    /// ends is lost: the estimate stays charged.
    pub fn settle_on<F, P>(mut self, used: F, spawn: P) -> Self
    where
        L: AsyncKeyedSettle<E::Key> + Clone + 'static,
        F: Fn(&Used) -> Option<u64> + Send + Sync + 'static,
        P: Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + 'static,
    {
        self.options.settle = Some(Arc::new(move |limiter: &L, key, charge, response| {
            let Some(actual) = used(response) else { return };
            let limiter = limiter.clone();
            spawn(Box::pin(async move {
                if let Err(error) = limiter.settle(&key, charge, actual).await {
                    crate::observe::lost(&error);
                }
            }));
        }));
        self
    }

    /// The layer.
    pub fn layer(self) -> RateLimitLayer<L, E, C> {
        RateLimitLayer::new(self)
    }
}

impl<S, E: Extract, C> RateLimit<Local<S>, E, C> {
    /// Replaces what was charged by what `used` makes of a response once it has ended; where it
    /// makes nothing of it, the charge stays. `Used::metered` settles by what the handler reports
    /// to its [`Meter`](crate::Meter), `|used| used.bytes_sent(1024)` by the body's length.
    ///
    /// A response has ended when its body was handed to the connection as a whole, failed, or was
    /// dropped. Where the handler panics, fails, or is dropped because its client went away, there
    /// is none, and `used` is asked at once.
    pub fn settle<F>(mut self, used: F) -> Self
    where
        S: KeyedSettle<E::Key> + 'static,
        F: Fn(&Used) -> Option<u64> + Send + Sync + 'static,
    {
        self.options.settle = Some(Arc::new(
            move |limiter: &Local<S>, key: E::Key, charge, response| {
                if let Some(actual) = used(response) {
                    limiter.0.settle(&key, charge, actual);
                }
            },
        ));
        self
    }
}

impl<L, E: Extract, C> fmt::Debug for RateLimit<L, E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("name", &self.options.policies.limiter())
            .field("shadow", &self.options.shadow)
            .finish_non_exhaustive()
    }
}
