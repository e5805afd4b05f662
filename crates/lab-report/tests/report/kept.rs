//! The size of the folder of published runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use windowpane_lab_report::kept::{check, in_history, is_listed, trim};
use windowpane_lab_report::{Run, compare, publish, render};

use crate::recorded;

/// Publishes a run that began on that day of May 2024, named `name`.
fn published(results: &Path, day: u32, name: &str) -> PathBuf {
    let latest = results.join("latest");
    fs::create_dir_all(&latest).unwrap();
    let mut recording = recorded::recording(&[]);
    recording.environment.began = format!("2024-05-{day:02}T10:00:00Z");
    windowpane_lab_measure::folder::write_raw(&recording, &latest).unwrap();
    render(&latest).unwrap();
    let place = publish::publish(&latest, results, Some(name))
        .unwrap()
        .place;
    fs::remove_dir_all(latest).unwrap();
    place
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The files that the Markdown file links to or shows.
fn linked(file: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(file).unwrap();
    let links = text.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split(')').next());
    let own = links.filter(|link| !link.contains([':', '#']));
    own.map(|link| file.parent().unwrap().join(link)).collect()
}

fn never(_: &Path) -> bool {
    false
}

fn always(_: &Path) -> bool {
    true
}

#[test]
fn publishing_copies_listed_files_only() {
    let results = tempfile::tempdir().unwrap();
    let latest = results.path().join("latest");
    fs::create_dir_all(latest.join("histograms")).unwrap();
    recorded::write(&[], &latest);
    for stray in ["notes.txt", "core", "histograms/a.v2z"] {
        fs::write(latest.join(stray), "").unwrap();
    }
    fs::write(latest.join("soak.txt"), "soaked").unwrap();
    let place = publish::publish(&latest, results.path(), Some("x"))
        .unwrap()
        .place;
    let published = names(&place);
    for name in &published {
        assert!(is_listed(name), "{name}");
        assert!(place.join(name).is_file(), "{name}");
    }
    // All that a run writes is listed, or it would be lost here.
    let written = names(&latest);
    let expected = written.iter().filter(|name| is_listed(name));
    assert!(expected.clone().all(|name| published.contains(name)));
    assert_eq!(written.len() - expected.count(), 3, "{written:?}");
}

#[test]
fn only_the_newest_run_keeps_its_page() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path();
    let first = published(results, 1, "a");
    fs::create_dir(first.join("redis")).unwrap();
    for (file, text) in [
        (
            "environment.json",
            fs::read_to_string(first.join("environment.json")).unwrap(),
        ),
        (
            "README.md",
            "# Redis\n\n![rates](rates.svg)\n\nThe end.\n".into(),
        ),
        ("rates.svg", "<svg/>".into()),
        ("redis.csv", "a\n1\n".into()),
    ] {
        fs::write(first.join("redis").join(file), text).unwrap();
    }
    compare::keep(&Run::load(&first).unwrap(), &first).unwrap();
    let rows = fs::read(first.join("latency.csv")).unwrap();
    let told = fs::read_to_string(first.join("REPORT.md")).unwrap();
    let newest = published(results, 2, "a");
    let whole = names(&newest);
    let error = check(results).unwrap_err().to_string();
    assert!(
        error.contains("only the newest run keeps its page"),
        "{error}"
    );

    // Its text stays, so it needs no history.
    let removed = trim(results, None, never).unwrap();
    assert_eq!(
        removed,
        [format!("the page and the charts of {}", first.display())]
    );
    check(results).unwrap();
    assert_eq!(names(&newest), whole);
    assert!(newest.join("report.html").is_file());
    let left = names(&first);
    let is_page =
        |name: &String| name.ends_with(".svg") || name.ends_with(".html") || name == "COMPARE.md";
    assert!(!left.iter().any(is_page), "{left:?}");
    assert_eq!(
        names(&first.join("redis")),
        ["README.md", "environment.json", "redis.csv"]
    );
    for page in ["README.md", "REPORT.md", "redis/README.md"] {
        for file in linked(&first.join(page)) {
            assert!(file.is_file(), "{page} links to {}", file.display());
        }
    }
    let redis = fs::read_to_string(first.join("redis/README.md")).unwrap();
    assert_eq!(redis, "# Redis\n\nThe end.\n");
    // Nothing else of the report is lost.
    let now = fs::read_to_string(first.join("REPORT.md")).unwrap();
    let lines = told
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("!["));
    assert!(lines.eq(now.lines().filter(|line| !line.is_empty())));
    assert_eq!(fs::read(first.join("latency.csv")).unwrap(), rows);
    Run::load(&first).unwrap();
    assert_eq!(trim(results, None, never).unwrap(), [""; 0]);
}

