//! Where a run is written: whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Error, Result, anyhow, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
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
    histograms(recording, folder)
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

/// The file of a run's histograms.
pub const HISTOGRAMS: &str = "histograms.hlog.gz";

/// Writes [`HISTOGRAMS`], an interval log of HdrHistogram in gzip: one line per cell, tagged with its
/// name, in nanoseconds, over the whole run.
fn histograms(recording: &Recording, folder: &Path) -> Result<()> {
    let environment = &recording.environment;
    let took = Duration::try_from_secs_f64(environment.seconds).unwrap_or_default();
    let mut builder = IntervalLogWriterBuilder::new();
    // Readers of other languages expect this line.
    builder.add_comment("[Histogram log format version 1.3]");
    if let Ok(began) = environment.began.parse::<jiff::Timestamp>() {
        builder.with_start_time(SystemTime::from(began));
    }
    let (mut text, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut log = builder.begin_log_with(&mut text, &mut serializer)?;
    log.write_comment("Nanoseconds. One line per cell, all rounds together.")?;
    for (name, merged) in &recording.histograms {
        let tag = Tag::new(name).with_context(|| format!("`{name}` cannot be a tag"))?;
        log.write_histogram(&merged.times, Duration::ZERO, took, Some(tag))
            .map_err(|error| anyhow!("cannot serialize {name}: {error}"))?;
    }
    // The log is base64, a third larger than what it holds.
    let mut archive = GzEncoder::new(Vec::new(), Compression::best());
    archive.write_all(&text)?;
    put(&folder.join(HISTOGRAMS), &archive.finish()?)
}
