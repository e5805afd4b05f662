//! Builds the models under `--cfg loom` and lists them.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use super::Test;

/// The tests whose name contains all of `filters`.
pub(super) fn tests(filters: &[String]) -> anyhow::Result<Vec<Test>> {
    let mut tests = Vec::new();
    for (target, binary) in binaries()? {
        let listed = Command::new(&binary)
            .args(["--list", "--format", "terse"])
            .output()
            .with_context(|| format!("cannot start {}", binary.display()))?;
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
fn binaries() -> anyhow::Result<Vec<(String, PathBuf)>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let (flags, value) = with_cfg_loom();
    let built = Command::new(cargo)
        .args(["test", "--release", "--package", "windowpane-loom-tests"])
        .args([
            "--tests",
            "--no-run",
            "--message-format",
            "json-render-diagnostics",
        ])
        .arg("--target-dir")
        .arg(target_folder())
        .env(flags, value)
        // A twin may compute nonsense: it shall not go unseen.
        .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true")
        // What is explored for seconds need not be optimized for minutes.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(built.status.success(), "the models do not build");
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

/// The variable of rustc's flags that cargo heeds first, with `--cfg loom` added to what is set.
fn with_cfg_loom() -> (&'static str, OsString) {
    let (name, separator) = match env::var_os("CARGO_ENCODED_RUSTFLAGS") {
        Some(_) => ("CARGO_ENCODED_RUSTFLAGS", "\u{1f}"),
        None => ("RUSTFLAGS", " "),
    };
    let mut flags = env::var_os(name).unwrap_or_default();
    for flag in ["--cfg", "loom"] {
        if !flags.is_empty() {
            flags.push(separator);
        }
        flags.push(flag);
    }
    (name, flags)
}

/// A target folder of its own, since other flags would make cargo build everything anew each time:
/// `target-loom`, or inside the one that `CARGO_TARGET_DIR` names.
fn target_folder() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => Path::new(&folder).join("loom"),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target-loom"),
    }
}
