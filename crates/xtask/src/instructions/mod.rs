//! `cargo xtask instructions`: the instructions of one call of every limiter, counted under valgrind
//! and compared with those that the repository records.
//!
//! Plain callgrind, and no framework around it: one process runs all cases, nothing has to be
//! installed beside valgrind, and what is counted is one function of one small program
//! (`benches/instructions`).

mod callgrind;
mod record;

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};

use crate::tools::{SKIPPED, apt_install, cargo, ended, first_line, workspace};
use callgrind::count;
use record::{Difference, Record};

/// Counts the instructions of one call of every limiter, and compares them with the record in
/// `benches/instructions/record.toml`.
///
/// Fails where a case takes over 3 % more than recorded, or is not recorded. Where the compiler or
/// the processor is another than the record's, it tells the differences and does not fail.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write what was counted to the record: commit it with the change that explains it.
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    if let Err(why) = valgrind() {
        eprintln!("{SKIPPED}instruction counts: {why}; install valgrind and run again");
        return ExitCode::SUCCESS;
    }
    ended(compare(args.write))
}

/// Finds valgrind, or installs it if no password is needed.
fn valgrind() -> Result<(), String> {
    let found = || first_line("valgrind", &["--version"]);
    if found().is_none() {
        apt_install("valgrind")?;
    }
    found()
        .map(|version| println!("{version}"))
        .ok_or("valgrind does not start".into())
}

/// Whether nothing rose.
fn compare(write: bool) -> Result<bool> {
    let path = workspace().join("benches/instructions/record.toml");
    let counted = Record {
        rustc: first_line("rustc", &["-vV"]).context("cannot run rustc")?,
        ..count(&build()?)?
    };
    if write {
        std::fs::write(&path, counted.to_string())
            .with_context(|| format!("cannot write {}", path.display()))?;
        print!("{counted}");
        return Ok(true);
    }
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}; --write makes it", path.display()))?;
    let recorded = Record::parse(&text)
        .with_context(|| format!("{} is no record; --write makes one", path.display()))?;
    let differences = recorded.differences(&counted);
    for (name, count) in &counted.instructions {
        let said = differences.iter().find(|(of, _)| of == name);
        let said = said.map_or(String::new(), |(_, difference)| format!("  {difference}"));
        println!("{count:>9}  {name}{said}");
    }
    for (name, difference) in &differences {
        if matches!(difference, Difference::Gone) {
            println!("{:>9}  {name}  {difference}", "-");
        }
    }
    let failed = differences.iter().filter(|(_, d)| d.fails()).count();
    if let Some(other) = recorded.other_place(&counted) {
        eprintln!("{SKIPPED}the comparison of instruction counts: {other}");
        return Ok(true);
    }
    println!(
        "{} cases, instructions a call; {failed} of them over the record or not in it",
        counted.instructions.len()
    );
    if failed > 0 {
        eprintln!(
            "If a change explains it, record it in the same commit: cargo xtask instructions --write"
        );
    }
    Ok(failed == 0)
}

/// Builds the program, as a release is built, and returns where it is.
fn build() -> Result<String> {
    let mut command: Command = cargo();
    command
        .current_dir(workspace())
        .args(["build", "--release", "--package", "windowpane-benches"])
        .args(["--example", "instructions"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(std::process::Stdio::inherit());
    let output = command.output().context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo build: {}", output.status);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        if message["target"]["name"] == "instructions"
            && let Some(path) = message["executable"].as_str()
        {
            return Ok(path.to_owned());
        }
    }
    bail!("cargo built the example `instructions` and did not say where it is")
}
