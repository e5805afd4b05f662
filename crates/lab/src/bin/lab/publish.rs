//! `lab publish`: the latest run becomes a published one.

use std::path::PathBuf;
use std::process::ExitCode;

use windowpane_lab_measure::folder;
use windowpane_lab_report::{Run, compare, kept, publish};

/// Copies the latest run to results/DATE-MACHINE/, never over another, and refreshes the index
/// and the README's figures. What other benches recorded beside it, in results/latest-NAME, goes
/// along as NAME/ if it is of the same revision and machine, and of an unchanged work tree.
/// results/ keeps at most 3 runs, 150 files and 6 MB: the pages of older runs are removed, and then
/// the oldest runs, if git has committed them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The machine's name in the folder's; the processor's name if left out.
    #[arg(long)]
    name: Option<String>,
    /// Compare with this recorded run, and keep the comparison as COMPARE.md beside the report: of
    /// two runs of one commit it says in how many rows no difference is shown.
    #[arg(long, value_name = "RUN")]
    against: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> ExitCode {
    let results = folder::results();
    // Read first: a run that cannot be compared with must not be told of when all is copied.
    let against = args.against.as_deref().map(Run::load).transpose();
    let published = against.and_then(|against| {
        let done = publish::publish(&folder::latest(), &results, args.name.as_deref())?;
        Ok((done, against))
    });
    crate::report::ended(published.and_then(|(done, against)| {
        println!("published {}", done.place.display());
        for name in &done.with {
            println!("with the run of the bench {name}");
        }
        for (name, reason) in &done.left_out {
            println!("left out the run of the bench {name}: {reason}");
        }
        if let Some(against) = against {
            let kept = compare::keep(&against, &done.place)?;
            println!(
                "compared with {}: {}",
                against.folder.display(),
                kept.display()
            );
        }
        for removed in kept::trim(&results, args.against.as_deref(), kept::in_history)? {
            println!("removed {removed}");
        }
        publish::write_index(&results)?;
        println!("refreshed {}", results.join("README.md").display());
        for file in publish::fill_figures(&folder::workspace())? {
            println!("filled the figures of {}", file.display());
        }
        kept::check(&results)
    }))
}
