//! `workload = "accuracy"`: requests whose decisions the oracle judges.

use serde::Deserialize;
use windowpane_core::Quota;
use windowpane_lab_contestants::Rule;

use super::parse::{self, DefinitionError, Time};

/// A traffic: who asks, when, of how many servers, and what must come out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// The name in tables and CSV.
    pub name: String,
    #[serde(rename = "workload")]
    _workload: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of each client.
    #[serde(deserialize_with = "parse::quota")]
    pub quota: Quota,
    /// Whether speed is measured on it, too; only where nobody answers a denial.
    #[serde(default)]
    pub speed: bool,
    /// Who asks.
    #[serde(default)]
    pub clients: Clients,
    /// When requests come.
    pub arrivals: Arrivals,
    /// Who answers.
    #[serde(default)]
    pub servers: Servers,
    /// What must come out, by the rule that a contestant decides by.
    #[serde(default)]
    pub expected: Vec<Expected>,
}

/// Who asks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// How many clients.
    #[serde(default = "one")]
    pub count: u32,
    /// The exponent of Zipf's law by which requests fall to them; without it they are equal. Of
    /// `poisson`, `day` and `visits`, where clients are drawn.
    pub zipf: Option<f64>,
    /// Further clients that ask for far more than the others; of the same processes.
    pub attackers: Option<Attackers>,
    /// What a client does whose request is denied.
    #[serde(default)]
    pub when_denied: WhenDenied,
}

fn one() -> u32 {
    1
}

impl Default for Clients {
    fn default() -> Clients {
        Clients {
            count: 1,
            zipf: None,
            attackers: None,
            when_denied: WhenDenied::default(),
        }
    }
}

/// Clients that ask for far more than the others.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attackers {
    /// How many.
    pub count: u32,
    /// Their share of all requests, together.
    pub share: f64,
}

/// What a client does whose request is denied: nothing, unless it says when to ask again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhenDenied {
    /// Asks again after this time: it hammers.
    pub retry_every: Option<Time>,
    /// Asks again after the wait that it was told.
    #[serde(default)]
    pub retry_after_told: bool,
    /// How often a request is made again at most.
    #[serde(default)]
    pub at_most: u32,
}

/// When requests come.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "process", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// At listed times, all of the first client.
    Listed {
        /// The bursts, in the order of their times.
        bursts: Vec<Burst>,
    },
    /// At random, the next after an exponential gap.
    Poisson {
        /// Requests a second of all clients.
        per_second: f64,
        /// How long.
        r#for: Time,
    },
    /// At random while on, and then not at all, again and again; both last exponentially long.
    OnOff {
        /// How long on, on average.
        on: Time,
        /// How long off, on average.
        off: Time,
        /// Requests a second of all clients, while on.
        per_second: f64,
        /// How long in all.
        r#for: Time,
    },
    /// At random through one day, by a rate that swings once.
    Day {
        /// Requests a second of all clients on average.
        per_second: f64,
        /// How far the rate swings around its mean, as a share of it.
        swing: f64,
        /// When it is highest, from midnight.
        peak: Time,
    },
    /// Visits through one day, around noon, of a random number of requests each, at whole seconds.
    Visits {
        /// How many visits.
        visits: u32,
        /// The most requests of a visit.
        requests_at_most: u32,
        /// The mean time between two requests of a visit.
        gap: Time,
    },
    /// Found for each contestant: the worst input of those that a seeded search tries.
    Search {
        /// How many inputs are tried.
        tries: u32,
        /// Bursts of an input.
        bursts: u32,
        /// Windows that an input spans.
        windows: u64,
    },
}

/// Requests one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// When the first comes.
    pub at: Time,
    /// How many.
    pub count: u32,
    /// The time between two.
    #[serde(default = "at_once")]
    pub apart: Time,
}

fn at_once() -> Time {
    Time(0)
}

/// Servers that share the limit: each holds an equal part of it and knows nothing of the others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Servers {
    /// How many.
    pub count: u32,
    /// Who answers which request.
    pub balancing: Balancing,
}

impl Default for Servers {
    fn default() -> Servers {
        Servers {
            count: 1,
            balancing: Balancing::InTurn(Turn::InTurn),
        }
    }
}

/// Who answers which request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Balancing {
    /// `"in turn"`: one server after the other.
    InTurn(Turn),
    /// At random, each by its weight.
    Weighted(Vec<u32>),
}

/// The word for one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Turn {
    /// `"in turn"`.
    #[serde(rename = "in turn")]
    InTurn,
}

/// What must come out for contestants of a rule. What is not told may be anything.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The rule.
    pub rule: Rule,
    /// Allowed.
    pub allowed: Option<u64>,
    /// Of these falsely.
    pub false_allows: Option<u64>,
    /// Falsely denied.
    pub false_denies: Option<u64>,
    /// The most above the limit that any window held.
    pub worst_overshoot: Option<u64>,
    /// The least and the largest share of requests decided wrongly.
    pub wrong_share: Option<[f64; 2]>,
}

pub(super) fn read(file: &str, text: &str) -> Result<Accuracy, DefinitionError> {
    let accuracy: Accuracy = parse::read(file, text)?;
    check(&accuracy).map_err(|what| DefinitionError::new(file, what))?;
    Ok(accuracy)
}

/// The most requests that one traffic may have: they are held in memory.
const MOST_REQUESTS: f64 = 20e6;

