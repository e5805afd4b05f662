//! A disk that is full: a clear error, and nothing half written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::recorded;

/// The `lab` command where no file may grow beyond so many blocks of 512 bytes, as on a disk that
/// is full.
fn lab_on_a_full_disk(blocks: u32, arguments: &[&str], folder: &Path) -> Output {
    // A write beyond the limit raises a signal, which is ignored, and then fails.
    let script = format!(r#"trap "" XFSZ; ulimit -f {blocks}; exec "$@""#);
    Command::new("sh")
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_lab")])
        .args(arguments)
        .current_dir(folder)
        .env("WINDOWPANE_RESULTS", folder)
        .output()
        .unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(&path).unwrap())
        })
        .collect()
}

#[track_caller]
fn fails_clearly(output: &Output) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("cannot write"), "{error}");
    assert_eq!(error.matches("os error").count(), 1, "{error}");
}

#[test]
fn a_report_that_does_not_fit_leaves_the_one_before() {
    let results = tempfile::tempdir().unwrap();
    let run = results.path().join("run");
    fs::create_dir(&run).unwrap();
    recorded::write(&[], &run);
    windowpane_lab_report::render(&run).unwrap();
    let before = files(&run);
    let name = run.to_str().unwrap();
    // The charts fit, the report does not.
    let output = lab_on_a_full_disk(16, &["report", name], results.path());
    fails_clearly(&output);
    assert!(before["REPORT.md"].len() > 16 * 512);
    assert_eq!(files(&run), before);
}

#[test]
fn a_comparison_or_a_publication_that_does_not_fit_leaves_nothing() {
    let results = tempfile::tempdir().unwrap();
    let latest = results.path().join("latest");
    fs::create_dir(&latest).unwrap();
    recorded::write(&[], &latest);
    let name = latest.to_str().unwrap();
    for option in ["--json", "--markdown"] {
        let arguments = ["compare", name, name, option, "out"];
        fails_clearly(&lab_on_a_full_disk(1, &arguments, results.path()));
    }
    let output = lab_on_a_full_disk(1, &["publish"], results.path());
    assert_eq!(output.status.code(), Some(2));
    let names: Vec<_> = fs::read_dir(results.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["latest"]);
}

#[test]
fn a_replays_page_that_does_not_fit_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.csv"), "time\n0\n").unwrap();
    fs::write(folder.path().join("page.html"), "before").unwrap();
    let arguments = "replay --quota 1/1s --algorithm gcra --report page.html log.csv";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    fails_clearly(&lab_on_a_full_disk(1, &arguments, folder.path()));
    let names: Vec<String> = files(folder.path()).into_keys().collect();
    assert_eq!(names, ["log.csv", "page.html"]);
    assert_eq!(
        fs::read(folder.path().join("page.html")).unwrap(),
        b"before"
    );
}
