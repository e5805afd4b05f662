//! `cargo xtask features`: each library crate without features, with each alone, and with all.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::metadata::{Metadata, Package};
use crate::tools::{cargo, ended, run as run_command, workspace};

/// Checks and lints each library crate without features, with its default ones, with each feature
/// alone, and with all.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Say what would be checked.
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
    Ok(true)
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
