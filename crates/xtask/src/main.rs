//! What CI and contributors run: `cargo xtask test`, `cargo loom`, `cargo shuttle`, and the commands
//! that take longer.

mod explored;
mod faults;
mod features;
mod fuzz;
mod instructions;
mod loom;
mod metadata;
mod method;
mod mutants;
mod quoted;
mod redis;
mod shuttle;
mod supply;
mod test;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What CI and contributors of windowpane run.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Faults(faults::Args),
    Features(features::Args),
    Fuzz(fuzz::Args),
    Instructions(instructions::Args),
    Loom(loom::Args),
    Method(method::Args),
    Mutants(mutants::Args),
    Shuttle(shuttle::Args),
    Supply(supply::Args),
    Test(test::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Faults(args) => faults::run(&args),
        Command::Features(args) => features::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Instructions(args) => instructions::run(&args),
        Command::Loom(args) => loom::run(&args),
        Command::Method(args) => method::run(&args),
        Command::Mutants(args) => mutants::run(&args),
        Command::Shuttle(args) => shuttle::run(&args),
        Command::Supply(args) => supply::run(&args),
        Command::Test(args) => test::run(&args),
    }
}
