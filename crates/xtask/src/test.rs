//! `cargo xtask test`: everything that must pass, step by step, and a table of what ran.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::redis;

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

const STEPS: &[Step] = &[
    step("format", &["fmt", "--all", "--check"]),
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
    step(
        "features: none",
        &["check", "-p", "windowpane", "--no-default-features"],
    ),
    step("features: default", &["check", "-p", "windowpane"]),
    step(
        "tests",
        &["test", "--workspace", "--all-features", "--no-fail-fast"],
    ),
    step("loom models", &["loom"]),
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

    /// Runs the step, its output passed through; whether it passed, and how long it took.
    fn run(&self) -> (bool, Duration) {
        println!("\n=== {}: {}", self.name, self.command_line());
        let start = Instant::now();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(self.cargo)
            .envs(self.env.iter().copied())
            .status();
        let passed = match status {
            Ok(status) => status.success(),
            Err(error) => {
                eprintln!("cannot start cargo: {error}");
                false
            }
        };
        (passed, start.elapsed())
    }
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let chosen = |step: &&Step| {
        args.only
            .as_ref()
            .is_none_or(|only| step.name.contains(only))
    };
    let steps: Vec<&Step> = STEPS.iter().filter(chosen).collect();
    if steps.is_empty() {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        eprintln!(
            "no step is named like that; there are: {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    }
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
    // All steps run even if one fails, so that one run tells all.
    let results: Vec<_> = steps.iter().map(|step| (step.name, step.run())).collect();
    println!("\n=== what ran");
    for (name, (passed, time)) in &results {
        let word = if *passed { "passed" } else { "FAILED" };
        println!("{name:18} {word} in {:.0} s", time.as_secs_f64());
    }
    if let Some(server) = &server {
        println!("{:18} {}", "redis-server", server.told());
    }
    let failed = results.iter().filter(|(_, (passed, _))| !passed).count();
    println!(
        "\nsteps: {} passed, {failed} failed",
        results.len() - failed
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
