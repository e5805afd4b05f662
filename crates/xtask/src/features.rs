//! `cargo xtask features`: each library crate without features, with each alone, and with all; and
//! on a target without a clock.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::metadata::{Metadata, Package};
use crate::tools::{SKIPPED, cargo, ended, first_line, run as run_command, workspace};

/// The target on which the standard library's clocks panic, so that ours do not exist there.
const WITHOUT_CLOCK: &str = "wasm32-unknown-unknown";

/// The packages that are checked on it.
const ON_IT: [&str; 2] = ["windowpane-core", "windowpane"];

/// Checks and lints each library crate without features, with its default ones, with each feature
/// alone, and with all. Checks `core` and `windowpane` on `wasm32-unknown-unknown`, where that
/// target is installed.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// List what would be checked.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    ended(check(args.list))
}

fn check(list: bool) -> Result<bool> {
    let metadata = Metadata::read(false)?;
    let mut count = 0;
    for package in metadata.libraries()? {
        for set in sets(package) {
            count += 1;
            println!("{} {}", package.name, set.join(" "));
            if list {
                continue;
            }
            // clippy passes its lints to our crates alone, so what they need is compiled once.
            let mut command = cargo();
            command
                .current_dir(workspace())
                .args(["clippy", "--quiet", "--package", &package.name])
                .args(&set)
                .args(["--", "-D", "warnings"]);
            run_command(&mut command)
                .with_context(|| format!("{} {}", package.name, set.join(" ")))?;
        }
    }
    println!("{count} sets of features");
    without_clock(list)?;
    Ok(true)
}

/// Checks what compiles on the target without a clock.
fn without_clock(list: bool) -> Result<()> {
    let folder = first_line(
        "rustc",
        &["--print", "target-libdir", "--target", WITHOUT_CLOCK],
    );
    if !folder.is_some_and(|folder| Path::new(&folder).exists()) {
        eprintln!(
            "{SKIPPED}the target without a clock: not installed; rustup target add {WITHOUT_CLOCK}"
        );
        return Ok(());
    }
    for package in ON_IT {
        println!("{package} --target {WITHOUT_CLOCK}");
        if list {
            continue;
        }
        let mut command = cargo();
        command
            .current_dir(workspace())
            .args(["check", "--quiet", "--package", package])
            .args(["--target", WITHOUT_CLOCK]);
        run_command(&mut command).with_context(|| format!("{package} on {WITHOUT_CLOCK}"))?;
    }
    Ok(())
}

/// The sets of features, as arguments: none, the default ones, each alone, all; each set once.
fn sets(package: &Package) -> Vec<Vec<String>> {
    let none = || vec!["--no-default-features".to_owned()];
    let mut sets = vec![none()];
    let mut names: Vec<&String> = package.features.keys().collect();
    names.retain(|name| *name != "default");
    if names.len() < package.features.len() {
        sets.push(Vec::new());
    }
    for name in &names {
        sets.push([none(), vec!["--features".into(), (*name).clone()]].concat());
    }
    if names.len() > 1 {
        sets.push(vec!["--all-features".into()]);
    }
    sets
}
