//! `lab compare`: two recorded runs, row by row.

use std::path::PathBuf;
use std::process::ExitCode;

use windowpane_lab::report::{self, Run};

/// Compares two recorded runs: which rows differ by more than the noise.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of the first run.
    before: PathBuf,
    /// The folder of the second run.
    after: PathBuf,
}

pub(crate) fn run(args: Args) -> ExitCode {
    let runs = Run::load(&args.before).and_then(|before| Ok((before, Run::load(&args.after)?)));
    crate::report::ended(
        runs.and_then(|(before, after)| {
            report::console::say(&report::compare::told(&before, &after))
        }),
    )
}
