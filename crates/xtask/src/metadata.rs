//! What cargo knows of the workspace.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::tools::{cargo, workspace};

/// The crates that others can depend on, by their folders. The rest of the workspace is never
/// published.
pub(crate) const LIBRARIES: [&str; 12] = [
    "sync",
    "core",
    "mutex-log",
    "cas-ring",
    "packed-counter",
    "bucket-ring",
    "baselines",
    "sharded",
    "keyed",
    "redis",
    "tower",
    "windowpane",
];

/// The part of `cargo metadata` that is looked at.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// One package, ours or another's.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) manifest_path: std::path::PathBuf,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) readme: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) rust_version: Option<String>,
    pub(crate) features: std::collections::BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// What a package says of one it needs.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    pub(crate) path: Option<String>,
    /// `dev`, `build`, or nothing.
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// Of the whole workspace and, with `dependencies`, of all it is locked to.
    pub(crate) fn read(dependencies: bool) -> Result<Metadata> {
        let mut command = cargo();
        command
            .current_dir(workspace())
            .args(["metadata", "--format-version=1", "--locked"])
            .stderr(std::process::Stdio::inherit());
        if !dependencies {
            command.arg("--no-deps");
        }
        let output = command.output().context("cannot run cargo metadata")?;
        ensure!(output.status.success(), "cargo metadata: {}", output.status);
        serde_json::from_slice(&output.stdout).context("what cargo metadata printed")
    }

    /// The packages of [`LIBRARIES`], in that order.
    pub(crate) fn libraries(&self) -> Result<Vec<&Package>> {
        let find = |folder: &str| {
            let manifest = workspace().join("crates").join(folder).join("Cargo.toml");
            let found = self.packages.iter().find(|p| p.manifest_path == manifest);
            found.with_context(|| format!("{} is no package", manifest.display()))
        };
        LIBRARIES.into_iter().map(find).collect()
    }
}
