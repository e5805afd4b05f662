//! What a limiter denies of a log at one limit.

use serde::Serialize;
use windowpane_core::{BuildError, Cost, Decision, Nanos, Quotas};
use windowpane_lab_contestants::registry::{Algorithm, BuildOptions};

use super::traffic::{Client, Traffic};

/// What is denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Requests denied, those whose cost is above the limit among them.
    pub requests_denied: u64,
    /// Clients of which at least one request is denied.
    pub clients_denied: u64,
    /// The longest block of a client: from a denial to when a request would be allowed, with none allowed
    /// in between.
    pub longest_block_ns: Nanos,
}

impl Outcome {
    fn add(&mut self, client: Outcome) {
        self.requests_denied += client.requests_denied;
        self.clients_denied += u64::from(client.requests_denied > 0);
        self.longest_block_ns = self.longest_block_ns.max(client.longest_block_ns);
    }
}

/// Decides all requests whose client may be denied one: who asks in no window for more than the limit
/// is not. An approximate limiter counts at most what two windows hold.
///
/// # Errors
/// [`BuildError`] if the algorithm cannot hold the quotas.
pub(super) fn outcome(
    traffic: &Traffic,
    algorithm: &Algorithm,
    quotas: &Quotas,
    buckets: u32,
) -> Result<Outcome, BuildError> {
    let peaks: Vec<(&[u64], u64)> = quotas
        .iter()
        .map(|quota| {
            (
                traffic.peaks(counted(algorithm, quota.window())),
                quota.limit(),
            )
        })
        .collect();
    let options = BuildOptions {
        buckets,
        ..BuildOptions::default()
    };
    (algorithm.build)(quotas, options)?;
    let mut all = Outcome::default();
    for client in 0..traffic.clients() {
        if peaks.iter().any(|(peaks, limit)| peaks[client] > *limit) {
            all.add(of_client(
                traffic.client(client),
                algorithm,
                quotas,
                options,
            )?);
        }
    }
    Ok(all)
}

/// The window in which what a limiter may count is counted.
pub(super) fn counted(algorithm: &Algorithm, window: Nanos) -> Nanos {
    match algorithm.info.is_exact() {
        true => window,
        false => window.saturating_mul(2),
    }
}

/// What is denied of one client.
pub(super) fn of_client(
    client: Client<'_>,
    algorithm: &Algorithm,
    quotas: &Quotas,
    options: BuildOptions,
) -> Result<Outcome, BuildError> {
    let start = client.times.first().copied().unwrap_or(0);
    let limiter = (algorithm.build)(quotas, BuildOptions { start, ..options })?;
    let mut outcome = Outcome::default();
    let mut since: Option<Nanos> = None;
    for (time, cost) in client.requests() {
        let cost = Cost::new(cost).unwrap_or(Cost::ONE);
        let wait = match limiter.decide_at(time, cost) {
            Ok(Decision::Allowed { .. }) => {
                since = None;
                continue;
            }
            Ok(Decision::Denied(denial)) => denial.retry_after_nanos().unwrap_or(0),
            // The cost is above the limit: no wait helps.
            Err(_) => 0,
        };
        outcome.requests_denied += 1;
        let block = time.saturating_add(wait) - *since.get_or_insert(time);
        outcome.longest_block_ns = outcome.longest_block_ns.max(block);
    }
    outcome.clients_denied = u64::from(outcome.requests_denied > 0);
    Ok(outcome)
}
