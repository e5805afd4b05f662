//! Definitions of workloads: those that are there fit, malformed ones are told.

use std::collections::BTreeSet;
use std::path::Path;

use windowpane_lab_measure::definitions::{Definition, EMBEDDED, all, of_folder};

#[test]
fn every_file_of_the_folder_is_embedded_and_names_are_unique() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/definitions");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let embedded = EMBEDDED
        .iter()
        .map(|(file, _)| file.rsplit('/').next().unwrap().to_string());
    assert_eq!(files, embedded.collect());
    let names: BTreeSet<&str> = all().unwrap().iter().map(Definition::name).collect();
    assert_eq!(names.len(), all().unwrap().len());
}

/// A definition that is right, to be made wrong.
const RIGHT: &str = r#"
name = "mine"
workload = "accuracy"
about = "of my own"
quota = "100/10s"
servers = { count = 2, balancing = "in turn" }
clients = { count = 3, when_denied = { retry_every = "1s", at_most = 3 } }
arrivals = { process = "poisson", per_second = 11.0, for = "1m" }
expected = [{ rule = "exact", false_denies = 0 }]
"#;

fn error(text: &str) -> String {
    let error = Definition::read("mine.toml", text).unwrap_err().to_string();
    assert!(error.starts_with("mine.toml: "), "{error}");
    error
}

#[test]
fn a_malformed_definition_is_told_with_its_file_and_what_was_expected() {
    assert_eq!(Definition::read("mine.toml", RIGHT).unwrap().name(), "mine");
    for (right, wrong, told) in [
        (
            "\"accuracy\"",
            "\"precision\"",
            "expected `speed`, `accuracy`, `keyed` or `attack`",
        ),
        ("\"100/10s\"", "\"many\"", "many"),
        ("\"100/10s\"", "\"0/10s\"", "at least 1"),
        ("\"100/10s\"", "\"101/10s\"", "multiple"),
        ("\"poisson\"", "\"fish\"", "fish"),
        ("11.0", "-11.0", "positive rate"),
        ("11.0", "1e12", "at most"),
        ("\"1m\"", "\"1 minute\"", "1 minute"),
        ("\"in turn\"", "[1]", "a weight"),
        ("\"in turn\"", "\"at will\"", "balancing"),
        ("at_most = 3", "at_most = 0", "at_most"),
        (
            "retry_every = \"1s\"",
            "retry_every = \"0s\"",
            "retry_every",
        ),
        ("count = 3,", "count = 0,", "0 clients"),
        ("\"exact\"", "\"perfect\"", "perfect"),
        ("about = ", "abuot = ", "abuot"),
        (
            "per_second = 11.0",
            "per_second = 11.0, per_minute = 1",
            "per_minute",
        ),
    ] {
        let text = RIGHT.replace(right, wrong);
        assert_ne!(text, RIGHT, "{right}");
        let error = error(&text);
        assert!(error.contains(told), "{wrong}: {error}");
    }
    assert!(error("name = ").contains("line 1"));
}

#[test]
fn what_a_process_makes_nothing_of_is_refused() {
    let one = RIGHT
        .replace("count = 3, ", "")
        .replace("count = 2", "count = 1");
    let poisson = r#"process = "poisson", per_second = 11.0, for = "1m""#;
    let on_off = r#"process = "on-off", on = "1s", off = "1s", per_second = 11.0, for = "1m""#;
    let listed = r#"process = "listed", bursts = [{ at = "1s", count = 3 }]"#;
    let search = r#"process = "search", tries = 1, bursts = 1, windows = 2"#;
    let waits = r#"when_denied = { retry_every = "1s", at_most = 3 }"#;
    for (process, clients, told) in [
        (poisson, "count = 3, zipf = 1.0", None),
        (on_off, "count = 3", None),
        (
            on_off,
            "zipf = 1.0",
            Some("`zipf` and `attackers` say nothing"),
        ),
        (
            on_off,
            "attackers = { count = 1, share = 0.5 }",
            Some("`on-off`"),
        ),
        (listed, waits, None),
        (listed, "count = 3", Some("3 clients; expected 1")),
        (listed, "zipf = 1.0", Some("`listed`")),
        (search, "count = 1", None),
        (search, "count = 2", Some("2 clients; expected 1")),
        (
            search,
            "attackers = { count = 1, share = 0.5 }",
            Some("`search`"),
        ),
        (search, waits, Some("`when_denied` says nothing")),
    ] {
        let text = one.replace(poisson, process).replace(waits, clients);
        match told {
            None => assert_eq!(Definition::read("mine.toml", &text).unwrap().name(), "mine"),
            Some(told) => {
                let error = error(&text);
                assert!(error.contains(told), "{process}, {clients}: {error}");
            }
        }
    }
    let text = one.replace(poisson, search).replace(waits, "count = 1");
    let error = error(&text.replace("about =", "speed = true\nabout ="));
    assert!(error.contains("`search` has none"), "{error}");
}

#[test]
fn the_example_of_the_benches_page_is_a_definition() {
    let page = include_str!("../../../../benches/README.md");
    let example = page.split("```toml\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let read = Definition::read("lunch.toml", example).unwrap();
    assert_eq!(read.name(), "lunch");
}

#[test]
fn definitions_of_a_folder_of_ones_own_are_read_and_faults_name_their_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("b.toml"), RIGHT).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no definition").unwrap();
    let read = of_folder(folder.path()).unwrap();
    assert_eq!(read.len(), 1);
    std::fs::write(folder.path().join("a.toml"), "workload = 1").unwrap();
    let error = of_folder(folder.path()).unwrap_err().to_string();
    assert!(error.contains("a.toml"), "{error}");
    assert!(of_folder(&folder.path().join("nowhere")).is_err());
}