#[test]
fn the_oldest_run_of_four_is_removed() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path();
    for day in [3, 1, 4, 2] {
        published(results, day, "a");
    }
    trim(results, None, always).unwrap();
    check(results).unwrap();
    assert_eq!(
        names(results),
        ["2024-05-02-a", "2024-05-03-a", "2024-05-04-a"]
    );
}

#[test]
fn a_run_outside_the_history_is_not_removed() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path();
    for day in 1..=4 {
        published(results, day, "a");
    }
    trim(results, None, never).unwrap();
    assert_eq!(names(results).len(), 4);
    let error = check(results).unwrap_err().to_string();
    assert!(error.contains("holds 4 runs"), "{error}");
    let oldest = results.join("2024-05-01-a");
    let command = format!("`git rm -r {}`", oldest.display());
    assert!(error.contains(&command), "{error}");
    // The next oldest goes in its place.
    trim(results, None, |folder| folder != oldest).unwrap();
    assert_eq!(
        names(results),
        ["2024-05-01-a", "2024-05-03-a", "2024-05-04-a"]
    );
}

#[test]
fn the_run_compared_with_and_other_folders_are_not_removed() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path();
    fs::create_dir(results.join("2020-01-01-replay")).unwrap();
    fs::write(results.join("2020-01-01-replay/README.md"), "").unwrap();
    for day in 1..=3 {
        published(results, day, "a");
    }
    let first = results.join("2024-05-01-a");
    trim(results, Some(&first.join("../2024-05-01-a")), always).unwrap();
    check(results).unwrap();
    assert_eq!(
        names(results),
        ["2020-01-01-replay", "2024-05-01-a", "2024-05-03-a"]
    );
}

#[test]
fn too_many_files_or_bytes_remove_the_oldest_run() {
    for (files, bytes) in [(100, 0), (1, 3_500_000)] {
        let results = tempfile::tempdir().unwrap();
        let results = results.path();
        for day in 1..=2 {
            let run = published(results, day, "a");
            for nth in 0..files {
                fs::write(run.join(format!("{nth}.csv")), vec![b' '; bytes]).unwrap();
            }
        }
        trim(results, None, never).unwrap();
        let error = check(results).unwrap_err().to_string();
        assert!(error.contains("holds 2 runs"), "{error}");
        trim(results, None, always).unwrap();
        check(results).unwrap();
        assert_eq!(names(results), ["2024-05-02-a"]);
    }
}

#[test]
fn what_the_benches_recorded_last_does_not_count() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path();
    published(results, 1, "a");
    for folder in ["latest", "latest-redis", ".run-1.tmp"] {
        fs::create_dir(results.join(folder)).unwrap();
        fs::write(results.join(folder).join("a.csv"), vec![b' '; 5_900_000]).unwrap();
    }
    trim(results, None, always).unwrap();
    check(results).unwrap();
    assert_eq!(names(results).len(), 4);
}

#[test]
fn only_a_committed_unchanged_folder_is_in_the_history() {
    let repository = tempfile::tempdir().unwrap();
    let run = repository.path().join("run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("a"), "a").unwrap();
    assert!(!in_history(&run), "there is no repository");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]);
        git.args(["-c", "commit.gpgsign=false"]).args(arguments);
        let done = git.current_dir(repository.path()).output();
        done.is_ok_and(|output| output.status.success())
    };
    if !git(&["init"]) {
        eprintln!("skipped: there is no git");
        return;
    }
    assert!(!in_history(&run), "nothing is tracked");
    assert!(git(&["add", "."]));
    assert!(!in_history(&run), "nothing is committed");
    assert!(git(&["commit", "-m", "a"]));
    assert!(in_history(&run));
    fs::write(run.join("b"), "b").unwrap();
    assert!(!in_history(&run), "a file is new");
    fs::remove_file(run.join("b")).unwrap();
    fs::write(run.join("a"), "b").unwrap();
    assert!(!in_history(&run), "a file is changed");
}
