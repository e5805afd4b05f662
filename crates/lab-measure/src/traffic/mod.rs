//! The requests that accuracy is measured on, made from the definitions.

mod arrivals;
pub mod search;

use std::collections::BTreeMap;

use windowpane_core::{Cost, Nanos, Quota, Unit};

use super::definitions::{self, Accuracy, Arrivals, Expected, Servers, WhenDenied};
use search::Search;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When, in nanoseconds from the traffic's zero; windows are counted from there.
    pub at: Nanos,
    /// Whose quota it is.
    pub client: u32,
    /// What it costs.
    pub cost: Cost,
}

/// Requests in the order of their times, the quota of each client, and what becomes of denials.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// The name in tables and CSV.
    pub name: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of each client.
    pub quota: Quota,
    /// The requests; none where they are searched for.
    pub requests: Vec<Request>,
    /// Whether speed is measured on it, too.
    pub speed: bool,
    /// What a client does whose request is denied.
    pub when_denied: WhenDenied,
    /// Who answers.
    pub servers: Servers,
    /// The search for the worst input, where the requests are searched for.
    pub search: Option<Search>,
    /// Of what is drawn while the traffic runs: which server answers.
    pub seed: u64,
    /// What must come out.
    pub expected: Vec<Expected>,
}

impl Traffic {
    /// Requests of one server whose clients take a denial for an answer.
    pub fn new(name: String, about: String, quota: Quota, requests: Vec<Request>) -> Traffic {
        Traffic {
            name,
            about,
            quota,
            requests,
            speed: false,
            when_denied: WhenDenied::default(),
            servers: Servers::default(),
            search: None,
            seed: 0,
            expected: Vec::new(),
        }
    }

    /// The traffic that a definition describes; the same seed gives the same.
    pub fn of(definition: &Accuracy, seed: u64) -> Traffic {
        let seed = of_name(seed, &definition.name);
        let search = match definition.arrivals {
            Arrivals::Search {
                tries,
                bursts,
                windows,
            } => Some(Search {
                tries,
                bursts,
                windows,
            }),
            _ => None,
        };
        Traffic {
            speed: definition.speed,
            when_denied: definition.clients.when_denied,
            servers: definition.servers.clone(),
            search,
            seed,
            expected: definition.expected.clone(),
            ..Traffic::new(
                definition.name.clone(),
                definition.about.clone(),
                definition.quota,
                arrivals::requests(definition, seed),
            )
        }
    }

    /// The times of each client's requests.
    pub fn by_client(&self) -> Vec<Vec<Nanos>> {
        let mut clients: BTreeMap<u32, Vec<Nanos>> = BTreeMap::new();
        for request in &self.requests {
            clients.entry(request.client).or_default().push(request.at);
        }
        clients.into_values().collect()
    }

    /// How many clients there are.
    pub fn clients(&self) -> u64 {
        let mut clients: Vec<u32> = self.requests.iter().map(|request| request.client).collect();
        clients.sort_unstable();
        clients.dedup();
        clients.len().max(1) as u64
    }
}

pub(super) fn quota(limit: u64, window: Nanos) -> Quota {
    Quota::from_nanos(limit, window, Unit::Permits).expect("a sensible quota")
}

/// A seed for each name, so that a new definition changes no other's requests (FNV-1a).
fn of_name(seed: u64, name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, step)
}

/// All synthetic traffics, in the order of their definitions.
///
/// # Panics
/// If definitions are malformed: ask [`definitions::all`] first.
pub fn synthetic(seed: u64) -> Vec<Traffic> {
    definitions::accuracy()
        .map(|definition| Traffic::of(definition, seed))
        .collect()
}

/// Ten in the last second of a window, six half way through the next: the two-counter rule lets
/// fifteen into one window of sixty seconds.
pub fn burst_across_the_boundary() -> Traffic {
    named("burst across the boundary")
}

/// Ten in the first second of a window, one just after its end: refused by the two-counter rule,
/// though the window is empty.
pub fn burst_at_the_start() -> Traffic {
    named("burst at the start")
}

fn named(name: &str) -> Traffic {
    let definition = definitions::accuracy().find(|definition| definition.name == name);
    Traffic::of(definition.expect("an embedded definition"), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_requests_in_the_order_of_their_times() {
        let other = synthetic(8);
        for ((once, again), other) in synthetic(7).iter().zip(synthetic(7)).zip(other) {
            assert_eq!(once.requests, again.requests, "{}", once.name);
            assert!(once.requests.is_sorted_by_key(|r| r.at), "{}", once.name);
            assert_eq!(once.requests.is_empty(), once.search.is_some());
            let listed = once.name.starts_with("burst ") || once.search.is_some();
            assert_eq!(once.requests == other.requests, listed, "{}", once.name);
        }
    }
}
