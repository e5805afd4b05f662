//! What the commands share: programs that a step needs beside the Rust toolchain (found, installed
//! where that needs no permission, or reported as absent), cargo, folders, exit statuses.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::ensure;

/// How a line on the standard error begins that names a thing that a step does not run, and why. The
/// table of `cargo xtask test` counts such lines.
pub(crate) const SKIPPED: &str = "skipped: ";

/// Installs a package of the system, as root with apt; else says why not.
pub(crate) fn apt_install(package: &str) -> Result<(), String> {
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    if !root {
        return Err(format!("{package} not found, and only root can install it"));
    }
    // No recommended packages. A policy that starts no service is the caller's.
    for arguments in [
        &["update", "-qq"][..],
        &["install", "-y", "-qq", "--no-install-recommends", package],
    ] {
        let status = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => {
                return Err(format!(
                    "{package} not found, and `apt-get {}` ended with {status}",
                    arguments.join(" ")
                ));
            }
            Err(error) => {
                return Err(format!(
                    "{package} not found, and apt-get cannot be started: {error}"
                ));
            }
        }
    }
    Ok(())
}

/// The first line that `program` prints when it is called with `arguments`; `None` if it does not
/// start or ends with an error.
pub(crate) fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    output.status.success().then_some(line)
}

/// The cargo that runs this, or the first in the path.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command, its output passed through.
///
/// # Errors
/// If it does not start, or ends with another status than 0.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command
        .status()
        .map_err(|error| anyhow::anyhow!("cannot start {:?}: {error}", command.get_program()))?;
    ensure!(
        status.success(),
        "{:?} ended with {status}",
        command.get_program()
    );
    Ok(())
}

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This package lies two folders below.
    here.ancestors().nth(2).unwrap_or(here)
}

/// The folder that `CARGO_TARGET_DIR` names, if it is set: cargo takes it from where it was called.
pub(crate) fn named_target() -> Option<PathBuf> {
    std::path::absolute(std::env::var_os("CARGO_TARGET_DIR")?).ok()
}

/// Of `all`, those whose name contains `only`: all, if nothing was asked for.
///
/// # Errors
/// With all the names, if there is none.
pub(crate) fn chosen<'a, T>(
    all: &'a [T],
    name: impl Fn(&T) -> &'static str,
    only: Option<&str>,
) -> anyhow::Result<Vec<&'a T>> {
    let found: Vec<&T> = all
        .iter()
        .filter(|one| only.is_none_or(|only| name(one).contains(only)))
        .collect();
    let names = || all.iter().map(&name).collect::<Vec<_>>().join(", ");
    ensure!(
        !found.is_empty(),
        "nothing is named like that; there are: {}",
        names()
    );
    Ok(found)
}

/// How a command ends: with 0 if all is well, else with 1. An error is printed.
pub(crate) fn ended(done: anyhow::Result<bool>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// How a command that runs checks ends: with 0 if all passed, 1 if one failed, and
/// [`NOT_CHECKED`] after an error, which is printed.
pub(crate) fn checked(done: anyhow::Result<bool>) -> ExitCode {
    if let Err(error) = &done {
        eprintln!("NOT CHECKED: {error:#}");
    }
    ExitCode::from(status(&done))
}

/// The exit status of a command that could not run its checks. A check that failed ends with 1.
pub(crate) const NOT_CHECKED: u8 = 2;

fn status(done: &anyhow::Result<bool>) -> u8 {
    match done {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(_) => NOT_CHECKED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_did_not_run_is_no_check_that_failed() {
        assert_eq!(status(&Ok(true)), 0);
        assert_eq!(status(&Ok(false)), 1);
        assert_eq!(status(&Err(anyhow::anyhow!("no cargo"))), 2);
    }

    #[test]
    fn a_part_of_a_name_chooses_and_an_unknown_one_is_told_what_there_is() {
        let all = ["lints", "loom models", "docs"];
        let choose = |only| chosen(&all, |name| name, only);
        assert_eq!(choose(None).unwrap().len(), 3);
        assert_eq!(choose(Some("loom")).unwrap(), [&"loom models"]);
        let why = choose(Some("fmt")).unwrap_err().to_string();
        assert!(why.ends_with("lints, loom models, docs"), "{why}");
    }
}
