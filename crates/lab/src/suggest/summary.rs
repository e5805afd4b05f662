//! What is suggested, as `--json` writes it.

use serde::Serialize;

use super::outcome::Outcome;
use crate::replay::{InputSummary, Skipped};

/// The name of the schema: changed whenever a field changes its meaning or goes.
pub const SCHEMA: &str = "windowpane-suggest/1";

/// What may be denied at most, as shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Targets {
    /// Of the clients.
    pub clients: Option<f64>,
    /// Of the requests.
    pub requests: Option<f64>,
}

impl Targets {
    /// Whether an outcome reaches the targets.
    pub(super) fn reached(&self, outcome: &Outcome, clients: u64, requests: u64) -> bool {
        let within = |denied: u64, share: Option<f64>, of: u64| {
            share.is_none_or(|share| denied as f64 <= share * of as f64)
        };
        within(outcome.clients_denied, self.clients, clients)
            && within(outcome.requests_denied, self.requests, requests)
    }
}

/// What is suggested for a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was read.
    pub input: InputSummary,
    /// Quotas that hold beside, as text.
    pub given: Vec<String>,
    /// What may be denied.
    pub targets: Targets,
    /// By window, in the order given.
    pub windows: Vec<WindowSummary>,
}

/// What is suggested for one window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowSummary {
    /// The window, as text.
    pub window: String,
    /// The most permits that any client asked for in such a window.
    pub busiest_window: u64,
    /// By algorithm, in the order given.
    pub algorithms: Vec<Suggested>,
    /// Algorithms that cannot hold the quotas.
    pub skipped: Vec<Skipped>,
}

/// What is suggested for one algorithm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggested {
    /// Its name.
    pub name: &'static str,
    /// Whether it decides as the log of accepted requests would.
    pub exact: bool,
    /// The least limit that reaches the targets, one less does not; `None` if the quotas that hold
    /// beside deny more than the targets by themselves.
    pub limit: Option<u64>,
    /// What it denies.
    pub denied: Option<Outcome>,
    /// What other limits deny, by limit.
    pub curve: Vec<Point>,
}

/// What a limit denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// The limit.
    pub limit: u64,
    /// What it denies.
    #[serde(flatten)]
    pub denied: Outcome,
}
