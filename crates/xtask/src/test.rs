//! `cargo xtask test`: everything that must pass, step by step, and a table of what ran.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::redis::{self, Server};
use crate::tools::{SKIPPED, apt_install, cargo, chosen};

/// Everything that must pass before a change lands.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the steps whose name contains this text (see --list).
    only: Option<String>,
    /// List the steps and what each runs.
    #[arg(long)]
    list: bool,
}

/// One step: a name, and the arguments of one call of cargo.
struct Step {
    name: &'static str,
    cargo: &'static [&'static str],
    /// Variables set for that call alone.
    env: &'static [(&'static str, &'static str)],
}

/// The step in which each benchmark runs once, small, and what comes out is checked.
const BENCHES: &str = "benches as tests";

/// The load generator that the bench of HTTP needs.
const GENERATOR: &str = "wrk";

const STEPS: &[Step] = &[
    step("format", &["fmt", "--all", "--check"]),
    step("words", &["xtask", "words"]),
    step(
        "lints",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--",
            "-D",
            "warnings",
        ],
    ),
    step("features", &["xtask", "features"]),
    step(
        "tests",
        &["test", "--workspace", "--all-features", "--no-fail-fast"],
    ),
    step(
        BENCHES,
        &[
            "bench",
            "--package",
            "windowpane-benches",
            "--bench",
            "versus",
            "--bench",
            "throughput",
            "--bench",
            "latency",
            "--bench",
            "redis",
            "--bench",
            "http",
            "--",
            "--test",
        ],
    ),
    step("instructions", &["xtask", "instructions"]),
    step("supply chain", &["xtask", "supply"]),
    Step {
        name: "a user's loom",
        // Under a user's own `--cfg loom` our atomics must stay real: outside a model loom's panic.
        cargo: &[
            "test",
            "--package",
            "windowpane-cas-ring",
            "--lib",
            "--target-dir",
            "target/users-loom",
        ],
        env: &[("RUSTFLAGS", "--cfg loom")],
    },
    step("proofs", &["xtask", "prove"]),
    step("loom models", &["loom"]),
    step("shuttle schedules", &["shuttle"]),
    Step {
        name: "docs",
        cargo: &["doc", "--workspace", "--no-deps", "--all-features"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

const fn step(name: &'static str, cargo: &'static [&'static str]) -> Step {
    Step {
        name,
        cargo,
        env: &[],
    }
}

impl Step {
    fn command_line(&self) -> String {
        let env = self
            .env
            .iter()
            .map(|(name, value)| format!("{name}=\"{value}\" "));
        format!("{}cargo {}", env.collect::<String>(), self.cargo.join(" "))
    }

    /// Runs the step and passes its output through. Skips are counted only in steps that may skip:
    /// output through a pipe has no colours.
    fn run(&self, skips: bool) -> Ran {
        println!("\n=== {}: {}", self.name, self.command_line());
        let start = Instant::now();
        let mut command = cargo();
        command.args(self.cargo).envs(self.env.iter().copied());
        let done = match skips {
            true => counting_skips(&mut command),
            false => command.status().map(|status| (status.success(), 0)),
        };
        let (passed, skipped) = done.unwrap_or_else(|error| {
            eprintln!("cannot run cargo: {error}");
            (false, 0)
        });
        Ran {
            name: self.name,
            passed,
            skipped,
            time: start.elapsed(),
        }
    }
}

/// What came of a step.
struct Ran {
    name: &'static str,
    passed: bool,
    /// Tests or parts that said they were skipped.
    skipped: usize,
    time: Duration,
}

/// Finds the load generator, or installs it if no password is needed. Returns one line for the log.
fn generator() -> Result<String, String> {
    // It knows no flag that it answers with success.
    let starts = || Command::new(GENERATOR).arg("--version").output().is_ok();
    if starts() {
        return Ok("found".into());
    }
    let installed = apt_install(GENERATOR).and_then(|()| match starts() {
        true => Ok("installed".to_owned()),
        false => Err(format!(
            "apt-get installed {GENERATOR}, and yet it does not start"
        )),
    });
    installed.map_err(|why| format!("SKIPPED, the bench of HTTP: {why}; install it and run again"))
}

/// Runs a command with its standard error read on the way through; whether it succeeded, and how
/// many lines there said that something was skipped.
fn counting_skips(command: &mut Command) -> std::io::Result<(bool, usize)> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut skipped = 0;
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            skipped += usize::from(line.contains(SKIPPED));
            eprintln!("{line}");
        }
    }
    Ok((child.wait()?.success(), skipped))
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let steps = match chosen(STEPS, |step| step.name, args.only.as_deref()) {
        Ok(steps) => steps,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    if args.list {
        for step in steps {
            println!("{:18} {}", step.name, step.command_line());
        }
        return ExitCode::SUCCESS;
    }
    let server = steps
        .iter()
        .any(|step| step.name == "tests")
        .then(redis::provide);
    if let Some(server) = &server {
        println!("redis-server: {}", server.told());
    }
    let absent = matches!(server, Some(Server::Absent(_)));
    let generator = steps
        .iter()
        .any(|step| step.name == BENCHES)
        .then(generator);
    if let Some(told) = &generator {
        println!("{GENERATOR}: {}", told.as_ref().unwrap_or_else(|why| why));
    }
    let skips = |step: &Step| match step.name {
        "tests" => absent,
        // The bench of the limiters on a store needs a server, too.
        BENCHES => absent || matches!(generator, Some(Err(_))),
        _ => step.cargo[0] == "xtask",
    };
    // All steps run even if one fails, so that one run tells all.
    let results: Vec<Ran> = steps.iter().map(|step| step.run(skips(step))).collect();
    println!("\n=== what ran");
    for ran in &results {
        let word = if ran.passed { "passed" } else { "FAILED" };
        let skipped = match ran.skipped {
            0 => String::new(),
            count => format!(", {count} skipped"),
        };
        let (name, seconds) = (ran.name, ran.time.as_secs_f64());
        println!("{name:18} {word} in {seconds:.0} s{skipped}");
    }
    if let Some(server) = &server {
        println!("{:18} {}", "redis-server", server.told());
    }
    if let Some(told) = &generator {
        println!("{GENERATOR:18} {}", told.as_ref().unwrap_or_else(|why| why));
    }
    let failed = results.iter().filter(|ran| !ran.passed).count();
    let skipped: usize = results.iter().map(|ran| ran.skipped).sum();
    println!(
        "\nsteps: {} passed, {failed} failed; skipped: {skipped}",
        results.len() - failed
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
