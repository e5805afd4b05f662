//! The published runs of this repository.

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag};
use windowpane_lab_ground::latency::Percentiles;
use windowpane_lab_measure::folder;
use windowpane_lab_measure::recording::file_name;
use windowpane_lab_report::Run;
use windowpane_lab_report::kept::{check, is_listed};

use crate::histograms;

fn results() -> PathBuf {
    folder::workspace().join("results")
}

/// The folders of the published runs.
fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(results()).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    let is_run = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        path.is_dir() && !name.starts_with('.') && !name.starts_with("latest")
    };
    folders.filter(is_run).collect()
}

/// All files below a folder whose path satisfies `wanted`; build output is left out.
fn files(folder: &Path, wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap_or_default();
        let is_output = name.starts_with('.') || name.starts_with("target");
        match path.is_dir() {
            true if is_output || name.starts_with("latest") => {}
            true => files(&path, wanted, found),
            false if wanted(&path) => found.push(path),
            false => {}
        }
    }
}

#[test]
fn results_keeps_three_runs_150_files_and_6_mb() {
    check(&results()).unwrap();
    let runs = folders();
    assert!((1..=3).contains(&runs.len()), "{runs:?}");
    let mut kept = vec![results().join("README.md")];
    for run in &runs {
        files(run, &|_| true, &mut kept);
    }
    assert!(kept.len() <= 150, "{} files", kept.len());
    let bytes = kept.iter().map(|file| fs::metadata(file).unwrap().len());
    let bytes: u64 = bytes.sum();
    assert!(bytes <= 6_000_000, "{bytes} bytes");
    for file in kept {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(is_listed(name), "{}", file.display());
    }
}

#[test]
fn histograms_hold_the_percentiles_of_all_rounds() {
    let mut checked = 0;
    for folder in folders() {
        if !folder.join("environment.json").is_file() {
            continue;
        }
        let run = Run::load(&folder).unwrap();
        let mut found = histograms::read(&folder);
        for row in run.latency.iter().filter(|row| row.round == 0) {
            let name = file_name(row);
            let times = found.remove(&name);
            let times = times.unwrap_or_else(|| panic!("no histogram of {name}"));
            assert_eq!(times.len(), row.samples, "{name}");
            let expected = Percentiles {
                p50: row.p50,
                p90: row.p90,
                p99: row.p99,
                p99_9: row.p99_9,
                p99_99: row.p99_99,
                max: row.max,
            };
            assert_eq!(Percentiles::of(&times), expected, "{name}");
            checked += 1;
        }
        assert!(found.is_empty(), "no row of {:?}", found.keys());
    }
    assert!(checked > 0);
}

#[test]
fn links_of_every_page_lead_to_files() {
    let root = folder::workspace();
    let mut pages = Vec::new();
    files(
        &root,
        &|path| path.extension().is_some_and(|e| e == "md"),
        &mut pages,
    );
    let mut checked = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for event in Parser::new(&text) {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            else {
                continue;
            };
            let path = dest_url.split('#').next().unwrap();
            // Addresses, and names of items in the pages that are documentation of a crate, too.
            if path.contains(':') || !path.contains(['/', '.']) {
                continue;
            }
            let target = page.parent().unwrap().join(path);
            assert!(target.exists(), "{}: {dest_url}", page.display());
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} links");
}

/// The names of runs in a text, `2026-11-30-machine` for example.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    words.filter(|word| {
        let shape: String = word
            .chars()
            .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
            .collect();
        let rest = shape.strip_prefix("0000-00-00-").unwrap_or_default();
        rest.starts_with(|letter: char| letter.is_ascii_lowercase())
    })
}

#[test]
fn every_run_that_a_page_names_is_published() {
    let text = "in `results/2026-11-30-a-b`, at 2026-11-30T10:00, of 2026-11-30-2";
    assert_eq!(named(text).collect::<Vec<_>>(), ["2026-11-30-a-b"]);

    let root = folder::workspace();
    let mut texts = Vec::new();
    files(
        &root,
        &|path| path.extension().is_some_and(|e| e == "md"),
        &mut texts,
    );
    let pages = texts.len();
    files(
        &root.join("crates"),
        &|path| path.extension().is_some_and(|e| e == "rs"),
        &mut texts,
    );
    let mut checked = 0;
    for (nth, file) in texts.iter().enumerate() {
        if file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        for name in named(&text) {
            // Code names runs of its own making; in a path, the run is meant.
            if nth >= pages && !text.contains(&format!("results/{name}")) {
                continue;
            }
            assert!(results().join(name).is_dir(), "{}: {name}", file.display());
            checked += 1;
        }
    }
    assert!(checked > 0);
}
