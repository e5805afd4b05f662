//! Which models run on which limiter, and which twin each of them must find.

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
pub(crate) struct Twin {
    /// Its name: of its module and of its tests.
    pub(crate) name: &'static str,
    /// What is wrong with it, as a sentence without its full stop.
    pub(crate) bug: &'static str,
    /// What it is a twin of.
    pub(crate) of: Shipped,
    /// The file that has the bug.
    pub(crate) file: &'static str,
    /// What ships. It must stand in the file exactly once, however it is formatted.
    pub(crate) shipped: &'static str,
    /// What the twin has instead.
    pub(crate) seeded: &'static str,
    /// The models that must find it, each on the limiter that the twin stands in for.
    pub(crate) found_by: &'static [(Limiter, &'static str)],
}

/// All twins, those that loom finds and those that shuttle alone schedules.
#[allow(dead_code)]
pub(crate) fn all_twins() -> impl Iterator<Item = &'static Twin> {
    twins().chain(shuttle::TWINS)
}

/// The twins that loom finds.
pub(crate) fn twins() -> impl Iterator<Item = &'static Twin> {
    [
        mutex_log::TWINS,
        one_word::TWINS,
        packed_counter::TWINS,
        cas_ring::TWINS,
        bucket_ring::TWINS,
        flat_table::TWINS,
        changes::TWINS,
    ]
    .into_iter()
    .flatten()
}
