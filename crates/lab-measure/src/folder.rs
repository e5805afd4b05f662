//! Where a run is written: whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::Serialize;
use windowpane_lab_ground::output::Output;

use super::environment::Environment;
use super::recording::Recording;

/// The workspace's folder of runs: where the environment variable `WINDOWPANE_RESULTS` says, else
/// `results` beside the workspace's `Cargo.toml`.
pub fn results() -> PathBuf {
    match std::env::var_os("WINDOWPANE_RESULTS") {
        Some(folder) => folder.into(),
        None => workspace().join("results"),
    }
}

/// The workspace's root: the nearest folder above the current one with a `Cargo.lock`, else where
/// this was compiled.
pub fn workspace() -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    let above = current
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file());
    match above {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
    }
}

/// The folder of the latest run.
pub fn latest() -> PathBuf {
    results().join("latest")
}

/// Writes a folder whole: `fill` writes into a folder beside it, which then takes its place. What
/// was there before is gone only when all is written.
///
/// # Errors
/// If the place cannot be written to, or `fill` fails; `place` is as it was then.
pub fn replace(place: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let parent = place.parent().unwrap_or(Path::new("."));
    let new = beside(parent)?;
    fill(new.path())?;
    let old = beside(parent)?;
    let out_of_the_way = old.path().join("old");
    let existed = place.exists();
    if existed {
        fs::rename(place, &out_of_the_way)
            .with_context(|| format!("cannot move {} away", place.display()))?;
    }
    if let Err(error) = fs::rename(new.path(), place) {
        if existed {
            // What was there is better than nothing.
            let _ = fs::rename(&out_of_the_way, place);
        }
        return Err(error).with_context(|| format!("cannot put {} in place", place.display()));
    }
    // It is the run now, no longer a temporary folder.
    let _ = new.keep();
    Ok(())
}

/// Writes a folder that does not exist yet, whole.
///
/// # Errors
/// If it exists, and as [`replace`].
pub fn create(place: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if place.exists() {
        bail!(
            "{} exists, and a recorded run is never overwritten: give another name",
            place.display()
        );
    }
    replace(place, fill)
}

fn beside(parent: &Path) -> Result<tempfile::TempDir> {
    let made = fs::create_dir_all(parent).and_then(|()| {
        tempfile::Builder::new()
            .prefix(".run-")
            .suffix(".tmp")
            .tempdir_in(parent)
    });
    made.with_context(|| {
        format!(
            "cannot write into {}: is it read-only, or the disk full?",
            parent.display()
        )
    })
}

/// Fails now if nothing can be written into the folder of runs, and not after the measuring.
///
/// # Errors
/// The same that writing the run would meet.
pub fn check_writable() -> Result<()> {
    beside(&results()).map(drop)
}

/// Writes the raw data of a run.
///
/// # Errors
/// If a file cannot be written; it is named.
pub fn write_raw(recording: &Recording, folder: &Path) -> Result<()> {
    csv(folder, "contestants.csv", &recording.contestants)?;
    csv(folder, "throughput.csv", &recording.throughput)?;
    let merged = recording.histograms.values().map(|merged| &merged.row);
    csv(
        folder,
        "latency.csv",
        recording.latency.iter().chain(merged),
    )?;
    csv(folder, "traffic.csv", &recording.traffic)?;
    csv(folder, "memory.csv", &recording.memory)?;
    csv(folder, "accuracy.csv", &recording.accuracy)?;
    csv(
        folder,
        "keyed-contestants.csv",
        &recording.keyed_contestants,
    )?;
    csv(folder, "keyed.csv", &recording.keyed)?;
    csv(folder, "keyed-memory.csv", &recording.keyed_memory)?;
    csv(folder, "keyed-attack.csv", &recording.keyed_attack)?;
    csv(folder, "stalled.csv", &recording.stalled)?;
    environment(folder, &recording.environment)?;
    histograms(recording, &folder.join("histograms"))
}

/// Writes `environment.json`.
///
/// # Errors
/// If it cannot be written.
pub fn environment(folder: &Path, environment: &Environment) -> Result<()> {
    let json = serde_json::to_string_pretty(environment)? + "\n";
    text(folder, "environment.json", &json)
}

fn csv<T: Serialize>(folder: &Path, name: &str, rows: impl IntoIterator<Item = T>) -> Result<()> {
    let write = || -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join(name))?;
        for row in rows {
            writer.serialize(row)?;
        }
        Ok(writer.flush()?)
    };
    write().with_context(|| format!("cannot write {name}"))
}

/// Writes a text file, whole or not at all: what was there before stays until all is written.
///
/// # Errors
/// If it cannot be written; it is named.
pub fn text(folder: &Path, name: &str, text: &str) -> Result<()> {
    put(&folder.join(name), text.as_bytes())
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// If it cannot be written; it is named.
pub fn put(file: &Path, bytes: &[u8]) -> Result<()> {
    // An output's error says all in one line: its source told again would say it twice.
    let mut output = Output::create(file).map_err(Error::msg)?;
    let written = output.write_all(bytes);
    written.with_context(|| format!("cannot write {}", file.display()))?;
    Output::finish([output]).map_err(Error::msg)
}

/// Fails now if that file cannot be written, and not after the work; it is as it was.
///
/// # Errors
/// The same that [`put`] would meet.
pub fn check_file(file: &Path) -> Result<()> {
    Output::create(file).map(drop).map_err(Error::msg)
}

/// The histograms in HdrHistogram's V2 encoding, compressed, and their values by percentile.
fn histograms(recording: &Recording, folder: &Path) -> Result<()> {
    fs::create_dir(folder).context("cannot make the folder of histograms")?;
    let mut serializer = V2DeflateSerializer::new();
    for (name, merged) in &recording.histograms {
        let mut bytes = Vec::new();
        serializer
            .serialize(&merged.times, &mut bytes)
            .map_err(|error| io::Error::other(format!("{error:?}")))
            .with_context(|| format!("cannot serialize {name}"))?;
        fs::File::create(folder.join(format!("{name}.v2z")))
            .and_then(|mut file| file.write_all(&bytes))
            .with_context(|| format!("cannot write {name}"))?;
    }
    percentiles(recording, folder)
}

/// `percentiles.csv`: each histogram as a curve, so that a chart can be drawn without a library.
fn percentiles(recording: &Recording, folder: &Path) -> Result<()> {
    let write = || -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join("percentiles.csv"))?;
        writer.write_record([
            "histogram",
            "percentile",
            "nanoseconds",
            "samples_up_to_here",
        ])?;
        for (name, merged) in &recording.histograms {
            let mut samples = 0;
            // Two points each time the share of slower samples halves.
            for step in merged.times.iter_quantiles(2) {
                samples += step.count_since_last_iteration();
                writer.write_record([
                    name.as_str(),
                    &format!("{:.6}", step.quantile_iterated_to() * 100.0),
                    &step.value_iterated_to().min(merged.times.max()).to_string(),
                    &samples.to_string(),
                ])?;
            }
        }
        Ok(writer.flush()?)
    };
    write().context("cannot write percentiles.csv")
}
