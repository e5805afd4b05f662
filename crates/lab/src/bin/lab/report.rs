//! `lab report`: renders a recorded run.

use std::path::PathBuf;
use std::process::ExitCode;

use windowpane_lab_measure::folder;
use windowpane_lab_report as report;

/// Renders a recorded run: report.html and REPORT.md, charts and summary.csv, from its raw rows.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run's folder; the latest run if left out.
    run: Option<PathBuf>,
    /// Fill the regions of figures in the project's pages from the newest published run, and render
    /// nothing.
    #[arg(long, conflicts_with = "run")]
    readme: bool,
}

pub(crate) fn run(args: Args) -> ExitCode {
    let done = match args.readme {
        true => report::publish::fill_figures(&folder::workspace()).map(|files| {
            for file in files {
                println!("filled the figures of {}", file.display());
            }
        }),
        false => {
            let run = args.run.unwrap_or_else(folder::latest);
            report::render(&run).and_then(|run| report::console::say(&report::console::told(&run)))
        }
    };
    ended(done)
}

/// The exit status of a command that reads or writes runs: 2 with one line on the standard error if
/// it failed.
pub(crate) fn ended(done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
