//! A `redis-server` for the tests that need one: found, installed, or said plainly to be absent.

use crate::tools::{apt_install, first_line};

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

/// Finds a server, or installs one if no password is needed: as root, with apt.
pub(crate) fn provide() -> Server {
    if let Some(version) = version() {
        return Server::Found(version);
    }
    if let Err(why) = apt_install("redis-server") {
        return Server::Absent(why);
    }
    match version() {
        Some(version) => Server::Installed(version),
        None => Server::Absent("apt-get installed redis-server, and yet it does not start".into()),
    }
}

impl Server {
    /// One line for the log.
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
    SERVERS
        .iter()
        .find_map(|server| first_line(server, &["--version"]))
}
