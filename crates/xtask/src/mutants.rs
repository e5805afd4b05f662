//! `cargo xtask mutants`: which changes of the limiters no test notices.

use std::process::ExitCode;

use crate::metadata::LIBRARIES;
use crate::tools::{cargo, first_line, workspace};

/// Library crates that are not mutated: they decide nothing, or a server decides for them.
const NOT_MUTATED: [&str; 4] = ["sync", "redis", "tower", "windowpane"];

/// The crates that are mutated.
fn crates() -> Vec<&'static str> {
    let mutated = |name: &&str| !NOT_MUTATED.contains(name);
    LIBRARIES.into_iter().filter(mutated).collect()
}

/// The arguments of `cargo mutants` for a crate: one call, or one for each part of it. What `core` decides is
/// tested where it is used.
fn parts(name: &str) -> &'static [&'static [&'static str]] {
    match name {
        "core" => &[
            &[
                "--exclude=**/core/src/wait/**",
                "--exclude=**/core/src/change.rs",
                "--features=tsc",
                "--test-package=windowpane-core,windowpane-baselines",
            ],
            &[
                "--file=**/core/src/wait/**",
                "--file=**/core/src/change.rs",
                "--features=tokio",
                "--test-package=windowpane-core,windowpane",
            ],
        ],
        "mutex-log" => &[&["--features=parking_lot"]],
        // Tests that mutants are found say nothing of what ships, and take the longest.
        "keyed" => &[&[
            "--cargo-test-arg=--",
            "--cargo-test-arg=--skip=race::an_eviction",
        ]],
        _ => &[&[]],
    }
}

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
    /// More arguments of `cargo mutants`, after `--`.
    #[arg(last = true)]
    more: Vec<String>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let all = crates();
    let unknown = |name: &&String| !all.contains(&name.as_str());
    if let Some(name) = args.crates.iter().find(unknown) {
        eprintln!("no crate `{name}`; there are: {}", all.join(", "));
        return ExitCode::from(2);
    }
    if first_line("cargo", &["mutants", "--version"]).is_none() {
        eprintln!("cargo-mutants not found: cargo install cargo-mutants --locked");
        return ExitCode::FAILURE;
    }
    let chosen = |name: &&str| args.crates.is_empty() || args.crates.iter().any(|c| c == name);
    let parts = all.into_iter().filter(chosen).flat_map(|name| {
        let parts = parts(name).iter().enumerate();
        parts.map(move |(part, more)| (name, part, *more))
    });
    let mut failed = false;
    for (name, part, of_part) in parts {
        let told = [&[name], of_part].concat();
        println!("\n=== {}", told.join(" "));
        let output = workspace().join(format!("target/mutants/{name}/{part}"));
        // cargo-mutants makes the last folder of the path alone.
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
            // A change of some lines compiles some lines again.
            .env("CARGO_INCREMENTAL", "1")
            // What a copy of the workspace compiles is of use to no other: it goes with the copy.
            .env_remove("CARGO_TARGET_DIR")
            .env("WINDOWPANE_ROUNDS", ROUNDS)
            // That a test fails is enough: the smallest case that does is not looked for.
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .args(of_part)
            .args(&args.more);
        // cargo-mutants ends with 2 if a mutant survived, with 3 if one ran into the timeout, and with
        // others if it could not begin: the rest is run all the same.
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => {
                eprintln!("{name}: cargo mutants ended with {status}");
                failed = true;
            }
            Err(error) => {
                eprintln!("cannot run cargo mutants: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
