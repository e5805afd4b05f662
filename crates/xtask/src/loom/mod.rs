//! `cargo loom`: every model under every schedule, every twin found.

mod outcome;

use std::collections::VecDeque;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::explored::{self, Test};
use outcome::Outcome;

/// The loom models of the shipped limiters, and the twins with a seeded bug that they must find.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the tests whose name contains all of these texts: parts of the names of a test file,
    /// a model or a twin.
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
    /// Show, for each twin, the calls and the steps that found it.
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
    match explore(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo loom: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all that was asked for passed.
fn explore(args: &Args) -> anyhow::Result<bool> {
    let start = Instant::now();
    let tests = explored::tests("loom", &args.filters)?;
    anyhow::ensure!(
        !tests.is_empty(),
        "no model and no twin is named like {:?}",
        args.filters
    );
    let count = tests.len();
    println!(
        "{count} models and twins, built in {:.0} s",
        start.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let outcomes = run_all(tests, args);
    println!();
    let mut failed = 0;
    for outcome in outcomes.iter().filter(|outcome| !outcome.passed) {
        failed += 1;
        println!("=== {} failed\n{}", outcome.name, outcome.output);
    }
    println!("{}", outcome::summary(&outcomes));
    println!(
        "{failed} of {count} failed, in {:.0} s",
        start.elapsed().as_secs_f64()
    );
    Ok(failed == 0)
}

/// Each test in a process of its own (loom keeps its state in statics), as many at once as there
/// are cores.
fn run_all(tests: Vec<Test>, args: &Args) -> Vec<Outcome> {
    let queue = Mutex::new(VecDeque::from(tests));
    let outcomes = Mutex::new(Vec::new());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(test) = { queue.lock().unwrap().pop_front() } {
                    let outcome = run_one(test, args);
                    let mut outcomes = outcomes.lock().unwrap();
                    println!("{outcome}");
                    if args.steps && outcome.passed {
                        println!("{}", outcome.steps());
                    }
                    outcomes.push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().unwrap()
}

fn run_one(test: Test, args: &Args) -> Outcome {
    let ran = Command::new(&test.binary)
        .args(["--exact", &test.path, "--nocapture"])
        .env("WINDOWPANE_LOOM_DEEP", &args.deep)
        .env("WINDOWPANE_LOOM_RANDOM", args.random.to_string())
        .env("WINDOWPANE_LOOM_SEED", args.seed.to_string())
        .output();
    match ran {
        Ok(ran) => Outcome::new(test.name, ran.status.success(), &ran.stdout, &ran.stderr),
        Err(error) => Outcome::new(test.name, false, b"", error.to_string().as_bytes()),
    }
}
