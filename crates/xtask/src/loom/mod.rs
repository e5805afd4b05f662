//! `cargo loom`: every model under every schedule, every mutant found.

mod outcome;

use std::process::ExitCode;
use std::time::Instant;

use crate::explored;
use crate::tools::checked;
use outcome::Outcome;

/// The loom models of the shipped limiters, and the mutants with a seeded bug that they must find.
///
/// Exit status: 0 if all passed; 1 if a model failed or a mutant was not found; 2 if nothing was
/// checked, because the models do not build, or the source has changed under a mutant.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the tests whose name contains all of these texts: parts of the names of a test file,
    /// a model or a mutant.
    filters: Vec<String>,
    /// Where a model bounds the preemptions, allow this many more, or `all`: hours or days.
    #[arg(long, value_name = "N|all", default_value = "0", value_parser = bound)]
    deep: String,
    /// How many random scripts each limiter is tried with.
    #[arg(long, value_name = "N", default_value_t = 40)]
    random: u64,
    /// The seed of the first random script.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Show, for each mutant, the calls and the steps that found it.
    #[arg(long)]
    steps: bool,
}

/// How many preemptions more, as the models read it from their environment.
fn bound(text: &str) -> Result<String, String> {
    match text {
        "all" => Ok(text.into()),
        _ => match text.parse::<u8>() {
            Ok(_) => Ok(text.into()),
            Err(_) => Err("expected a number from 0 to 255, or `all`".into()),
        },
    }
}

pub(crate) fn run(args: &Args) -> ExitCode {
    checked(explore(args))
}

/// Whether all chosen tests passed.
fn explore(args: &Args) -> anyhow::Result<bool> {
    let start = Instant::now();
    let tests = explored::tests("loom", &args.filters)?;
    anyhow::ensure!(
        !tests.is_empty(),
        "no model and no mutant is named like {:?}",
        args.filters
    );
    let count = tests.len();
    println!(
        "{count} models and mutants, built in {:.0} s",
        start.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let env = [
        ("WINDOWPANE_LOOM_DEEP", args.deep.clone()),
        ("WINDOWPANE_LOOM_RANDOM", args.random.to_string()),
        ("WINDOWPANE_LOOM_SEED", args.seed.to_string()),
    ];
    let outcomes = explored::run_all(tests, &env, |ran| {
        let outcome = Outcome::new(ran);
        println!("{outcome}");
        if args.steps && outcome.ran.passed {
            println!("{}", outcome.steps());
        }
        outcome
    });
    println!();
    let mut failed = 0;
    for Outcome { ran, .. } in outcomes.iter().filter(|outcome| !outcome.ran.passed) {
        failed += 1;
        println!("=== {} failed\n{}", ran.name, ran.output);
    }
    println!("{}", outcome::summary(&outcomes));
    println!(
        "{failed} of {count} failed, in {:.0} s",
        start.elapsed().as_secs_f64()
    );
    Ok(failed == 0)
}
