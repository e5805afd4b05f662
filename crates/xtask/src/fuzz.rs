//! `cargo xtask fuzz`: a long run of one target, or of all.

use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};

use crate::tools::{cargo, ended, run as run_command, workspace};

/// Fuzzes what reads untrusted bytes: changes the corpus in `crates/fuzz` at random, from a new seed,
/// and stops at the first input that panics. The short run, always the same, is among the tests.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One target, a folder of `crates/fuzz/corpus`; all, one after another, if none is named.
    target: Option<String>,
    /// How long each runs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where the changes start; the time of day unless said.
    #[arg(long)]
    seed: Option<u64>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    ended(fuzz(args).map(|()| true))
}

fn fuzz(args: &Args) -> Result<()> {
    let names = targets()?;
    let chosen: Vec<&String> = names
        .iter()
        .filter(|name| args.target.as_ref().is_none_or(|target| target == *name))
        .collect();
    ensure!(
        !chosen.is_empty(),
        "no such target; there are: {}",
        names.join(", ")
    );
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seed = args
        .seed
        .unwrap_or(since.map_or(0, |since| since.as_secs()));
    for name in chosen {
        // The profile of the tests: optimised, and overflow panics.
        let mut command = cargo();
        command
            .current_dir(workspace())
            .args(["run", "--quiet", "--profile", "test"])
            .args(["--package", "windowpane-fuzz", "--"])
            .args([name, &seed.to_string(), &args.seconds.to_string()]);
        run_command(&mut command).with_context(|| {
            format!("{name}: the input belongs into crates/fuzz/corpus/{name}, with the fix")
        })?;
    }
    Ok(())
}

/// The targets: each has a folder in the corpus, as a test of the package makes sure.
fn targets() -> Result<Vec<String>> {
    let folder = workspace().join("crates/fuzz/corpus");
    let entries = std::fs::read_dir(&folder).context("crates/fuzz/corpus")?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}
