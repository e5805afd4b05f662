//! The limiters of this workspace with all ways to build them, derived from the [table](TABLE).

use windowpane_bucket_ring::DEFAULT_BUCKETS;
use windowpane_core::{BuildError, Nanos, Quotas, RateLimiter};
use windowpane_lab_ground::clock::LabClock;
use windowpane_mutex_log::OnRegression;

use crate::ours::replayed::Store;
use crate::ours::soaked::Soaked;
use crate::table::TABLE;
use crate::{Info, Instance};

/// What a limiter may need beside its quotas when it is built.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// What the clock reads about now; the range of one-word limiters counts from there.
    pub start: Nanos,
    /// Sub-windows of a bucket ring.
    pub buckets: u32,
    /// What a time that steps back means to a limiter that can choose: the mutex log.
    pub on_regression: OnRegression,
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions {
            start: 0,
            buckets: DEFAULT_BUCKETS,
            on_regression: OnRegression::Clamp,
        }
    }
}

impl BuildOptions {
    /// The options where nothing but the clock's reading matters.
    pub fn starting_at(start: Nanos) -> BuildOptions {
        BuildOptions {
            start,
            ..BuildOptions::default()
        }
    }
}

/// Builds a limiter for one key.
pub type Build = fn(&Quotas, BuildOptions) -> Result<Box<dyn RateLimiter>, BuildError>;

/// Builds a limiter for one key on a clock of the laboratory.
pub type BuildOnClock =
    fn(&Quotas, BuildOptions, LabClock) -> Result<Box<dyn Instance>, BuildError>;

/// Builds a store with one for each key.
pub type BuildStore = fn(&Quotas, BuildOptions) -> Result<Box<dyn Store>, BuildError>;

/// One limiter of ours.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// What is known of it before anything is measured.
    pub info: Info,
    /// Whether it is another form of the one before it: it is measured on one key and soaked, and
    /// neither replayed nor measured in stores.
    pub is_variant: bool,
    /// The most that a decision may take, as a multiple of governor's time; `None` without a target.
    pub target: Option<f64>,
    /// Builds one for one key.
    pub build: Build,
    /// Builds one for one key on a clock of the laboratory, so that loops over it are compiled for
    /// its type: what is measured goes through here.
    pub on_clock: BuildOnClock,
    /// Builds a store with one for each key, compiled for its type.
    pub store: BuildStore,
    /// The limiter and the stores that hold it, as they are soaked.
    pub soaked: &'static [Soaked],
}

/// The oracle's name: the limiter that the others are compared with.
pub const ORACLE: &str = "mutex-log";

/// Returns the limiters of ours that can be replayed, the oracle first.
pub fn algorithms() -> impl Iterator<Item = &'static Algorithm> {
    TABLE.algorithms()
}

/// Returns the limiter of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    algorithms().find(|algorithm| algorithm.info.name == name)
}
