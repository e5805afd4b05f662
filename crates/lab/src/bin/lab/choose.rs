//! `lab choose`: which limiter fits a need.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use windowpane_core::Quotas;
use windowpane_lab::choose::need::{parse_bytes, parse_share};
use windowpane_lab::choose::{self, Need};
use windowpane_lab_measure::folder;
use windowpane_lab_report::{Run, console, publish};

const EXAMPLES: &str = "
Examples:
  cargo lab choose --quota 1000/60s --keys 50000 --threads 8
  cargo lab choose --quota 100/60s --quota 10/1s --never-over-admit
  cargo lab choose --quota 1000/60s --keys 1000000 --memory 100MB --max-overshoot 80%
  cargo lab choose --quota 500000/60s --costs --json

Exit status: 0 if a limiter fits, 1 if none does, 2 with one line on the standard error if nothing
could be said.";

/// Ranks the limiters for a need, by what a run measured, with the reason for each place, and prints
/// the Rust that builds the first.
///
/// Without --max-overshoot and --never-over-admit, the exact ones come first, then those that never
/// let more through than the quota, then the others; within each, the faster first, and of those
/// between which no difference is shown the smaller. With one of them speed alone ranks what is
/// left.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// At most LIMIT permits in any WINDOW, such as 1000/60s, or requests: 60req/60s. Given more
    /// than once, all must hold
    #[arg(
        long = "quota",
        value_name = "LIMIT/WINDOW",
        required = true,
        allow_hyphen_values = true
    )]
    quotas: Vec<String>,
    /// Keys that are live at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    keys: u64,
    /// Threads that decide at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// The most that a window may hold above the limit, such as 1%, by what the run saw
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    max_overshoot: Option<f64>,
    /// No window may ever hold more than the quota
    #[arg(long)]
    never_over_admit: bool,
    /// The most that the limiters of all keys may take, such as 100MB or 64MiB
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Requests cost more than 1 permit
    #[arg(long)]
    costs: bool,
    /// The run's folder; the latest run on this machine if left out, or else the newest published
    #[arg(long, value_name = "RESULTS")]
    from: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args) -> ExitCode {
    match chosen(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => crate::report::ended(Err(error)),
    }
}

/// Whether anybody fits.
fn chosen(args: &Args) -> Result<bool> {
    let quotas = Quotas::parse(args.quotas.as_slice()).context("--quota")?;
    let need = Need {
        quotas,
        keys: args.keys,
        threads: args.threads.into(),
        max_overshoot: args.max_overshoot,
        never_over_admit: args.never_over_admit,
        memory: args.memory,
        costs: args.costs,
    };
    let (run, note) = measured(args)?;
    let mut choice = choose::choose(&run, &need, crate::live_bytes);
    choice.notes.splice(0..0, note);
    let text = match args.json {
        true => serde_json::to_string_pretty(&choice)? + "\n",
        false => choose::text::render(&choice),
    };
    console::say(&text)?;
    Ok(!choice.ranking.is_empty())
}

/// The run that answers, and what to say of it.
fn measured(args: &Args) -> Result<(Run, Option<String>)> {
    if let Some(from) = &args.from {
        return Ok((Run::load(from)?, None));
    }
    let latest = folder::latest();
    if latest.join("environment.json").exists() {
        return Ok((Run::load(&latest)?, None));
    }
    match publish::newest(&folder::results())? {
        Some(run) => {
            let note = "there is no run of this machine, so the newest published one answers; `cargo bench` makes one";
            Ok((run, Some(note.into())))
        }
        None => bail!(
            "no run in {}: expected one made by `cargo bench`, or --from with a run's folder",
            folder::results().display()
        ),
    }
}
