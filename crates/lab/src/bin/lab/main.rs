//! The `lab` command: the laboratory from the command line.

#![forbid(unsafe_code)]

mod choose;
mod compare;
mod publish;
mod replay;
mod report;
mod soak;
mod suggest;

use std::alloc::System;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts what is allocated, so that memory is measured and not estimated.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What is allocated now.
fn live_bytes() -> u64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated) as u64
}

/// The laboratory of windowpane, a workspace of sliding-window rate limiters.
#[derive(Parser)]
#[command(name = "lab", bin_name = "cargo lab", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Choose(choose::Args),
    Compare(compare::Args),
    Publish(publish::Args),
    Replay(replay::Args),
    Report(report::Args),
    Soak(soak::Args),
    Suggest(suggest::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Choose(args) => choose::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Publish(args) => publish::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Report(args) => report::run(args),
        Command::Soak(args) => soak::run(args),
        Command::Suggest(args) => suggest::run(args),
    }
}
