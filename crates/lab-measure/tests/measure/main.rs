//! Measurements: what is measured, and what is recorded of it.

mod accuracy;
mod definitions;
mod harness;
mod keyed;
mod stalled;

/// Counts what is allocated; the tests of memory read it.
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;
