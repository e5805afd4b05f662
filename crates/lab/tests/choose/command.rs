//! `lab choose` as it is typed.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::recorded;

/// A folder of runs.
struct Results(TempDir);

impl Results {
    fn new() -> Results {
        Results(tempfile::tempdir().unwrap())
    }

    /// One with a run of that name, in which the named contestants are so many times as fast.
    fn with(name: &str, speed: &[(&str, f64)]) -> Results {
        let results = Results::new();
        let run = results.0.path().join(name);
        std::fs::create_dir(&run).unwrap();
        recorded::write(speed, &run);
        results
    }

    fn choose(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_lab"))
            .arg("choose")
            .args(arguments.split_whitespace())
            .env("WINDOWPANE_RESULTS", self.0.path())
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &str) -> Value {
        let output = self.choose(&format!("{arguments} --json"));
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn first(answer: &Value) -> &str {
    answer["ranking"][0]["limiter"].as_str().unwrap()
}

fn reason(answer: &Value, limiter: &str) -> String {
    let ruled_out = answer["ruled_out"].as_array().unwrap();
    let found = ruled_out.iter().find(|one| one["limiter"] == limiter);
    found.unwrap_or_else(|| panic!("{limiter} is not ruled out"))["reason"].to_string()
}

#[test]
fn an_exhibit_is_never_recommended_however_fast() {
    let results = Results::with("latest", &[("plain-log", 1_000.0), ("cas-ring", 2.0)]);
    for ask in ["--quota 1000/60s", "--quota 1000/60s --keys 50000"] {
        let answer = results.json(ask);
        assert_eq!(first(&answer), "cas-ring", "{ask}");
        assert!(
            !answer["ranking"].to_string().contains("plain-log"),
            "{ask}"
        );
    }
    let answer = results.json("--quota 1000/60s");
    assert!(reason(&answer, "plain-log").contains("shown as a mistake"));
}

#[test]
fn a_difference_below_the_bound_changes_nothing_and_one_above_does() {
    // Without these factors mutex-log makes 10 and cas-ring 16 million decisions a second.
    let level = Results::with("latest", &[("mutex-log", 5.0), ("cas-ring", 2.0)]);
    assert_eq!(first(&level.json("--quota 1000/60s")), "cas-ring");
    // A lock is taken only for a limiter shown to be twice as fast.
    let fast = Results::with("latest", &[("mutex-log", 10.0), ("cas-ring", 2.0)]);
    assert_eq!(first(&fast.json("--quota 1000/60s")), "mutex-log");
}

#[test]
fn memory_rules_out_and_only_what_matters_of_it_ranks() {
    let results = Results::with("latest", &[("cas-ring", 2.0)]);
    let answer = results.json("--quota 1000/60s --memory 500B --exact");
    assert!(reason(&answer, "cas-ring").contains("takes"), "{answer}");
    // The run says 64 bytes for mutex-log and 2,064 for cas-ring.
    let answer = results.json("--quota 1000/60s");
    assert_eq!(first(&answer), "cas-ring");
}

#[test]
fn quotas_costs_and_machines_rule_out_what_cannot_hold_them() {
    let results = Results::with("latest", &[]);
    let several = results.json("--quota 100/60s --quota 10/1s");
    assert!(reason(&several, "governor").contains("holds one"));
    assert!(
        several["code"]
            .as_str()
            .unwrap()
            .contains(r#"["100/60s", "10/1s"]"#)
    );
    let requests = results.json("--quota 60req/60s --cost 10");
    assert!(reason(&requests, "cas-ring").contains("counts permits"));
    assert!(reason(&requests, "governor").contains("count requests"));
    let machines = results.json("--quota 1000/60s --machines 4");
    assert_eq!(first(&machines), "redis/log");
    assert!(reason(&machines, "cas-ring").contains("allows 4000"));
    let bound = results.json("--quota 1000/60s --max-overshoot 50%");
    assert!(reason(&bound, "packed-counter").contains("twice the limit"));
    let locks = results.json("--quota 1000/60s --lock-free");
    assert!(reason(&locks, "mutex-log").contains("has a lock"));
}

#[test]
fn doubts_name_a_busy_short_foreign_and_old_run() {
    let results = Results::with("2024-05-12-elsewhere", &[]);
    let path = results
        .0
        .path()
        .join("2024-05-12-elsewhere/environment.json");
    let mut environment: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    environment["busy_percent"] = 40.0.into();
    environment["rounds"] = 1.into();
    environment["cores"] = 77.into();
    std::fs::write(&path, environment.to_string()).unwrap();
    let answer = results.json("--quota 1000/60s --threads 64");
    let doubts = answer["doubts"].to_string();
    for expected in [
        "this machine was not measured",
        "days old",
        "40 % busy",
        "1 rounds, and a comparison needs 6",
        "77 cores, this machine has",
        "no figures for 64 threads",
    ] {
        assert!(doubts.contains(expected), "`{expected}` is not in {doubts}");
    }
}

#[test]
fn the_table_of_what_nothing_beats_is_printed_on_request() {
    let results = Results::with("latest", &[]);
    let print = |ask: &str| String::from_utf8(results.choose(ask).stdout).unwrap();
    assert!(!print("--quota 1000/60s").contains("nothing beats"));
    let text = print("--quota 1000/60s --pareto");
    assert!(
        text.contains("what nothing beats") && text.contains("worst overshoot"),
        "{text}"
    );
}

#[test]
fn bad_input_is_status_2_and_no_fit_status_1() {
    let results = Results::with("latest", &[]);
    let empty = Results::new();
    let check = |results: &Results, arguments: &str, expected: &str| {
        let output = results.choose(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        assert!(error.contains(expected), "{arguments}: {error}");
        assert!(output.stdout.is_empty(), "{arguments}");
    };
    check(&results, "", "--quota");
    check(&results, "--quota nonsense", "malformed quota `nonsense`");
    check(&results, "--quota 1/0s", "a window of 0");
    check(&results, "--quota 1/1s --keys 0", "--keys");
    check(&results, "--quota 1/1s --threads 0", "--threads");
    check(&results, "--quota 1/1s --memory 1x", "expected bytes");
    check(
        &results,
        "--quota 1/1s --max-overshoot 1",
        "expected a share",
    );
    check(&results, "--quota 1/1s --from /nowhere", "holds no run");
    check(&empty, "--quota 1/1s", "expected one made by `cargo bench`");

    let broken = Results::with("latest", &[]);
    std::fs::write(
        broken.0.path().join("latest/throughput.csv"),
        "no,such\n1,2\n",
    )
    .unwrap();
    check(&broken, "--quota 1/1s", "throughput.csv");

    let output = results.choose("--quota 1000/60s --memory 1B");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("none fits") && !text.contains("use windowpane"),
        "{text}"
    );
}

#[test]
fn every_field_of_the_json_is_documented() {
    let results = Results::with("latest", &[]);
    let choice = results.json("--quota 1000/60s --exact");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("CHOOSE.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut fields = Vec::new();
    collect(&choice, &mut fields);
    assert!(fields.len() > 30, "{fields:?}");
    for field in fields {
        assert!(
            page.contains(&format!("`{field}`")),
            "`{field}` is not in CHOOSE.md"
        );
    }
}

fn collect(value: &Value, fields: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                fields.push(name.clone());
                collect(value, fields);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, fields)),
        _ => {}
    }
}
