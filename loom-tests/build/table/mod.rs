//! Which models run on which limiter, and which mutant each of them must find.

mod bucket_ring;
mod cas_ring;
mod changes;
mod flat_table;
mod models;
mod mutex_log;
mod one_word;
mod packed_counter;
mod shipped;
mod shuttle;

pub(crate) use models::{Limiter, MODELS};
pub(crate) use shipped::Shipped;

/// One seeded bug.
pub(crate) struct Mutant {
    /// Its name: of its module and of its tests.
    pub(crate) name: &'static str,
    /// What is wrong with it, as a sentence without its full stop.
    pub(crate) bug: &'static str,
    /// What it is a mutant of.
    pub(crate) of: Shipped,
    /// The file that has the bug.
    pub(crate) file: &'static str,
    /// What ships. It must stand in the file exactly once, however it is formatted.
    pub(crate) shipped: &'static str,
    /// What the mutant has instead.
    pub(crate) seeded: &'static str,
    /// The models that must find it, each on the limiter that the mutant stands in for.
    pub(crate) found_by: &'static [(Limiter, &'static str)],
}

/// All mutants, those that loom finds and those that shuttle alone schedules.
#[allow(dead_code)]
pub(crate) fn all_mutants() -> impl Iterator<Item = &'static Mutant> {
    mutants().chain(shuttle::MUTANTS)
}

/// The mutants that loom finds.
pub(crate) fn mutants() -> impl Iterator<Item = &'static Mutant> {
    [
        mutex_log::MUTANTS,
        one_word::MUTANTS,
        packed_counter::MUTANTS,
        cas_ring::MUTANTS,
        bucket_ring::MUTANTS,
        flat_table::MUTANTS,
        changes::MUTANTS,
    ]
    .into_iter()
    .flatten()
}
