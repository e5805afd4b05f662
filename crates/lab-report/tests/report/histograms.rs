//! The log of a run's histograms, read as another program would read it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use windowpane_lab_ground::latency::Percentiles;
use windowpane_lab_measure::folder::{self, HISTOGRAMS};
use windowpane_lab_measure::recording::{Merged, file_name};

use crate::recorded;

/// The log of the run in `folder`.
fn unpacked(folder: &Path) -> Vec<u8> {
    let archive = fs::File::open(folder.join(HISTOGRAMS)).unwrap();
    let mut log = Vec::new();
    GzDecoder::new(archive).read_to_end(&mut log).unwrap();
    log
}

/// The histograms of the run in `folder` by tag.
pub(crate) fn read(folder: &Path) -> BTreeMap<String, Histogram<u64>> {
    let log = unpacked(folder);
    let mut histograms = BTreeMap::new();
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(cell) = entry.unwrap() else {
            continue;
        };
        let bytes = STANDARD.decode(cell.encoded_histogram()).unwrap();
        let times: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(cell.max(), times.max() as f64);
        let name = cell.tag().unwrap().as_str().to_owned();
        let twice = histograms.insert(name, times);
        assert!(twice.is_none(), "{:?} has two lines", cell.tag());
    }
    histograms
}

#[test]
fn histograms_are_read_back_from_one_log() {
    let mut recording = recorded::recording(&[]);
    let row = recording.latency.pop().unwrap();
    for (threads, slowest) in [(1, 70_000), (2, 3_000_000_000)] {
        let mut times = Histogram::new_with_bounds(1, 60_000_000_000, 3).unwrap();
        times.record_n(25, 1_000).unwrap();
        times.record(slowest).unwrap();
        let mut row = row.clone();
        row.threads = threads;
        let merged = Merged { times, row };
        recording.histograms.insert(file_name(&merged.row), merged);
    }
    let folder = tempfile::tempdir().unwrap();
    folder::write_raw(&recording, folder.path()).unwrap();

    let found = read(folder.path());
    assert_eq!(found.len(), 2);
    for (name, merged) in &recording.histograms {
        assert_eq!(found[name], merged.times, "{name}");
        assert_eq!(
            Percentiles::of(&found[name]),
            Percentiles::of(&merged.times)
        );
    }
}

#[test]
fn log_tells_when_the_run_began_and_how_long_it_took() {
    let mut recording = recorded::recording(&[]);
    let row = recording.latency.pop().unwrap();
    let mut times = Histogram::new(3).unwrap();
    times.record(25).unwrap();
    let merged = Merged { times, row };
    recording.histograms.insert(file_name(&merged.row), merged);
    let folder = tempfile::tempdir().unwrap();
    folder::write_raw(&recording, folder.path()).unwrap();

    let log = unpacked(folder.path());
    let entries: Vec<LogEntry> = IntervalLogIterator::new(&log).map(Result::unwrap).collect();
    // 2024-05-12T10:00:00Z.
    let began = Duration::from_secs(1_715_508_000);
    assert_eq!(entries[0], LogEntry::StartTime(began));
    let LogEntry::Interval(cell) = &entries[1] else {
        panic!("no interval: {entries:?}");
    };
    let (start, took) = (cell.start_timestamp(), cell.duration());
    assert_eq!(
        (start, took),
        (Duration::ZERO, Duration::from_millis(12_500))
    );
}

#[test]
fn a_name_that_is_no_tag_is_an_error() {
    let mut recording = recorded::recording(&[]);
    let row = recording.latency.pop().unwrap();
    let times = Histogram::new(3).unwrap();
    recording
        .histograms
        .insert("a, b".into(), Merged { times, row });
    let folder = tempfile::tempdir().unwrap();
    let error = folder::write_raw(&recording, folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "`a, b` cannot be a tag");
}
