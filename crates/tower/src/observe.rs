//! One event for each request, and from it metrics and traces.

use std::sync::Arc;
use std::time::Duration;

use windowpane_core::StoreError;

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It was allowed and charged.
    Allowed,
    /// A quota denied it.
    Denied,
    /// It costs more than a limit: it could never pass.
    NeverFits,
    /// It has no key.
    MissingKey,
    /// It is exempt: neither limited nor counted.
    Exempt,
    /// The store has no free slot for its key, whatever the policy.
    Full,
    /// The store gave no decision, whatever the policy.
    Unavailable,
    /// The server is not set up to find keys.
    ServerFault,
}

impl Outcome {
    /// Returns the outcome as metrics and traces write it.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Allowed => "allowed",
            Outcome::Denied => "denied",
            Outcome::NeverFits => "never_fits",
            Outcome::MissingKey => "missing_key",
            Outcome::Exempt => "exempt",
            Outcome::Full => "full",
            Outcome::Unavailable => "unavailable",
            Outcome::ServerFault => "server_fault",
        }
    }
}

/// One request, as the layer saw it. It contains no key: keys are secrets, or addresses of people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'e> {
    /// The layer's name.
    pub limiter: &'e str,
    /// The outcome, shadow mode aside.
    pub outcome: Outcome,
    /// Whether it went on to the handler: a denial in shadow mode does, and so does a failure under
    /// [`OnFailure::Allow`](crate::OnFailure::Allow).
    pub passed: bool,
    /// The name of the quota that denied it or that it can never fit.
    pub policy: Option<&'e str>,
    /// The wait that the client is asked for.
    pub retry_after: Option<Duration>,
    /// The reason for which the store gave no decision, if the store reported one.
    pub error: Option<&'e StoreError>,
    /// How long the store took to decide; `None` where it was not asked, it is not measured, or the
    /// target has no clock.
    pub decision_time: Option<Duration>,
}

/// A function that sees every request's event.
pub(crate) type Observer = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// Whether decisions are timed: there is an observer or there are metrics, and the target has a
/// clock.
pub(crate) fn is_timed(observer: Option<&Observer>) -> bool {
    HAS_CLOCK && (cfg!(feature = "metrics") || observer.is_some())
}

/// Whether the target has a clock. On `wasm32-unknown-unknown` the standard library's clocks panic.
pub(crate) const HAS_CLOCK: bool = cfg!(not(all(target_family = "wasm", target_os = "unknown")));

/// Reports an event to the observer, the metrics and the traces.
pub(crate) fn observe(observer: Option<&Observer>, event: &Event<'_>) {
    if let Some(observer) = observer {
        observer(event);
    }
    #[cfg(feature = "metrics")]
    count(event);
    #[cfg(feature = "tracing")]
    trace(event);
}

/// The metrics' names; their labels are `limiter`, `outcome`, `policy`, `passed`.
#[cfg(feature = "metrics")]
pub mod metric_names {
    /// Counter: requests, by `limiter`, `outcome` and `passed` (`true` or `false`).
    pub const REQUESTS: &str = "windowpane_requests_total";
    /// Counter: denials, by `limiter`, `policy` and `passed`: `true` is shadow mode.
    pub const DENIED: &str = "windowpane_denied_total";
    /// Histogram: seconds that the store took to decide, by `limiter`.
    pub const DECISION: &str = "windowpane_decision_seconds";
    /// Gauge: keys that the store holds, by `limiter`.
    pub const KEYS: &str = "windowpane_keys";
    /// Counter: idle keys that the store has evicted, by `limiter`.
    pub const EVICTIONS: &str = "windowpane_evictions_total";
}

#[cfg(feature = "metrics")]
fn count(event: &Event<'_>) {
    use metric_names::{DECISION, DENIED, REQUESTS};

    let limiter: Arc<str> = event.limiter.into();
    let passed = if event.passed { "true" } else { "false" };
    metrics::counter!(REQUESTS, "limiter" => Arc::clone(&limiter),
        "outcome" => event.outcome.name(), "passed" => passed)
    .increment(1);
    if let (Outcome::Denied, Some(policy)) = (event.outcome, event.policy) {
        metrics::counter!(DENIED, "limiter" => Arc::clone(&limiter),
            "policy" => policy.to_owned(), "passed" => passed)
        .increment(1);
    }
    if let Some(time) = event.decision_time {
        metrics::histogram!(DECISION, "limiter" => limiter).record(time.as_secs_f64());
    }
}

/// Records the keys that a store holds and its evictions so far. Call it when the metrics are read;
/// the layer cannot, because its store may hold keys for other layers too.
#[cfg(feature = "metrics")]
pub fn record_store(limiter: &str, keys: u64, evictions: u64) {
    use metric_names::{EVICTIONS, KEYS};

    let limiter: Arc<str> = limiter.into();
    metrics::gauge!(KEYS, "limiter" => Arc::clone(&limiter)).set(keys as f64);
    metrics::counter!(EVICTIONS, "limiter" => limiter).absolute(evictions);
}

/// Denials are ordinary, and a client can cause any number of them: debug. A store that fails needs
/// attention: warn. A fault of the server is logged by [`log_fault`], once: debug here.
#[cfg(feature = "tracing")]
fn trace(event: &Event<'_>) {
    let Event {
        limiter, passed, ..
    } = event;
    let outcome = event.outcome.name();
    match event.outcome {
        Outcome::Allowed | Outcome::Exempt => {
            tracing::trace!(limiter, outcome, passed, "request");
        }
        Outcome::Denied | Outcome::NeverFits | Outcome::MissingKey | Outcome::ServerFault => {
            let retry_after = event.retry_after.map(tracing::field::debug);
            tracing::debug!(
                limiter,
                outcome,
                passed,
                policy = event.policy,
                retry_after,
                "request"
            );
        }
        Outcome::Full | Outcome::Unavailable => {
            let error = event.error.map(tracing::field::display);
            tracing::warn!(limiter, outcome, passed, error, "request");
        }
    }
}

/// Logs a fault of the server as one error line: by `tracing` if the feature is on and a subscriber
/// listens, else on the standard error.
pub(crate) fn log_fault(limiter: &str, what: &str) {
    #[cfg(feature = "tracing")]
    if tracing::enabled!(tracing::Level::ERROR) {
        tracing::error!(limiter, "every request is answered with status 500: {what}");
        return;
    }
    // Nothing else would say why every request fails.
    eprintln!("rate limit `{limiter}`: every request is answered with status 500: {what}");
}

/// A settlement that the store did not confirm.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn lost(error: &StoreError) {
    #[cfg(feature = "tracing")]
    tracing::warn!(%error, "a charge was not settled: its estimate stays charged");
}
