//! Builds the package of the models under a model checker's `--cfg`, lists its tests and runs them.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context as _, bail, ensure};

use crate::quoted;
use crate::tools::{cargo, named_target, workspace};

/// One model or one mutant: a test in a binary.
pub(crate) struct Test {
    pub(crate) binary: PathBuf,
    /// The test file and the path in it.
    pub(crate) name: String,
    pub(crate) path: String,
}

/// The result of a test.
pub(crate) struct Ran {
    pub(crate) name: String,
    pub(crate) passed: bool,
    /// The standard output, and the standard error after it.
    pub(crate) output: String,
}

impl Test {
    /// Runs it in a process of its own (loom keeps its state in statics), with these variables.
    fn run(self, env: &[(&str, String)]) -> Ran {
        let ran = Command::new(&self.binary)
            .args(["--exact", &self.path, "--nocapture"])
            .envs(env.iter().map(|(name, value)| (name, value)))
            .output();
        let (passed, output) = match ran {
            Ok(ran) => {
                let stdout = String::from_utf8_lossy(&ran.stdout);
                let stderr = String::from_utf8_lossy(&ran.stderr);
                (ran.status.success(), format!("{stdout}{stderr}"))
            }
            Err(error) => {
                let binary = self.binary.display();
                (false, format!("cannot start {binary}: {error}"))
            }
        };
        Ran {
            name: self.name,
            passed,
            output,
        }
    }
}

/// Runs tests, one on each core at a time. Calls `report` with each result, one at a time, and
/// returns what it returned.
pub(crate) fn run_all<T: Send>(
    tests: Vec<Test>,
    env: &[(&str, String)],
    report: impl Fn(Ran) -> T + Sync,
) -> Vec<T> {
    let queue = Mutex::new(VecDeque::from(tests));
    let all = Mutex::new(Vec::new());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(test) = { queue.lock().unwrap().pop_front() } {
                    let ran = test.run(env);
                    let mut all = all.lock().unwrap();
                    all.push(report(ran));
                }
            });
        }
    });
    all.into_inner().unwrap()
}

/// The tests under the `--cfg` of a model checker whose name contains all of `filters`.
///
/// # Errors
/// If they cannot be run: nothing was checked then.
pub(crate) fn tests(explorer: &str, filters: &[String]) -> anyhow::Result<Vec<Test>> {
    quoted::check(explorer)?;
    let mut tests = Vec::new();
    for (target, binary) in binaries(explorer)? {
        let listed = Command::new(&binary)
            .args(["--list", "--format", "terse"])
            .output()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        // Without its list its models would be missing unnoticed.
        ensure!(
            listed.status.success(),
            "{} does not list its tests: it ended with {}",
            binary.display(),
            listed.status
        );
        for line in String::from_utf8_lossy(&listed.stdout).lines() {
            let Some(path) = line.strip_suffix(": test") else {
                continue;
            };
            let name = format!("{target} {path}");
            if filters.iter().all(|filter| name.contains(filter)) {
                tests.push(Test {
                    binary: binary.clone(),
                    name,
                    path: path.into(),
                });
            }
        }
    }
    Ok(tests)
}

/// The test binaries, each with the name of its test file.
fn binaries(explorer: &str) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let (flags, value) = with_cfg(explorer);
    let built = cargo()
        .args(["test", "--release", "--package", "windowpane-loom-tests"])
        .args([
            "--tests",
            "--no-run",
            "--message-format",
            "json-render-diagnostics",
        ])
        .arg("--target-dir")
        .arg(target_folder(explorer))
        .env(flags, value)
        // A mutant may overflow: that must not go unseen.
        .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true")
        // A run takes seconds, so it is not worth minutes of optimisation.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(
        built.status.success(),
        "nothing was checked: the models do not build. No model ran and no bug was found."
    );
    let mut binaries = Vec::new();
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let (name, binary) = (&message["target"]["name"], &message["executable"]);
        if let (Some(name), Some(binary)) = (name.as_str(), binary.as_str()) {
            binaries.push((name.into(), binary.into()));
        }
    }
    if binaries.is_empty() {
        bail!("cargo built no test binary of windowpane-loom-tests");
    }
    Ok(binaries)
}

/// The variable of rustc's flags that cargo reads first, and its value with `--cfg
/// windowpane_EXPLORER` added. The name is ours, so that a user's `--cfg loom` changes nothing here.
fn with_cfg(explorer: &str) -> (&'static str, OsString) {
    let explorer = format!("windowpane_{explorer}");
    let (name, separator) = match env::var_os("CARGO_ENCODED_RUSTFLAGS") {
        Some(_) => ("CARGO_ENCODED_RUSTFLAGS", "\u{1f}"),
        None => ("RUSTFLAGS", " "),
    };
    let mut flags = env::var_os(name).unwrap_or_default();
    for flag in ["--cfg", explorer.as_str()] {
        if !flags.is_empty() {
            flags.push(separator);
        }
        flags.push(flag);
    }
    (name, flags)
}

/// A target folder of its own, since cargo would build everything again each time the flags change:
/// `target-loom` and the like, or inside the one that `CARGO_TARGET_DIR` names.
fn target_folder(explorer: &str) -> PathBuf {
    match named_target() {
        Some(folder) => folder.join(explorer),
        None => workspace().join(format!("target-{explorer}")),
    }
}
