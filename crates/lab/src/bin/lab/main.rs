//! The `lab` command: the laboratory from the command line.

mod replay;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The laboratory of windowpane, a workspace of sliding-window rate limiters.
#[derive(Parser)]
#[command(name = "lab", bin_name = "cargo lab", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Replay(replay::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Replay(args) => replay::run(args),
    }
}
