//! `lab soak`: long random use of all limiters, the invariant watched.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use comfy_table::{LineStyle, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use windowpane_core::{format_nanos, parse_nanos};
use windowpane_lab::soak::{self, Tally};
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::folder;
use windowpane_lab_report::console;

/// Uses all limiters at random for a while (several threads, costs, several quotas, limits that
/// change, clocks that step back, resets while the clock stands). It checks that no window ever holds
/// more than is promised, and that every call ends
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo lab soak --for 10s
  cargo lab soak --for 10m --log results/latest/soak.txt    # before a published run
  cargo lab soak --for 1m --seed 42                         # other random rounds")]
pub(crate) struct Args {
    /// How long, such as 30s or 10m.
    #[arg(long = "for", value_name = "TIME", default_value = "30s", value_parser = time)]
    time: Duration,
    /// The seed of the first round; each later one has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write what came out to this file too.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

fn time(text: &str) -> Result<Duration, String> {
    match parse_nanos(text) {
        Ok(0) => Err("a soak of no time checks nothing".into()),
        Ok(nanos) => Ok(Duration::from_nanos(nanos)),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: Args) -> ExitCode {
    crate::report::ended(soaked(&args))
}

fn soaked(args: &Args) -> Result<()> {
    // Before the work: what is not writable is told at once, and how busy the machine is counts
    // before it is made busy.
    let here = match &args.log {
        None => None,
        Some(log) => {
            folder::check_file(log)?;
            Some(Environment::observe(&folder::workspace()))
        }
    };
    let lasted = format_nanos(u64::try_from(args.time.as_nanos()).unwrap_or(u64::MAX));
    let bar = ProgressBar::new(1_000).with_style(
        ProgressStyle::with_template("soak {wide_bar} {percent} %, {eta} left")
            .expect("a template"),
    );
    let soaked = soak::soak(args.time, args.seed, |share| {
        bar.set_position((share * 1_000.0) as u64);
    });
    bar.finish_and_clear();
    let text = match &soaked {
        Ok(tallies) => format!("{}\nNo promise was broken in {lasted}.\n", table(tallies)),
        Err(broken) => format!(
            "BROKEN: {} (quotas {}, seed {}): {}\n",
            broken.subject, broken.quotas, broken.seed, broken.what
        ),
    };
    console::say(&text)?;
    if let (Some(log), Some(here)) = (&args.log, here) {
        let head = format!(
            "lab soak --for {lasted} --seed {}\n{}, {} cores, revision {}, {}\n\n",
            args.seed, here.cpu, here.cores, here.git_revision, here.began,
        );
        folder::put(log, (head + &text).as_bytes())?;
    }
    match soaked {
        Ok(_) => Ok(()),
        Err(broken) => bail!(
            "{} broke its promise; to see it again: cargo lab soak --seed {}",
            broken.subject,
            broken.seed
        ),
    }
}

fn table(tallies: &[(&'static str, Tally)]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_header([
            "soaked",
            "rounds",
            "decisions",
            "allowed",
            "changes",
            "evictions",
            "resets",
        ]);
    for (name, tally) in tallies {
        let counts = [
            tally.rounds,
            tally.decisions,
            tally.allowed,
            tally.changes,
            tally.evictions,
            tally.resets,
        ];
        let mut row = vec![(*name).to_string()];
        row.extend(counts.map(|count| count.to_string()));
        table.add_row(row);
    }
    table
}
