//! `cargo xtask mutants`: which changes of the limiters no test notices.

use std::process::ExitCode;

use crate::tools::{cargo, first_line, workspace};

/// The crates that are mutated, and whose tests beside their own are run: what `core` decides is
/// tested where it is used.
const CRATES: &[(&str, &[&str])] = &[
    ("core", &["mutex-log", "packed-counter", "baselines"]),
    ("mutex-log", &[]),
    ("cas-ring", &[]),
    ("packed-counter", &[]),
    ("bucket-ring", &[]),
    ("baselines", &[]),
    ("keyed", &[]),
];

/// Rounds of each test with racing threads: what a mutant breaks shows soon or never.
const ROUNDS: &str = "128";

/// Changes the limiters' code in one place after another and runs the tests, which must fail.
///
/// Hours for all; the survivors that are known, and why each is no gap, stand in
/// `loom-tests/MUTANTS.md`. Needs `cargo install cargo-mutants --locked`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder names of the crates; all if none is named.
    crates: Vec<String>,
    /// What else `cargo mutants` is told, after `--`.
    #[arg(last = true)]
    more: Vec<String>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let unknown = |name: &&String| !CRATES.iter().any(|(known, _)| known == name);
    if let Some(name) = args.crates.iter().find(unknown) {
        let names: Vec<_> = CRATES.iter().map(|(name, _)| *name).collect();
        eprintln!("no crate `{name}`; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    if first_line("cargo", &["mutants", "--version"]).is_none() {
        eprintln!("cargo-mutants not found: cargo install cargo-mutants --locked");
        return ExitCode::FAILURE;
    }
    let chosen = CRATES.iter().filter(|(name, _)| {
        args.crates.is_empty() || args.crates.iter().any(|chosen| chosen == name)
    });
    let mut survived = false;
    for (name, beside) in chosen {
        println!("\n=== {name}");
        let output = workspace().join("target/mutants").join(name);
        // It makes the last folder of the path alone.
        if let Err(error) = std::fs::create_dir_all(&output) {
            eprintln!("cannot make {}: {error}", output.display());
            return ExitCode::FAILURE;
        }
        let mut command = cargo();
        command
            .current_dir(workspace())
            .args(["mutants", "--package", &format!("windowpane-{name}")])
            .arg("--output")
            .arg(&output)
            // Five times as fast: a change of some lines compiles some lines anew.
            .env("CARGO_INCREMENTAL", "1")
            // What a copy of the workspace compiles is of use to no other: it goes with the copy.
            .env_remove("CARGO_TARGET_DIR")
            .env("WINDOWPANE_ROUNDS", ROUNDS)
            // That a test fails is enough: the smallest case that does is not looked for.
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .args(&args.more);
        if !beside.is_empty() {
            let tested: Vec<_> = std::iter::once(name)
                .chain(*beside)
                .map(|name| format!("windowpane-{name}"))
                .collect();
            command.args(["--test-package", &tested.join(",")]);
        }
        // It ends with 2 if a mutant survived, with 3 if one ran into the timeout.
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => {
                eprintln!("{name}: cargo mutants ended with {status}");
                survived = true;
            }
            Err(error) => {
                eprintln!("cannot run cargo mutants: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if survived {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
