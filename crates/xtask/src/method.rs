//! `cargo xtask method`: whether the laboratory's comparison finds differences that are known.

use std::process::ExitCode;

use anyhow::Context;

use crate::tools::{cargo, ended};

/// Checks the method of comparison: contestants slowed by 3, 5, 10 and 50 % through the real
/// measuring loop, and runs drawn from recorded samples.
///
/// Fails where 10 % is not shown in 95 % of the single-thread cells, 50 % in 95 % of all cells, or a
/// difference is shown in over 5 % of the cells without one. Takes some minutes on a quiet machine;
/// `-- --simulation-only` needs no quiet, `-- --smoke` checks that it runs.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments of the program; `-- --help` lists them.
    #[arg(last = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package"]);
    command.args(["windowpane-lab-measure", "--example", "method", "--"]);
    let status = command.args(&args.arguments).status();
    ended(
        status
            .map(|status| status.success())
            .context("cannot run cargo"),
    )
}
