//! The processes of a run. Code and data lie at other addresses in each, and that alone makes a
//! limiter a few percent faster or slower: one process shows one of many layouts.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;

use super::environment::Environment;
use super::plan::Plan;
use super::recording::Recording;

/// The name of the argument that tells a launch its number.
const LAUNCH: &str = "--launch";

/// The name of the argument that tells a launch where to write.
const ROWS: &str = "--rows";

/// Starts this program once for each launch of the plan, one after the other, with its own arguments
/// and those that [`Arguments`](super::arguments::Arguments) reads, and adds the rows of each. `note`
/// receives the name of each launch as it begins.
///
/// # Errors
/// If a launch cannot be started or fails, or its rows cannot be read.
pub fn run(
    recording: &mut Recording,
    plan: &Plan,
    interrupted: &AtomicBool,
    note: impl Fn(&str),
) -> Result<()> {
    let began = Instant::now();
    let program = std::env::current_exe().context("cannot find this program")?;
    recording.environment.before_launches();
    for launch in 1..=plan.launches {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        note(&format!("throughput: launch {launch} of {}", plan.launches));
        let rows = tempfile::tempdir().context("cannot make a folder for the rows of a launch")?;
        let status = Command::new(&program)
            .args(std::env::args_os().skip(1))
            .arg(LAUNCH)
            .arg(launch.to_string())
            .arg(ROWS)
            .arg(rows.path())
            .status()
            .with_context(|| format!("cannot start {} again", program.display()))?;
        if !status.success() {
            bail!("launch {launch} of {} ended with {status}", plan.launches);
        }
        add(recording, rows.path(), plan.launches)
            .with_context(|| format!("cannot read the rows of launch {launch}"))?;
    }
    let environment = &mut recording.environment;
    environment.rounds_planned = plan.launches * plan.rounds;
    environment.seconds += (began.elapsed().as_secs_f64() * 10.0).round() / 10.0;
    if interrupted.load(Ordering::Relaxed) {
        environment.partial = "interrupted".into();
    }
    environment.say_whether_quiet();
    Ok(())
}

/// Adds the rows of one of `launches` launches that are written in a folder.
///
/// # Errors
/// If a file of them cannot be read.
pub fn add(recording: &mut Recording, folder: &Path, launches: u32) -> Result<()> {
    let environment = fs::read_to_string(folder.join("environment.json"))?;
    let environment: Environment = serde_json::from_str(&environment)?;
    recording.environment.add_launch(&environment, launches);
    recording.throughput.extend(rows(folder, "throughput.csv")?);
    recording.traffic.extend(rows(folder, "traffic.csv")?);
    recording.keyed.extend(rows(folder, "keyed.csv")?);
    Ok(())
}

fn rows<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Vec<T>> {
    let read = || -> Result<Vec<T>> {
        let mut reader = csv::Reader::from_path(folder.join(name))?;
        Ok(reader.deserialize().collect::<Result<_, _>>()?)
    };
    read().with_context(|| format!("cannot read {name}"))
}
