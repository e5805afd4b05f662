//! The stated needs of `needs.toml`, asked of `lab choose`, of WHICH.md and of the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use scraper::{Html, Selector};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Needs {
    need: Vec<Need>,
}

/// One need, its answer and the reason.
#[derive(Deserialize)]
struct Need {
    ask: String,
    answer: String,
    store: Option<String>,
    row: Option<String>,
    reason: String,
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn needs() -> Vec<Need> {
    let text = include_str!("../../needs.toml");
    toml::from_str::<Needs>(text).unwrap().need
}

/// The newest published run, in a folder of its own without what this machine measured.
fn published() -> PathBuf {
    let entries = fs::read_dir(workspace().join("results")).unwrap();
    let mut runs = entries.map(|entry| entry.unwrap().path());
    let newest = runs.find(|run| run.join("report.html").is_file() && !run.ends_with("latest"));
    newest.expect("no published run has a page")
}

fn choose(need: &Need, options: &str) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["choose", "--from"])
        .arg(published())
        .args(need.ask.split_whitespace())
        .args(options.split_whitespace())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text, output.status.code())
}

#[test]
fn choose_answers_every_stated_need() {
    let needs = needs();
    assert!(needs.len() >= 25);
    for need in needs {
        assert!(!need.reason.is_empty());
        let (text, status) = choose(&need, "--json");
        let answer: Value = serde_json::from_str(&text).unwrap();
        let first = &answer["ranking"][0];
        if need.answer == "none" {
            assert_eq!((status, first), (Some(1), &Value::Null), "{}", need.ask);
            continue;
        }
        assert_eq!(
            first["limiter"], need.answer,
            "{}: {}",
            need.ask, need.reason
        );
        assert_eq!(first["row"].as_str(), need.row.as_deref(), "{}", need.ask);
        let store = first["store"]
            .as_str()
            .and_then(|store| store.split('/').next());
        assert_eq!(store, need.store.as_deref(), "{}", need.ask);
        assert!(!answer["code"].as_str().unwrap().is_empty(), "{}", need.ask);
    }
}

#[test]
fn an_answer_has_at_most_fifteen_lines() {
    for need in needs() {
        let (text, _) = choose(&need, "");
        assert!(
            (3..=15).contains(&text.lines().count()),
            "{}:\n{text}",
            need.ask
        );
    }
}

/// The rows of WHICH.md in order, by the names of `needs.toml`.
const ROWS: [&str; 6] = [
    "machines",
    "smooth",
    "log",
    "exact",
    "never-above",
    "estimate",
];

/// The limiters that each row of WHICH.md takes.
fn which() -> Vec<Vec<String>> {
    let page = fs::read_to_string(workspace().join("crates/windowpane/WHICH.md")).unwrap();
    let mut rows = Vec::new();
    for (nth, _) in ROWS.iter().enumerate() {
        let start = format!("| {} | ", nth + 1);
        let row = page.lines().find(|line| line.starts_with(&start)).unwrap();
        let taken = row.split(" | ").nth(2).unwrap();
        let names = taken.split("[`").skip(1);
        rows.push(
            names
                .map(|name| name.split('`').next().unwrap().to_string())
                .collect(),
        );
    }
    rows
}

/// The value of an option of a need.
fn option<'a>(need: &'a Need, name: &str) -> Option<&'a str> {
    let mut words = need.ask.split_whitespace();
    words.find(|word| *word == name)?;
    Some(words.next().unwrap_or_default())
}

fn number(need: &Need, name: &str) -> f64 {
    let digits: String = option(need, name)
        .unwrap_or("1")
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap()
}

/// What a reader of WHICH.md takes: the first row whose question the need answers with yes.
fn read(need: &Need) -> usize {
    let limit = number(need, "--quota");
    let keys = number(need, "--keys");
    let all = |each: f64| each * keys;
    let memory = option(need, "--memory").map_or(f64::INFINITY, |text| {
        windowpane_lab_report::choose::need::parse_bytes(text).unwrap() as f64
    });
    let tolerates = need.ask.contains("--never-over-admit") || need.ask.contains("--max-overshoot");
    let ring = all(8.0 * limit + 256.0);
    // An estimate is worth it only if it saves 1 MB in all.
    let is_affordable = ring <= memory && (!tolerates || ring <= 1_000_000.0);
    let never_above = !need.ask.contains("--max-overshoot 100%") && all(752.0) <= memory;
    let counts =
        need.ask.contains("req/") || need.ask.contains("--cost") || need.ask.contains("--used");
    let yes = [
        number(need, "--machines") > 1.0,
        need.ask.contains("--smooth"),
        counts && !need.ask.contains("--lock-free"),
        is_affordable,
        never_above,
        true,
    ];
    yes.into_iter().position(|yes| yes).unwrap()
}

#[test]
fn a_reader_of_which_takes_the_stated_answer() {
    let which = which();
    for need in needs().iter().filter(|need| need.answer != "none") {
        let row = read(need);
        assert_eq!(Some(ROWS[row]), need.row.as_deref(), "{}", need.ask);
        assert!(
            which[row].contains(&need.answer),
            "{}: {:?}",
            need.ask,
            which[row]
        );
    }
}

#[test]
fn the_report_recommends_the_stated_answer() {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(published()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    windowpane_lab_report::render(copy.path()).unwrap();
    let page = fs::read_to_string(copy.path().join("report.html")).unwrap();
    let page = Html::parse_document(&page);
    for need in needs() {
        let Some(row) = &need.row else { continue };
        let item = Selector::parse(&format!("#advice-{row} code")).unwrap();
        let named: Vec<String> = page
            .select(&item)
            .map(|code| code.text().collect())
            .collect();
        let place = named.iter().position(|name| *name == need.answer);
        // Of machines one answer of three is first, elsewhere the answer itself.
        let most = if row == "machines" { 2 } else { 0 };
        assert!(
            place.is_some_and(|place| place <= most),
            "{}: {named:?}",
            need.ask
        );
    }
}
