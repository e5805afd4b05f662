//! `cargo xtask faults`: seeds one fault after another into a copy of the workspace, and shows that
//! a check of ours catches each.

mod table;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use crate::tools::{cargo, chosen, ended, named_target, workspace};
use table::{FAULTS, Fault};

/// Seeds faults into a copy of the sources, one by one, and shows that a check catches each.
///
/// Each check must pass on what ships before its fault is seeded. It takes long; nothing is
/// written outside the target folder.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seed only the faults whose name contains this text.
    only: Option<String>,
    /// List the faults and the checks.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let faults = match chosen(FAULTS, |fault| fault.name, args.only.as_deref()) {
        Ok(faults) => faults,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    if args.list {
        for fault in faults {
            let check = fault.check.join(" ");
            println!("{:24} {}\n{:24} cargo {check}", fault.name, fault.what, "");
        }
        return ExitCode::SUCCESS;
    }
    ended(catch_all(&faults))
}

/// Whether all are caught.
fn catch_all(faults: &[&Fault]) -> anyhow::Result<bool> {
    let copy = Copy::of_the_workspace()?;
    let mut passed = Vec::new();
    let mut caught = 0;
    for (index, fault) in faults.iter().enumerate() {
        let start = Instant::now();
        println!(
            "[{}/{}] {}: {}",
            index + 1,
            faults.len(),
            fault.name,
            fault.what
        );
        if !passed.contains(&fault.check) {
            let (success, output) = copy.check(fault.check)?;
            ensure!(
                success,
                "`cargo {}` fails on what ships:\n{output}",
                fault.check.join(" ")
            );
            passed.push(fault.check);
        }
        let (success, output) = copy.seeded(fault, || copy.check(fault.check))?;
        let seconds = start.elapsed().as_secs_f64();
        let check = fault.check.join(" ");
        // A build that failed caught nothing.
        let built =
            !output.contains("error: could not compile") && !output.contains("do not build");
        if !success && built && output.contains(fault.found_by) {
            caught += 1;
            println!(
                "      caught by cargo {check}: {} ({seconds:.0} s)",
                failing(&output)
            );
        } else {
            println!("      NOT CAUGHT by cargo {check} ({seconds:.0} s):\n{output}");
        }
    }
    println!("{caught} of {} seeded faults caught", faults.len());
    Ok(caught == faults.len())
}

/// The tests and models that failed, by name.
fn failing(output: &str) -> String {
    let name = |line: &str| {
        let test = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"));
        let model = || {
            line.strip_prefix("=== ")
                .and_then(|rest| rest.strip_suffix(" failed"))
        };
        test.or_else(model).map(str::to_owned)
    };
    output
        .lines()
        .filter_map(name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The workspace once more, below the target folder, with a target folder of its own.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies every file that git knows or would add, as it is now. What has not changed since the
    /// last time is left, so that cargo need not build it again.
    fn of_the_workspace() -> anyhow::Result<Copy> {
        let root = workspace();
        let target = named_target().unwrap_or_else(|| root.join("target"));
        let folder = target.join("faults");
        let tree = folder.join("tree");
        let listed = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()
            .context("cannot start git, which knows the files to copy")?;
        ensure!(
            listed.status.success(),
            "`git ls-files` failed: the copy is made in a checkout"
        );
        let mut kept = HashSet::new();
        for name in listed
            .stdout
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
        {
            let name = std::str::from_utf8(name).context("a file's name is not UTF-8")?;
            let from = root.join(name);
            // Listed, but deleted since.
            if !from.is_file() || name.starts_with("results/") {
                continue;
            }
            let to = tree.join(name);
            let text = fs::read(&from).with_context(|| from.display().to_string())?;
            kept.insert(to.clone());
            if fs::read(&to).is_ok_and(|before| before == text) {
                continue;
            }
            fs::create_dir_all(to.parent().expect("it has a folder"))?;
            fs::write(&to, text).with_context(|| to.display().to_string())?;
        }
        forget_others(&tree, &kept)?;
        let target = folder.join("target");
        Ok(Copy { tree, target })
    }

    /// What `call` answers while the fault is in the copy.
    fn seeded<T>(
        &self,
        fault: &Fault,
        call: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let path = self.tree.join(fault.file);
        let shipped = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        fs::write(&path, seed(fault, &shipped)?)?;
        let answer = call();
        fs::write(&path, shipped)?;
        answer
    }

    /// Whether a call of cargo in the copy succeeds, and what it prints.
    fn check(&self, arguments: &[&str]) -> anyhow::Result<(bool, String)> {
        let output = cargo()
            .args(arguments)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_TERM_COLOR", "never")
            // The twins of the changed text stand as it ships.
            .env("WINDOWPANE_SEEDED", "1")
            .stdin(Stdio::null())
            .output()
            .context("cannot start cargo")?;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&output.stdout) + &text(&output.stderr);
        Ok((output.status.success(), printed))
    }
}

/// The text with the fault in it.
fn seed(fault: &Fault, text: &str) -> anyhow::Result<String> {
    match text.matches(fault.shipped).count() {
        1 => Ok(text.replacen(fault.shipped, fault.seeded, 1)),
        found => bail!(
            "{}: what ships is found {found} times in {}, not once: the source has changed, renew \
             the fault in crates/xtask/src/faults/table.rs",
            fault.name,
            fault.file
        ),
    }
}

/// Deletes what is in the copy and no more in the workspace.
fn forget_others(folder: &Path, kept: &HashSet<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            forget_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_still_has_its_place_in_what_ships() {
        for fault in FAULTS {
            let text = fs::read_to_string(workspace().join(fault.file)).unwrap();
            assert_ne!(seed(fault, &text).unwrap(), text, "{}", fault.name);
        }
    }

    #[test]
    fn the_page_names_each_fault_and_its_check() {
        let page = fs::read_to_string(workspace().join("loom-tests/README.md")).unwrap();
        for fault in FAULTS {
            let Fault { name, what, .. } = fault;
            let row = format!("| `{name}` | {what} | `cargo {}` |", fault.check.join(" "));
            assert!(page.lines().any(|line| line == row), "no row {row}");
        }
    }
}
