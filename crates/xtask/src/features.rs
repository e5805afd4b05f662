//! `cargo xtask features`: each library crate without features, with each alone, and with all; and
//! on targets without a clock or without the standard library.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::metadata::{Metadata, Package};
use crate::tools::{SKIPPED, cargo, ended, first_line, run as run_command, workspace};

/// A target that lacks something, and the packages that must compile on it.
struct Poor {
    triple: &'static str,
    lacks: &'static str,
    flags: &'static [&'static str],
    packages: &'static [&'static str],
}

const POOR: [Poor; 2] = [
    // The standard library's clocks panic there, so ours do not exist.
    Poor {
        triple: "wasm32-unknown-unknown",
        lacks: "a clock",
        flags: &[],
        packages: &["windowpane-core", "windowpane"],
    },
    Poor {
        triple: "x86_64-unknown-none",
        lacks: "the standard library",
        flags: &["--no-default-features"],
        packages: &[
            "windowpane-sync",
            "windowpane-core",
            "windowpane-cas-ring",
            "windowpane-bucket-ring",
            "windowpane-packed-counter",
            "windowpane-baselines",
        ],
    },
];

/// Checks and lints each library crate without features, with its default ones, with each feature
/// alone, and with all. Checks `core` and `windowpane` on `wasm32-unknown-unknown`, and `core` and
/// the lock-free algorithms without `std` on `x86_64-unknown-none`, if these targets are installed.
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
    POOR.iter().try_for_each(|target| on(target, list))?;
    Ok(true)
}

/// Checks what compiles on a target that lacks something.
fn on(target: &Poor, list: bool) -> Result<()> {
    let triple = target.triple;
    let folder = first_line("rustc", &["--print", "target-libdir", "--target", triple]);
    if !folder.is_some_and(|folder| Path::new(&folder).exists()) {
        let lacks = target.lacks;
        eprintln!("{SKIPPED}a target without {lacks}: not installed; rustup target add {triple}");
        return Ok(());
    }
    for package in target.packages {
        println!("{package} --target {triple}");
        if list {
            continue;
        }
        let mut command = cargo();
        command
            .current_dir(workspace())
            .args(["check", "--quiet", "--package", package])
            .args(["--target", triple])
            .args(target.flags);
        run_command(&mut command).with_context(|| format!("{package} on {triple}"))?;
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
