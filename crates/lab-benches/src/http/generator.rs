//! The generator: `wrk`, what it is told to send, and what it tells.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

/// Where it is not installed.
pub(crate) const ABSENT: &str =
    "http: nothing measured, wrk not found: install it with `apt-get install wrk`";

/// Which API keys the requests bear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// One of [`POOL`], in turn.
    Pool,
    /// A new one in each request.
    New,
}

/// How many keys there are in turn; `load.lua` says the same.
pub(crate) const POOL: usize = 10_000;

/// The percentiles that are told, by their names in `load.lua`.
pub(crate) const PERCENTILES: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];

/// An installed `wrk`.
pub(crate) struct Generator {
    /// What it says of itself.
    pub(crate) version: String,
    pub(crate) connections: usize,
    pub(crate) threads: usize,
    /// Whether answers are counted by status, which slows it down.
    pub(crate) check: bool,
    script: NamedTempFile,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) requests: u64,
    /// How long it took.
    pub(crate) span: Duration,
    /// Answers of a status above 399.
    pub(crate) not_ok: u64,
    /// Connections that failed, and answers that did not come.
    pub(crate) broken: u64,
    /// Service times in microseconds, in the order of [`PERCENTILES`].
    pub(crate) micros: [f64; 5],
    /// Answers by status, if they were counted.
    pub(crate) statuses: BTreeMap<u16, u64>,
}

impl Told {
    pub(crate) fn per_second(&self) -> f64 {
        self.requests as f64 / self.span.as_secs_f64()
    }
}

impl Generator {
    /// The generator; `None` where it is not installed.
    ///
    /// # Errors
    /// If its script cannot be written.
    pub(crate) fn find(
        connections: usize,
        threads: usize,
        check: bool,
    ) -> Result<Option<Generator>> {
        // It knows no flag that answers with success.
        let Ok(asked) = Command::new("wrk").arg("--version").output() else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&asked.stdout);
        let version = text.split(" Copyright").next().unwrap_or_default().trim();
        let mut script = NamedTempFile::with_suffix(".lua").context("no place for a script")?;
        script.write_all(include_bytes!("load.lua"))?;
        Ok(Some(Generator {
            version: version.to_owned(),
            connections,
            threads,
            check,
            script,
        }))
    }

    /// Starts it against a server, for whole seconds: it knows no shorter times.
    ///
    /// # Errors
    /// If it does not start.
    pub(crate) fn start(&self, server: SocketAddr, keys: Keys, seconds: u64) -> Result<Child> {
        let mut command = Command::new("wrk");
        command
            .args(["--connections", &self.connections.to_string()])
            .args(["--threads", &self.threads.to_string()])
            .args(["--duration", &format!("{seconds}s"), "--timeout", "10s"])
            .arg("--script")
            .arg(self.script.path())
            .arg(format!("http://{server}/"))
            .arg("--")
            .arg(match keys {
                Keys::Pool => "pool",
                Keys::New => "new",
            })
            .arg(format!("flood-{}", server.port()))
            .args(self.check.then_some("check"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().context("wrk does not start")
    }

    /// Waits for one that was started.
    ///
    /// # Errors
    /// If it failed, or told nothing.
    pub(crate) fn finish(child: Child) -> Result<Told> {
        let output = child.wait_with_output().context("wrk is lost")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.strip_prefix("told: "));
        match (output.status.success(), line) {
            (true, Some(line)) => read(line),
            _ => bail!(
                "wrk ended with {} and told nothing: {}{text}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ),
        }
    }
}

/// Reads the line that `load.lua` prints.
fn read(line: &str) -> Result<Told> {
    let mut told = Told::default();
    for word in line.split_whitespace() {
        let (name, value) = word.split_once('=').context("wrk told a word without =")?;
        let number: f64 = value
            .parse()
            .with_context(|| format!("wrk told `{word}`, expected a number"))?;
        match name {
            "requests" => told.requests = number as u64,
            "micros" => told.span = Duration::from_micros(number as u64),
            "not-ok" => told.not_ok = number as u64,
            "broken" => told.broken = number as u64,
            _ => match (
                PERCENTILES.iter().position(|p| *p == name),
                name.strip_prefix("status-"),
            ) {
                (Some(place), _) => told.micros[place] = number,
                (None, Some(status)) => drop(told.statuses.insert(status.parse()?, number as u64)),
                (None, None) => bail!("wrk told `{word}`, which nobody expects"),
            },
        }
    }
    if told.requests == 0 || told.span.is_zero() {
        bail!("wrk got no answer at all: {line}");
    }
    Ok(told)
}
