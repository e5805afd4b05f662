//! Each contestant against the oracle: the exact log, fed what the contestant itself accepted.

use std::collections::HashMap;

use windowpane_core::RateLimiter;
use windowpane_mutex_log::MutexLog;

use super::clock::{LabClock, SimulatedClock};
use super::rows::AccuracyRow;
use super::traffic::Traffic;
use crate::contestants::{Cannot, Contestant, Instance};

/// What the oracle says of one contestant on one traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Allowed by the contestant.
    pub allowed: u64,
    /// Allowed, though the oracle would deny.
    pub false_allows: u64,
    /// Denied, though the oracle would allow.
    pub false_denies: u64,
    /// The most permits above the limit in any window of any client.
    pub worst_overshoot: u64,
}

/// One client's limiter, and the oracle that follows it.
struct Followed {
    limiter: Box<dyn Instance>,
    shadow: MutexLog,
}

/// Runs a contestant over a traffic and has the oracle judge each decision.
///
/// # Errors
/// [`Cannot`] if it cannot express the quota or a cost.
pub fn judge(contestant: &dyn Contestant, traffic: &Traffic) -> Result<Verdict, Cannot> {
    let mut clients: HashMap<u32, Followed> = HashMap::new();
    let mut verdict = Verdict::default();
    let limit = traffic.quota.limit();
    for request in &traffic.requests {
        let client = match clients.entry(request.client) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                // Built at the traffic's zero, whenever the client comes: limiters that count
                // windows from when they were built count them from there, as the others do.
                SimulatedClock::set(0);
                new.insert(Followed {
                    limiter: contestant.build(traffic.quota, LabClock::Simulated)?,
                    shadow: MutexLog::new(traffic.quota),
                })
            }
        };
        SimulatedClock::set(request.at);
        let oracle = client
            .shadow
            .peek_at(request.at, request.cost)
            .is_ok_and(|answer| answer.is_allowed());
        let allowed = client.limiter.decide_cost(request.cost)?;
        if allowed {
            let used = client.shadow.record_at(request.at, request.cost)[0];
            verdict.worst_overshoot = verdict.worst_overshoot.max(used.saturating_sub(limit));
        }
        verdict.allowed += u64::from(allowed);
        verdict.false_allows += u64::from(allowed && !oracle);
        verdict.false_denies += u64::from(!allowed && oracle);
    }
    Ok(verdict)
}

/// [`judge`], as a row of the run.
pub fn row(contestant: &dyn Contestant, traffic: &Traffic) -> AccuracyRow {
    let judged = judge(contestant, traffic);
    let verdict = judged.as_ref().copied().unwrap_or_default();
    AccuracyRow {
        contestant: contestant.info().name.into(),
        traffic: traffic.name.clone(),
        about: traffic.about.clone(),
        quota: traffic.quota.to_string(),
        clients: traffic.clients(),
        requests: traffic.requests.len() as u64,
        allowed: verdict.allowed,
        false_allows: verdict.false_allows,
        false_denies: verdict.false_denies,
        worst_overshoot: verdict.worst_overshoot,
        worst_overshoot_share: verdict.worst_overshoot as f64 / traffic.quota.limit() as f64,
        cannot: judged.err().map(|cannot| cannot.0).unwrap_or_default(),
    }
}
