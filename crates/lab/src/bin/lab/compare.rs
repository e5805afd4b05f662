//! `lab compare`: two recorded runs, row by row.

use std::path::PathBuf;
use std::process::ExitCode;

use windowpane_lab_measure::folder;
use windowpane_lab_report::compare::{Comparison, compare, markdown, text};
use windowpane_lab_report::{self as report, Run};

const EXAMPLES: &str = "\
Examples:
  What a change did, for its review:
    cargo lab compare results/BEFORE results/latest --markdown compare.md

  How far two runs of one commit agree, kept with the second when it is published:
    cargo bench && cargo lab publish
    cargo bench && cargo lab publish --against results/FIRST

Rows are of throughput, speed on a traffic, service and response time (p50, p99, p99.9), many keys,
a stalled thread, memory and accuracy. Each is faster, slower, equal, `cannot tell`, changed, or
cannot be compared, and why. The columns of the JSON are documented in COMPARE.md of
the package.";

/// Compares two recorded runs: which rows changed, and how sure that is.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder of the first run.
    before: PathBuf,
    /// The folder of the second run.
    after: PathBuf,
    /// Write the comparison as Markdown, too; `-` for the standard output, and no text then.
    #[arg(long, value_name = "OUT.md|-")]
    markdown: Option<PathBuf>,
    /// Write every row as JSON, too; `-` for the standard output, and no text then.
    #[arg(long, value_name = "OUT.json|-")]
    json: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> ExitCode {
    crate::report::ended(run_all(&args))
}

fn run_all(args: &Args) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.markdown.is_none() || args.markdown != args.json,
        "--markdown and --json: expected a place of its own for each"
    );
    let before = Run::load(&args.before)?;
    let comparison = compare(&before, &Run::load(&args.after)?);
    let outputs = [
        (
            &args.markdown,
            args.markdown.as_ref().map(|_| markdown(&comparison)),
        ),
        (
            &args.json,
            args.json.as_ref().map(|_| json(&comparison)).transpose()?,
        ),
    ];
    let mut silent = false;
    for (path, told) in outputs {
        let (Some(path), Some(told)) = (path, told) else {
            continue;
        };
        if path.as_os_str() == "-" {
            silent = true;
            report::console::say(&told)?;
        } else {
            folder::put(path, told.as_bytes())?;
        }
    }
    match silent {
        true => Ok(()),
        false => report::console::say(&text(&comparison)),
    }
}

fn json(comparison: &Comparison) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(comparison)? + "\n")
}
