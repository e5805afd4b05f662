//! `lab publish`: the latest run becomes a published one.

use std::process::ExitCode;

use windowpane_lab::measure::folder;
use windowpane_lab::report::publish;

/// Copies the latest run to results/DATE-MACHINE/, never over another, and refreshes the index
/// and the README's figures.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The machine's name in the folder's; the processor's name if left out.
    #[arg(long)]
    name: Option<String>,
}

pub(crate) fn run(args: Args) -> ExitCode {
    let results = folder::results();
    let published = publish::publish(&folder::latest(), &results, args.name.as_deref());
    crate::report::ended(published.and_then(|place| {
        println!("published {}", place.display());
        publish::write_index(&results)?;
        println!("refreshed {}", results.join("README.md").display());
        for file in publish::fill_figures(&folder::workspace())? {
            println!("filled the figures of {}", file.display());
        }
        Ok(())
    }))
}
