//! The main job: every limiter against every rival, in interleaved rounds, recorded and reported.
//!
//! It is called `versus` because cargo runs targets in the order of their names, and the verdict is
//! what is to be read last.

use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Memory is counted, not estimated. Decisions allocate nothing, so it costs them nothing.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

fn live_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

fn main() -> ExitCode {
    windowpane_lab_report::versus::main(live_bytes)
}
