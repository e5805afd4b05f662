//! `lab replay`: recorded requests through the limiters.

use std::process::ExitCode;

/// Runs recorded requests through the limiters and compares them with the oracle.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args) -> ExitCode {
    ExitCode::SUCCESS
}
