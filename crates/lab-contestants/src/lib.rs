//! Who is measured: the limiters of this workspace and their rivals, behind one adapter trait.
//!
//! The one [table](table::TABLE) says which limiters exist; every other list derives from it.

#![forbid(unsafe_code)]

mod clock_only;
mod code;
#[cfg(test)]
mod dummy;
mod instance;
pub mod keyed;
mod ours;
pub mod registry;
mod rivals;
pub mod table;

use windowpane_core::{Clock, Quota, Quotas};
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};

pub use clock_only::ClockOnly;
pub use code::Code;
pub use instance::{Decide, Instance, Told};
pub use ours::replayed::Store;
pub use ours::{on_clock, soaked};

use table::TABLE;

/// Whose limiter it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One of this workspace.
    Ours,
    /// Somebody else's.
    Rival,
    /// No limiter: what the measuring itself costs.
    Floor,
}

impl Origin {
    /// The word in tables and CSV.
    pub const fn word(self) -> &'static str {
        match self {
            Origin::Ours => "ours",
            Origin::Rival => "rival",
            Origin::Floor => "floor",
        }
    }
}

/// By which rule a contestant decides; what must come out follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// As the log of accepted requests would.
    Exact,
    /// Two counts, the previous one weighted by its overlap.
    TwoCounter,
    /// It may deny too much, and never allows too much.
    OneSided,
    /// A token bucket that holds the limit: GCRA.
    TokenBucket,
    /// A count that starts again with each window.
    FixedWindow,
    /// None of these, or none at all.
    Other,
}

/// What is known of a contestant before anything is measured.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name in every table, file name and filter.
    pub name: &'static str,
    /// Whose it is.
    pub origin: Origin,
    /// The rule that it decides by.
    pub rule: Rule,
    /// Whether no window can ever hold more than the quota, exact or not.
    pub keeps_quota: bool,
    /// Whether a cost of `k` takes time that grows with `k`.
    pub costs_take_long: bool,
    /// What it is, in one line.
    pub about: &'static str,
    /// How it reads the clock that all share, or that it does not and why.
    pub clock: &'static str,
    /// What it cannot express, or what its decision leaves out beside the others'; empty if nothing.
    pub cannot: &'static str,
    /// The memory it should take for one key, in words; empty if its authors say nothing.
    pub memory: &'static str,
    /// That formula as the most bytes a key may take at a limit, if it has one.
    pub memory_at_most: Option<fn(u64) -> u64>,
}

impl Info {
    /// Whether it decides as the log of accepted requests would.
    pub fn is_exact(&self) -> bool {
        self.rule == Rule::Exact
    }
}

/// The clock of everyone who lets it be set.
pub const SHARED_CLOCK: &str = "shared";

/// A quota or a cost that a contestant cannot express, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cannot(pub String);

impl std::fmt::Display for Cannot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot: {}", self.0)
    }
}

/// A clock that a contestant can be built on.
pub trait ContestClock: Clock + Clone + Send + Sync + 'static {}

impl<C: Clock + Clone + Send + Sync + 'static> ContestClock for C {}

/// One limiter as the laboratory runs it: the one trait that a rival's file implements.
pub trait Adapter: Send + Sync {
    /// What is known of it.
    const INFO: Info;

    /// Builds it for one quota on a clock.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express the quota.
    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot>;
}

/// One contestant, as the measurements see it. Every [`Adapter`] is one, and every limiter of ours.
pub trait Contestant: Send + Sync {
    /// What is known of it.
    fn info(&self) -> Info;

    /// Builds it on a clock of the laboratory.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express the quota.
    fn build(&self, quota: Quota, clock: LabClock) -> Result<Box<dyn Instance>, Cannot>;

    /// Builds it for quotas that all hold at once; every rival holds one.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express them.
    fn build_for(&self, quotas: &Quotas, clock: LabClock) -> Result<Box<dyn Instance>, Cannot> {
        match quotas.iter().as_slice() {
            [quota] => self.build(*quota, clock),
            _ => Err(Cannot("several quotas at once: it holds one".into())),
        }
    }
}

impl<A: Adapter> Contestant for A {
    fn info(&self) -> Info {
        A::INFO
    }

    fn build(&self, quota: Quota, clock: LabClock) -> Result<Box<dyn Instance>, Cannot> {
        Ok(match clock {
            LabClock::Bench(clock) => Box::new(A::on_clock(quota, clock)?),
            LabClock::Stalling(clock) => Box::new(A::on_clock(quota, clock)?),
            LabClock::Simulated => Box::new(A::on_clock(quota, SimulatedClock)?),
        })
    }
}

/// Returns all limiters: ours, then the rivals. The floor is not among them.
pub fn all() -> Vec<&'static dyn Contestant> {
    TABLE.contestants()
}

/// Returns all limiters and the floor.
pub fn everyone() -> Vec<&'static dyn Contestant> {
    let mut everyone = all();
    everyone.push(&ClockOnly);
    everyone
}
