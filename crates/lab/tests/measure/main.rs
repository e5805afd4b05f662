//! The measuring half of the laboratory: what it measures, what it writes, what it makes of it.

mod accuracy;
mod charts;
mod commands;
mod compared;
mod definitions;
mod harness;
mod histograms;
mod kept;
mod keyed;
mod memory;
mod page;
mod published;
mod recorded;
mod reports;
mod stalled;
#[cfg(target_os = "linux")]
mod unwritable;

/// Counts what is allocated; the tests of memory read it.
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;
