//! Programs that a step needs beside the Rust toolchain: found, or brought where that needs nobody's
//! leave, or said plainly to be absent.

use std::process::{Command, Stdio};

/// What a step writes to the standard error for each thing that it does not run, and why; the table
/// of `cargo xtask test` counts such lines.
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
    anyhow::ensure!(
        status.success(),
        "{:?} ended with {status}",
        command.get_program()
    );
    Ok(())
}

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static std::path::Path {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    // This package lies two folders below.
    here.ancestors().nth(2).unwrap_or(here)
}