fn check(accuracy: &Accuracy) -> Result<(), String> {
    check_clients(accuracy)?;
    check_clients_of_arrivals(&accuracy.clients, &accuracy.arrivals)?;
    check_arrivals(&accuracy.arrivals)?;
    let servers = &accuracy.servers;
    if !(1..=1_000).contains(&servers.count) {
        return Err(format!("{} servers; expected 1 to 1000", servers.count));
    }
    if !accuracy.quota.limit().is_multiple_of(servers.count.into()) {
        return Err(format!(
            "{} servers share a limit of {}; expected a limit that is a multiple of their number",
            servers.count,
            accuracy.quota.limit()
        ));
    }
    if let Balancing::Weighted(weights) = &servers.balancing
        && (weights.len() != servers.count as usize || weights.contains(&0))
    {
        return Err(format!(
            "`balancing` is {weights:?}; expected \"in turn\" or a weight of at least 1 for each of {} servers",
            servers.count
        ));
    }
    if accuracy.speed && matches!(accuracy.arrivals, Arrivals::Search { .. }) {
        return Err("`speed = true` needs requests, and `search` has none of its own".into());
    }
    let answers = accuracy.clients.when_denied != WhenDenied::default();
    if accuracy.speed && (answers || servers.count > 1) {
        return Err("`speed = true` needs one server and clients that do not ask again".into());
    }
    Ok(())
}

fn check_clients(accuracy: &Accuracy) -> Result<(), String> {
    let clients = &accuracy.clients;
    if clients.count == 0 || clients.count > 10_000_000 {
        return Err(format!("{} clients; expected 1 to 10000000", clients.count));
    }
    if let Some(zipf) = clients.zipf
        && !(zipf.is_finite() && (0.0..=10.0).contains(&zipf))
    {
        return Err(format!("`zipf` is {zipf}; expected 0 to 10"));
    }
    if let Some(attackers) = clients.attackers
        && (attackers.count == 0 || !(0.0..=1.0).contains(&attackers.share))
    {
        return Err("`attackers`: expected a count of at least 1 and a share from 0 to 1".into());
    }
    let denied = clients.when_denied;
    let ways = u32::from(denied.retry_every.is_some()) + u32::from(denied.retry_after_told);
    if ways > 1 || (ways == 1) != (denied.at_most > 0) {
        return Err(
            "`when_denied`: expected `retry_every` or `retry_after_told`, and `at_most` of at least 1"
                .into(),
        );
    }
    if denied.retry_every == Some(Time(0)) {
        return Err("`retry_every` is 0; expected at least 1ns".into());
    }
    Ok(())
}

/// What a process makes nothing of is refused, not passed over.
fn check_clients_of_arrivals(clients: &Clients, arrivals: &Arrivals) -> Result<(), String> {
    let (process, one_client) = match arrivals {
        Arrivals::Listed { .. } => ("listed", true),
        Arrivals::Search { .. } => ("search", true),
        Arrivals::OnOff { .. } => ("on-off", false),
        Arrivals::Poisson { .. } | Arrivals::Day { .. } | Arrivals::Visits { .. } => return Ok(()),
    };
    if clients.zipf.is_some() || clients.attackers.is_some() {
        return Err(format!(
            "`zipf` and `attackers` say nothing where `process` is `{process}`; expected them with `poisson`, `day` or `visits`"
        ));
    }
    if one_client && clients.count != 1 {
        return Err(format!(
            "{} clients; expected 1 where `process` is `{process}`",
            clients.count
        ));
    }
    if matches!(arrivals, Arrivals::Search { .. }) && clients.when_denied != WhenDenied::default() {
        return Err("`when_denied` says nothing where `process` is `search`".into());
    }
    Ok(())
}

fn check_arrivals(arrivals: &Arrivals) -> Result<(), String> {
    let rate = |per_second: f64, seconds: f64| {
        if per_second.is_finite() && per_second > 0.0 && per_second * seconds <= MOST_REQUESTS {
            return Ok(());
        }
        Err(format!(
            "`per_second` is {per_second} for {seconds} s; expected a positive rate and at most {MOST_REQUESTS} requests"
        ))
    };
    let positive = |name: &str, time: Time| match time {
        Time(0) => Err(format!("`{name}` is 0; expected at least 1ns")),
        _ => Ok(()),
    };
    match arrivals {
        Arrivals::Listed { bursts } => {
            let count: u64 = bursts.iter().map(|burst| u64::from(burst.count)).sum();
            if count == 0 || count as f64 > MOST_REQUESTS {
                return Err(format!("{count} requests; expected 1 to {MOST_REQUESTS}"));
            }
            Ok(())
        }
        Arrivals::Poisson { per_second, r#for } => rate(*per_second, r#for.seconds()),
        Arrivals::OnOff {
            on,
            off,
            per_second,
            r#for,
        } => {
            positive("on", *on)?;
            positive("off", *off)?;
            rate(*per_second, r#for.seconds())
        }
        Arrivals::Day {
            per_second, swing, ..
        } => {
            if !(0.0..=1.0).contains(swing) {
                return Err(format!("`swing` is {swing}; expected 0 to 1"));
            }
            rate(*per_second, 86_400.0)
        }
        Arrivals::Visits {
            visits,
            requests_at_most,
            gap,
        } => {
            positive("gap", *gap)?;
            let most = f64::from(*visits) * f64::from(*requests_at_most);
            if !(1.0..=MOST_REQUESTS).contains(&most) {
                return Err(format!("{most} requests; expected 1 to {MOST_REQUESTS}"));
            }
            Ok(())
        }
        Arrivals::Search {
            tries,
            bursts,
            windows,
        } => {
            if *tries == 0 || !(1..=100).contains(bursts) || !(2..=1_000).contains(windows) {
                return Err(
                    "`search`: expected at least 1 try, 1 to 100 bursts and 2 to 1000 windows"
                        .into(),
                );
            }
            Ok(())
        }
    }
}
