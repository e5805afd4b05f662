//! What is to be replayed, and how.

use windowpane_core::Quotas;
use windowpane_lab_contestants::registry::{Algorithm, BuildOptions};
use windowpane_lab_input::{InputOptions, Order};
use windowpane_mutex_log::OnRegression;

use super::retries::RetryModel;
use super::run::Meter;
use super::summary::Skipped;

/// What is to be replayed, and how.
#[derive(Clone)]
pub struct Options {
    /// The quotas of every key.
    pub quotas: Quotas,
    /// The algorithms, each once.
    pub algorithms: Vec<&'static Algorithm>,
    /// What was left out of them, for the summary.
    pub skipped: Vec<Skipped>,
    /// What a time before the latest means to those that can choose.
    pub on_regression: OnRegression,
    /// Sub-windows of a bucket ring.
    pub buckets: u32,
    /// How to read the input.
    pub input: InputOptions,
    /// The order in which requests are decided.
    pub order: Order,
    /// Whether lines that are no requests are counted and skipped.
    pub skip_bad: bool,
    /// Whether decisions are compared with the oracle.
    pub compare: bool,
    /// Whether observers need what remains after each decision.
    pub detailed: bool,
    /// What clients do that were denied: a model.
    pub retries: RetryModel,
    /// Whether the summary holds every client that was denied.
    pub clients: bool,
    /// Counts what the limiters allocate, where the program has a counting allocator.
    pub meter: Option<Meter>,
}

impl Options {
    /// What the command does where nothing is said, but without counting memory.
    pub fn new(quotas: Quotas, algorithms: Vec<&'static Algorithm>) -> Options {
        let build = BuildOptions::default();
        Options {
            quotas,
            algorithms,
            skipped: Vec::new(),
            on_regression: build.on_regression,
            buckets: build.buckets,
            input: InputOptions::default(),
            order: Order::default(),
            skip_bad: false,
            compare: true,
            detailed: false,
            retries: RetryModel::None,
            clients: false,
            meter: None,
        }
    }
}
