//! What CI and contributors run: `cargo xtask test`, `cargo xtask faults`, `cargo loom`.

mod faults;
mod loom;
mod redis;
mod test;

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
    Loom(loom::Args),
    Test(test::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Faults(args) => faults::run(&args),
        Command::Loom(args) => loom::run(&args),
        Command::Test(args) => test::run(&args),
    }
}
