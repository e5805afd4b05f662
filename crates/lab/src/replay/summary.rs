//! What came out, as `--json` writes it.

use std::collections::BTreeMap;

use serde::Serialize;

use windowpane_lab_input::BadLines;

use super::judge::Overshoot;
use super::retries::RetryCounts;
use super::steps_back::StepsBackSummary;
use super::tally::Service;
use super::who::{Denials, DeniedClient};

/// The name of the schema: changed whenever a field changes its meaning or goes.
pub const SCHEMA: &str = "windowpane-replay/1";

/// What came out of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was read.
    pub input: InputSummary,
    /// The quotas, as text.
    pub quotas: Vec<String>,
    /// `clamp` or `reject`.
    pub on_regression: &'static str,
    /// Sub-windows of a bucket ring.
    pub buckets: u32,
    /// Whether decisions were compared with the oracle.
    pub compared: bool,
    /// What was called: `acquire`, or `decide_detailed` where rows ask for what remains.
    pub call: &'static str,
    /// What each algorithm decided, in the order given.
    pub algorithms: Vec<AlgorithmSummary>,
    /// What `all` left out.
    pub skipped: Vec<Skipped>,
    /// The clients that were denied most by any of the algorithms, at most [`MOST_DENIED`].
    pub most_denied: Vec<Client>,
    /// All clients that were denied, by algorithm, if they were asked for.
    #[serde(skip)]
    pub denied_clients: Vec<DeniedClient>,
}

/// How many clients are told as denied most.
pub const MOST_DENIED: usize = 10;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputSummary {
    /// The input's name; of several the first and how many more.
    pub name: String,
    /// The format's name; `several` if inputs differ in it.
    pub format: &'static str,
    /// Requests.
    pub requests: u64,
    /// Different keys.
    pub keys: u64,
    /// Lines that were skipped because they are no requests.
    pub bad_lines: u64,
    /// The earliest time, in nanoseconds since the input's zero.
    pub earliest_ns: u64,
    /// The latest time.
    pub latest_ns: u64,
    /// `as given`, `reordered` or `sorted`. Several inputs are merged by time.
    #[serde(skip_serializing_if = "is_as_given")]
    pub order: &'static str,
    /// The names of all inputs.
    #[serde(skip_serializing_if = "is_one")]
    pub names: Vec<String>,
    /// Requests before the latest of all that were decided before them; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_back: Option<StepsBackSummary>,
    /// Keys that are IPv6 addresses, and the networks of 64 bits that they are in.
    #[serde(skip)]
    pub ipv6: (u64, u64),
    /// Lines that no filter takes.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// What is wrong with the lines that were skipped; the JSON holds their number alone.
    #[serde(skip)]
    pub bad: BadLines,
}

// Fields that came later are written where they say something.

fn is_as_given(order: &&str) -> bool {
    *order == "as given"
}

fn is_one(names: &[String]) -> bool {
    names.len() == 1
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What one algorithm decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlgorithmSummary {
    /// Its name.
    pub name: &'static str,
    /// Whether it decides as the log of accepted requests would.
    pub exact: bool,
    /// Requests allowed.
    pub allowed: u64,
    /// Requests denied.
    pub denied: u64,
    /// Requests without a decision.
    pub errors: u64,
    /// Keys of which at least one request was denied.
    #[serde(rename = "clients_denied")]
    pub keys_denied: u64,
    /// Against the oracle; `None` if nothing was compared.
    pub against_oracle: Option<Comparison>,
    /// Bytes that its store of limiters holds at the end, beyond those it had without a key, divided by
    /// the keys; `None` if nobody counts.
    pub bytes_per_key: Option<f64>,
    /// Time spent on decisions, divided by their number.
    pub ns_per_decision: f64,
    /// The longest block of a client: from a denial to when a request would be allowed, with none allowed
    /// in between, in nanoseconds.
    pub longest_block_ns: u64,
    /// Denials by hour; hours without one are left out.
    pub denied_by_hour: Vec<Denials>,
    /// What clients that were denied sent again, by a model; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<RetryCounts>,
    /// Beside the service's own decisions; `None` if the input holds none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_service: Option<Service>,
    /// Requests before the latest that it had accepted of their key; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_back: Option<StepsBackSummary>,
}

/// One algorithm against the oracle.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Allowed where the oracle, fed what the algorithm accepted, would deny.
    pub false_allows: u64,
    /// Denied where it would allow.
    pub false_denies: u64,
    /// Decisions that differ from those of the oracle's own run.
    pub differ: u64,
    /// The window that held most beyond its quota; `None` if none did.
    pub worst_overshoot: Option<Overshoot>,
}

/// An algorithm that `all` left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its name.
    pub name: &'static str,
    /// Why it cannot hold the quotas.
    pub reason: String,
}

/// A client that was denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Client {
    /// Its key; bytes that are no UTF-8 are replaced.
    pub key: String,
    /// Its requests.
    pub requests: u64,
    /// How many of them each algorithm denied.
    pub denied: BTreeMap<&'static str, u64>,
}
