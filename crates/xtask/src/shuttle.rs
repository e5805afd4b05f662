//! `cargo shuttle`: eight threads under schedules by priority, and threads suspended for good.

use std::process::ExitCode;
use std::time::Instant;

use crate::explored::{self, Ran};
use crate::tools::checked;

/// The tests that shuttle schedules: many threads by priority (PCT), and one thread suspended for good
/// before each step of its call; each with mutants that must be found.
///
/// Exit status: 0 if all passed; 1 if a test failed; 2 if nothing was checked, because the models do
/// not build, or the source has changed under a mutant.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the tests whose name contains all of these texts: `pct`, `suspended`, `ships`,
    /// `mutants_of`, a structure.
    filters: Vec<String>,
    /// How many schedules by priority each structure is tried with.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    schedules: u64,
    /// The seed of the first script and of its schedules.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// One schedule again, as a failure printed it, with each step: give the failed test's name too.
    #[arg(long, value_name = "SEED:SCHEDULE")]
    replay: Option<String>,
    /// Show, for each mutant, the calls and the schedule that found it.
    #[arg(long)]
    steps: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    checked(schedule(args))
}

/// Whether all chosen tests passed.
fn schedule(args: &Args) -> anyhow::Result<bool> {
    let start = Instant::now();
    let mut tests = explored::tests("shuttle", &args.filters)?;
    // The table of models is tested without a model checker.
    tests.retain(|test| !test.name.starts_with("table "));
    anyhow::ensure!(
        !tests.is_empty(),
        "no test is named like {:?}",
        args.filters
    );
    if args.replay.is_some() {
        let names: Vec<_> = tests.iter().map(|test| test.name.as_str()).collect();
        anyhow::ensure!(
            names.len() == 1,
            "--replay is of one test, not of {names:?}"
        );
    }
    let count = tests.len();
    let built = start.elapsed().as_secs_f64();
    println!("{count} tests of schedules, built in {built:.0} s");
    let start = Instant::now();
    let mut env = vec![
        ("WINDOWPANE_SHUTTLE_SCHEDULES", args.schedules.to_string()),
        ("WINDOWPANE_SHUTTLE_SEED", args.seed.to_string()),
    ];
    env.extend(
        args.replay
            .clone()
            .map(|replay| ("WINDOWPANE_SHUTTLE_REPLAY", replay)),
    );
    let ran = explored::run_all(tests, &env, |ran| {
        let word = if ran.passed { "ok    " } else { "FAILED" };
        match args.steps || args.replay.is_some() {
            true => println!("{word} {}\n{}", ran.name, ran.output),
            false if reports(&ran).next().is_none() => println!("{word} {}", ran.name),
            false => reports(&ran).for_each(|line| println!("{word} {line}")),
        }
        ran
    });
    let failed = ran.iter().filter(|ran| !ran.passed).count();
    for ran in ran.iter().filter(|ran| !ran.passed) {
        println!("\n=== {} failed\n{}", ran.name, ran.output);
    }
    println!("\n{}", summary(&ran));
    let seconds = start.elapsed().as_secs_f64();
    println!("{failed} of {count} failed, in {seconds:.0} s");
    Ok(failed == 0)
}

/// The lines of a test that report: see `windowpane_loom_tests::shuttle`.
fn reports(ran: &Ran) -> impl Iterator<Item = &str> {
    let starts = ["pct: ", "suspended: ", "writes: "];
    let lines = ran.output.lines();
    lines.filter(move |line| starts.iter().any(|start| line.starts_with(start)))
}

/// The number of schedules, and of mutants that were found.
fn summary(ran: &[Ran]) -> String {
    let reports: Vec<&str> = ran.iter().flat_map(reports).collect();
    // The number before the first ` schedules`.
    let schedules = |line: &str| -> u64 {
        let before = line.split(" schedules").next().unwrap_or("");
        let number = before.rsplit(' ').next().unwrap_or("");
        number.parse().unwrap_or(0)
    };
    let of = |start: &str| {
        let lines = reports.iter().filter(|line| line.starts_with(start));
        let (count, sum) = lines.fold((0_u64, 0), |(count, sum), line| {
            (count + 1, sum + schedules(line))
        });
        (count, sum)
    };
    let (by_priority, suspended) = (of("pct: holds"), of("suspended: goes on"));
    let found = [
        "pct: finds",
        "suspended: blocks",
        "suspended: waits",
        "suspended: errs",
        "writes: found",
    ];
    let found: u64 = found.iter().map(|start| of(start).0).sum();
    format!(
        "by priority: {} structures hold in {} schedules\nsuspended for good: {} sets of scripts go on in {} \
         schedules\na denial writes nothing: {} limiters\n{found} times a mutant or the control was found",
        by_priority.0,
        by_priority.1,
        suspended.0,
        suspended.1,
        of("writes: none").0,
    )
}
