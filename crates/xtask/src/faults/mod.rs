//! `cargo xtask faults`: seeds one fault after another into a copy of the workspace, and shows that
//! a check of ours catches each.

mod table;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use crate::quoted::SEEDED;
use crate::tools::{NOT_CHECKED, cargo, checked, chosen, named_target, workspace};
use table::{FAULTS, Fault};

/// Seeds faults into a copy of the sources, one by one, and shows that a check catches each.
///
/// Each check must pass on the shipped source before its fault is seeded. It takes long; nothing is
/// written outside the target folder.
///
/// Exit status: 0 if every fault was caught; 1 if one was not; 2 if a fault could not be checked,
/// because its text in the source has changed, or its check fails without it.
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
    checked(catch_all(&faults))
}

/// Whether all are caught.
fn catch_all(faults: &[&Fault]) -> anyhow::Result<bool> {
    // Before the first check, which takes minutes.
    for fault in faults {
        let path = workspace().join(fault.file);
        let shipped = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        seed(fault, &shipped)?;
    }
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
            let unseeded = copy.check(fault.check)?;
            ensure!(
                unseeded.passed,
                "`cargo {}` fails without the fault {}, which was not seeded:\n{}",
                fault.check.join(" "),
                fault.name,
                unseeded.output
            );
            passed.push(fault.check);
        }
        let seeded = copy.seeded(fault, || copy.check(fault.check))?;
        let seconds = start.elapsed().as_secs_f64();
        let check = fault.check.join(" ");
        if seeded.catches(fault) {
            caught += 1;
            println!(
                "      caught by cargo {check}: {} ({seconds:.0} s)",
                failing(&seeded.output)
            );
        } else {
            println!(
                "      NOT CAUGHT by cargo {check} ({seconds:.0} s):\n{}",
                seeded.output
            );
        }
    }
    println!("{caught} of {} seeded faults caught", faults.len());
    Ok(caught == faults.len())
}

/// The result of one check.
struct Checked {
    passed: bool,
    /// Whether the check ran: it may not compile, or end before its first test.
    ran: bool,
    /// The standard output, and the standard error after it.
    output: String,
}

impl Checked {
    /// Whether it failed as a check of this fault must.
    fn catches(&self, fault: &Fault) -> bool {
        self.ran && !self.passed && self.output.contains(fault.found_by)
    }
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

/// A copy of the workspace, below the target folder, with a target folder of its own.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies every file that git knows or would add, as it is now. A file that has not changed since
    /// the last time is left, so that cargo does not build it again.
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

    /// Returns what `call` returns while the fault is in the copy.
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

    /// Runs a check, a call of cargo, in the copy.
    fn check(&self, arguments: &[&str]) -> anyhow::Result<Checked> {
        let output = cargo()
            .args(arguments)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_TERM_COLOR", "never")
            // The mutants that quote the changed text are the source as it stands.
            .env(SEEDED, "1")
            .stdin(Stdio::null())
            .output()
            .context("cannot start cargo")?;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&output.stdout) + &text(&output.stderr);
        let not_checked = output.status.code() == Some(NOT_CHECKED.into());
        Ok(Checked {
            passed: output.status.success(),
            ran: !not_checked && !printed.contains("error: could not compile"),
            output: printed,
        })
    }
}

/// The text with the fault in it.
///
/// # Errors
/// If the text has not exactly one place for it.
fn seed(fault: &Fault, text: &str) -> anyhow::Result<String> {
    match text.matches(fault.shipped).count() {
        1 => Ok(text.replacen(fault.shipped, fault.seeded, 1)),
        found => bail!(
            "nothing was checked: the shipped source has changed under a fault. The text that the fault {} replaces \
             stands {found} times in {}, not once: `{}`. Update it in \
             crates/xtask/src/faults/table.rs.",
            fault.name,
            fault.file,
            fault.shipped
        ),
    }
}

/// Deletes the files of the copy that the workspace no longer has.
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
    fn a_check_that_did_not_run_catches_nothing() {
        let fault = &FAULTS[0];
        let checked = |passed, ran| Checked {
            passed,
            ran,
            output: format!("...\n{}\n", fault.found_by),
        };
        assert!(checked(false, true).catches(fault));
        assert!(!checked(false, false).catches(fault));
        assert!(!checked(true, true).catches(fault));
        let other = Checked {
            output: "another test FAILED".into(),
            ..checked(false, true)
        };
        assert!(!other.catches(fault));
    }

    #[test]
    fn a_changed_source_is_reported_with_its_file_and_fault() {
        let error = seed(&FAULTS[0], "fn other() {}").unwrap_err().to_string();
        assert!(error.starts_with("nothing was checked: "), "{error}");
        assert!(error.contains("the fault weaker-order replaces"), "{error}");
        assert!(
            error.contains("0 times in crates/cas-ring/src/ring.rs"),
            "{error}"
        );
    }

    #[test]
    fn each_fault_has_its_place_in_the_source() {
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
