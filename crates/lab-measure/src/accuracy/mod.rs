//! Each contestant against the oracle: the exact log, fed what the contestant itself accepted.

mod client;

use rand::SeedableRng;
use rand::rngs::StdRng;
use windowpane_core::Nanos;
use windowpane_lab_contestants::registry::ORACLE;
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_contestants::{Cannot, Contestant};

use super::rows::AccuracyRow;
use super::traffic::search::{self, Input};
use super::traffic::{Request, Traffic};

/// What the oracle says of one contestant on one traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Requests decided: those of the traffic and those made again.
    pub requests: u64,
    /// How many of them were made because an earlier one was denied.
    pub retries: u64,
    /// Allowed by the contestant.
    pub allowed: u64,
    /// Allowed, though the oracle would deny.
    pub false_allows: u64,
    /// Denied, though the oracle would allow.
    pub false_denies: u64,
    /// The most permits above the limit in any window of any client.
    pub worst_overshoot: u64,
    /// Time in which clients were denied though the oracle would have allowed.
    pub wrongly_denied: Nanos,
    /// The longest such time.
    pub longest_wrong_denial: Nanos,
    /// From each client's first request to its last, and a window more.
    pub client_time: Nanos,
}

impl Verdict {
    /// Allowed, of these falsely, falsely denied, and the worst overshoot.
    pub fn counts(&self) -> [u64; 4] {
        [
            self.allowed,
            self.false_allows,
            self.false_denies,
            self.worst_overshoot,
        ]
    }

    /// This client's verdict and the others'.
    fn add(&mut self, other: &Verdict) {
        self.requests += other.requests;
        self.retries += other.retries;
        self.allowed += other.allowed;
        self.false_allows += other.false_allows;
        self.false_denies += other.false_denies;
        self.worst_overshoot = self.worst_overshoot.max(other.worst_overshoot);
        self.wrongly_denied += other.wrongly_denied;
        self.longest_wrong_denial = self.longest_wrong_denial.max(other.longest_wrong_denial);
        self.client_time += other.client_time;
    }
}

/// Runs a contestant over a traffic and has the oracle judge each decision. One client after the
/// other, so that no more limiters are held than one client needs.
///
/// # Errors
/// [`Cannot`] if it cannot express the quota or a cost, or tells no wait where clients wait as
/// told.
pub fn judge(contestant: &dyn Contestant, traffic: &Traffic) -> Result<Verdict, Cannot> {
    let mut requests: Vec<(u64, Request)> = (0..).zip(traffic.requests.iter().copied()).collect();
    // Stable: a client's requests stay in their order.
    requests.sort_by_key(|(_, request)| request.client);
    let mut verdict = Verdict::default();
    for of_client in requests.chunk_by(|(_, a), (_, b)| a.client == b.client) {
        let client = of_client[0].1.client;
        let random = StdRng::seed_from_u64(traffic.seed ^ u64::from(client));
        verdict.add(&client::follow(contestant, traffic, of_client, random)?);
    }
    Ok(verdict)
}

/// The worst input for a contestant that the traffic's search finds, and the verdict on it.
fn search_and_judge(
    contestant: &dyn Contestant,
    traffic: &Traffic,
    search: search::Search,
) -> Result<(Verdict, Input), Cannot> {
    let judged = |input: &Input| {
        let of_input = Traffic {
            requests: input.requests(),
            ..traffic.clone()
        };
        judge(contestant, &of_input)
    };
    let worst = |input: &Input| {
        let verdict = judged(input)?;
        // Where two overshoot alike, the one with more wrong decisions.
        let wrong = verdict.false_allows + verdict.false_denies;
        Ok::<_, Cannot>((verdict.worst_overshoot, wrong))
    };
    let (input, _) = search::worst(search, traffic.quota, traffic.seed, worst)?;
    Ok((judged(&input)?, input))
}

/// What the exact log allows when the clients of a traffic ask it. `None` where several servers share
/// the limit, each of which knows only its own part, and where the traffic is searched for.
pub fn exact_allowed(traffic: &Traffic) -> Option<u64> {
    if traffic.servers.count > 1 || traffic.search.is_some() {
        return None;
    }
    let verdict = judge(TABLE.entry(ORACLE)?.one_key, traffic).ok()?;
    Some(verdict.allowed)
}

/// [`judge`], as a row of the run; where the traffic is searched for, of the worst input found.
/// `exact_allowed` is that of the traffic.
pub fn row(
    contestant: &dyn Contestant,
    traffic: &Traffic,
    exact_allowed: Option<u64>,
) -> AccuracyRow {
    let judged = match traffic.search {
        Some(search) => search_and_judge(contestant, traffic, search)
            .map(|(verdict, input)| (verdict, input.to_string())),
        None => judge(contestant, traffic).map(|verdict| (verdict, String::new())),
    };
    let (verdict, input, cannot) = match judged {
        Ok((verdict, input)) => (verdict, input, String::new()),
        Err(cannot) => {
            let requests = traffic.requests.len() as u64;
            let nothing = Verdict {
                requests,
                ..Verdict::default()
            };
            (nothing, String::new(), cannot.0)
        }
    };
    AccuracyRow {
        contestant: contestant.info().name.into(),
        traffic: traffic.name.clone(),
        about: traffic.about.clone(),
        quota: traffic.quota.to_string(),
        clients: traffic.clients(),
        requests: verdict.requests,
        allowed: verdict.allowed,
        false_allows: verdict.false_allows,
        false_denies: verdict.false_denies,
        worst_overshoot: verdict.worst_overshoot,
        worst_overshoot_share: verdict.worst_overshoot as f64 / traffic.quota.limit() as f64,
        cannot,
        wrongly_denied_ns: verdict.wrongly_denied,
        longest_wrong_denial_ns: verdict.longest_wrong_denial,
        client_time_ns: verdict.client_time,
        retries: verdict.retries,
        servers: traffic.servers.count,
        input,
        exact_allowed,
    }
}
