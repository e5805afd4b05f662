//! `lab choose`: which limiter fits a need.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use windowpane_core::Quotas;
use windowpane_lab::choose::{Answer, text};
use windowpane_lab_measure::environment::output;
use windowpane_lab_measure::folder;
use windowpane_lab_report::choose::need::{parse_bytes, parse_share};
use windowpane_lab_report::choose::{Accuracy, Need};
use windowpane_lab_report::{Run, console, publish};

const EXAMPLES: &str = "
Examples:
  cargo lab choose --quota 1000/60s --keys 50000 --threads 8
  cargo lab choose --quota 100/60s --quota 10/1s --never-over-admit
  cargo lab choose --quota 1000/60s --keys 1000000 --memory 100MB --max-overshoot 100%
  cargo lab choose --quota 500000/60s --cost 2000 --json

Exit status: 0 if a limiter fits, 1 if none does, 2 with one line on the standard error if nothing
could be said.";

/// Prints the limiter for a need, why, what the runner-up costs or saves, what would change the
/// answer, how sure it is, and the lines that build it.
///
/// Without a word on accuracy the answer is exact, or what gives up least if nothing exact fits.
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
    /// Machines that share the quota
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    machines: u64,
    /// Only what decides as the log of accepted requests would
    #[arg(long, group = "accuracy")]
    exact: bool,
    /// No window may ever hold more than the quota; a denial may come early
    #[arg(long, group = "accuracy")]
    never_over_admit: bool,
    /// A window may hold this share of the limit above it, such as 100%
    #[arg(long, group = "accuracy", value_name = "SHARE", value_parser = parse_share)]
    max_overshoot: Option<f64>,
    /// A rate with a burst of the limit on top, and no bound on a window
    #[arg(long, group = "accuracy")]
    smooth: bool,
    /// The most that all keys together may take, such as 100MB or 64MiB
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Permits that a request costs, typically
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    cost: u64,
    /// The share of the limit that a key uses, typically, such as 1%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    used: Option<f64>,
    /// A suspended thread must not delay others
    #[arg(long)]
    lock_free: bool,
    /// The run's folder; the latest run on this machine if left out, or else the newest published
    #[arg(long, value_name = "RESULTS")]
    from: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    /// Print also what nothing beats in exactness, time and memory at once
    #[arg(long)]
    pareto: bool,
}

pub(crate) fn run(args: Args) -> ExitCode {
    match chosen(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => crate::report::ended(Err(error)),
    }
}

/// Whether a limiter fits.
fn chosen(args: &Args) -> Result<bool> {
    let quotas = Quotas::parse(args.quotas.as_slice()).context("--quota")?;
    let used = args.used.unwrap_or(1.0);
    ensure!(
        used > 0.0 && used <= 1.0,
        "--used: expected a share above 0% and at most 100%"
    );
    let need = Need {
        quotas,
        keys: args.keys,
        threads: args.threads.into(),
        machines: args.machines,
        accuracy: match args.max_overshoot {
            Some(share) => Accuracy::AtMost(share),
            None if args.exact => Accuracy::Exact,
            None if args.never_over_admit => Accuracy::NeverAbove,
            None if args.smooth => Accuracy::Smooth,
            None => Accuracy::Unsaid,
        },
        memory: args.memory,
        cost: args.cost,
        used,
        lock_free: args.lock_free,
    };
    let (run, mut doubts) = measured(args)?;
    doubts.extend(age(&run));
    let answer = Answer::of(&run, &need, doubts);
    let mut printed = match args.json {
        true => serde_json::to_string_pretty(&answer)? + "\n",
        false => text::render(&answer),
    };
    if args.pareto && !args.json {
        printed += &text::pareto(&answer.choice);
    }
    console::say(&printed)?;
    Ok(!answer.choice.ranking.is_empty())
}

/// The age in days from which on a run may not show the machine as it is now.
const OLD_DAYS: i64 = 60;

/// What the run's age says against it: the days, and limiters that changed since.
fn age(run: &Run) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Ok(began) = run.environment.began.parse::<Timestamp>() {
        let days = Timestamp::now().duration_since(began).as_hours() / 24;
        if days > OLD_DAYS {
            doubts.push(format!("the run is {days} days old"));
        }
    }
    let revision = &run.environment.git_revision;
    let changed = [
        "diff",
        "--name-only",
        revision,
        "HEAD",
        "--",
        "crates/*/src",
    ];
    let changed = output("git", &changed, &folder::workspace()).unwrap_or_default();
    let is_limiter = |line: &&str| !line.contains("/lab") && !line.contains("/xtask");
    if changed.lines().any(|line| is_limiter(&line)) {
        doubts.push("limiters changed since the run".into());
    }
    doubts
}

/// The run that answers, and what is said against it.
fn measured(args: &Args) -> Result<(Run, Vec<String>)> {
    if let Some(from) = &args.from {
        return Ok((Run::load(from)?, Vec::new()));
    }
    let latest = folder::latest();
    if latest.join("environment.json").exists() {
        return Ok((Run::load(&latest)?, Vec::new()));
    }
    match publish::newest(&folder::results())? {
        Some(run) => {
            let doubt = "this machine was not measured (`cargo bench` does it), so the newest published run answers";
            Ok((run, vec![doubt.into()]))
        }
        None => bail!(
            "no run in {}: expected one made by `cargo bench`, or --from with a run's folder",
            folder::results().display()
        ),
    }
}
