//! A `redis-server` for the tests that need one: found, installed, or said plainly to be absent.

use std::process::{Command, Stdio};

/// The packages' own name for it, and that of its fork; the tests take the first they find.
const SERVERS: [&str; 2] = ["redis-server", "valkey-server"];

/// Whether the tests will find a server.
pub(crate) enum Server {
    /// It was there.
    Found(String),
    /// It was not there, and the system's package manager brought it.
    Installed(String),
    /// It is not there; why it was not installed.
    Absent(String),
}

/// Finds a server, or installs one where that needs nobody's leave: as root, with apt.
pub(crate) fn provide() -> Server {
    if let Some(version) = version() {
        return Server::Found(version);
    }
    if let Err(why) = install() {
        return Server::Absent(why);
    }
    match version() {
        Some(version) => Server::Installed(version),
        None => Server::Absent("apt-get installed redis-server, and yet it does not start".into()),
    }
}

impl Server {
    /// One line for whoever reads the run.
    pub(crate) fn told(&self) -> String {
        match self {
            Server::Found(version) => format!("found: {version}"),
            Server::Installed(version) => format!("installed: {version}"),
            Server::Absent(why) => format!(
                "SKIPPED, all tests that need a server: {why}; install redis-server and run again"
            ),
        }
    }
}

/// What the first server that starts says of its version.
fn version() -> Option<String> {
    SERVERS.iter().find_map(|server| {
        let output = Command::new(server).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        output
            .status
            .success()
            .then(|| text.lines().next().unwrap_or(server).trim().to_owned())
    })
}

fn install() -> Result<(), String> {
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    if !root {
        return Err("redis-server not found, and only root can install it".into());
    }
    // Only the server: no recommended packages. A policy that starts no service is the caller's.
    for arguments in [
        &["update", "-qq"][..],
        &[
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "redis-server",
        ][..],
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
                    "redis-server not found, and `apt-get {}` ended with {status}",
                    arguments.join(" ")
                ));
            }
            Err(error) => {
                return Err(format!(
                    "redis-server not found, and apt-get cannot be started: {error}"
                ));
            }
        }
    }
    Ok(())
}
