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

fn names(choice: &Value) -> Vec<String> {
    let places = choice["ranking"].as_array().unwrap();
    places
        .iter()
        .map(|place| place["limiter"].as_str().unwrap().to_string())
        .collect()
}

fn reasons(choice: &Value, limiter: &str) -> String {
    let ruled_out = choice["ruled_out"].as_array().unwrap();
    let found = ruled_out.iter().find(|one| one["limiter"] == limiter);
    found.unwrap_or_else(|| panic!("{limiter} is not ruled out"))["reasons"].to_string()
}

#[test]
fn without_demands_the_exact_come_first_then_those_that_keep_the_quota() {
    let results = Results::with("latest", &[("cas-ring", 100.0), ("gcra", 1_000.0)]);
    let choice = results.json("--quota 1000/60s --keys 50000 --threads 2");
    assert_eq!(choice["schema"], "windowpane-choose/1");
    // Whose clock cannot be set holds the quota as well.
    assert_eq!(choice["ruled_out"], Value::Array(Vec::new()), "{choice}");
    let places = choice["ranking"].as_array().unwrap();
    assert_eq!(places[0]["limiter"], "cas-ring");
    let class = |place: &Value| match (&place["exact"], &place["keeps_quota"]) {
        (Value::Bool(true), _) => 0,
        (_, Value::Bool(true)) => 1,
        _ => 2,
    };
    let classes: Vec<i32> = places.iter().map(class).collect();
    assert!(
        classes.is_sorted() && classes.contains(&1) && classes.contains(&2),
        "{classes:?}"
    );
    assert!(
        places
            .iter()
            .all(|place| !place["reason"].as_str().unwrap().is_empty())
    );
    let code = choice["code"].as_str().unwrap();
    assert!(
        code.contains("CasRing") && code.contains("max_keys(50_000)"),
        "{code}"
    );
}

#[test]
fn who_says_how_much_accuracy_is_enough_gets_the_fastest_of_what_is_left() {
    let results = Results::with("latest", &[("cas-ring", 100.0), ("gcra", 1_000.0)]);
    // In this run, what is approximate held 7 % above the limit.
    let loose = results.json("--quota 1000/60s --max-overshoot 7%");
    assert_eq!(names(&loose)[0], "gcra");
    let strict = results.json("--quota 1000/60s --max-overshoot 6.9%");
    assert_eq!(names(&strict)[0], "cas-ring");
    assert!(reasons(&strict, "gcra").contains("7.00 %"), "{strict}");
    let never = results.json("--quota 1000/60s --never-over-admit");
    assert!(names(&never).contains(&"bucket-ring".to_string()));
    assert!(
        reasons(&never, "gcra").contains("can let more through"),
        "{never}"
    );
}

#[test]
fn memory_is_that_of_all_keys_and_rules_out_what_takes_more() {
    let results = Results::with("latest", &[]);
    // The run says 64 bytes and 1,000 more for each contestant before one.
    let choice = results.json("--quota 1000/60s --keys 10 --memory 25kB");
    for place in choice["ranking"].as_array().unwrap() {
        let bytes = place["bytes_per_key"].as_u64().unwrap();
        assert!(bytes * 10 <= 25_000, "{place}");
        assert_eq!((bytes - 64) % 1_000, 0, "{place}");
        assert_eq!(place["bytes_source"], "run");
    }
    assert_eq!(choice["ranking"].as_array().unwrap().len(), 3, "{choice}");
    assert!(
        reasons(&choice, "packed-counter").contains("takes 30.6 kB for 10 keys"),
        "{choice}"
    );
}

#[test]
fn at_a_limit_that_the_run_has_not_memory_is_counted_and_above_a_million_estimated() {
    let results = Results::with("latest", &[]);
    let of = |choice: &Value, limiter: &str| {
        let places = choice["ranking"].as_array().unwrap();
        let place = places
            .iter()
            .find(|place| place["limiter"] == limiter)
            .unwrap();
        (
            place["bytes_per_key"].as_u64().unwrap(),
            place["bytes_source"].as_str().unwrap().to_string(),
        )
    };
    let choice = results.json("--quota 500/60s");
    let (bytes, source) = of(&choice, "cas-ring");
    assert!(
        (4_000..=4_288).contains(&bytes) && source == "counted",
        "{bytes} {source}"
    );
    let (bytes, _) = of(&choice, "mutex-log");
    assert!((8_192..=8_448).contains(&bytes), "{bytes}");
    let choice = results.json("--quota 4000000/60s");
    // What is allocated when it is built is counted, what grows with use is estimated.
    assert_eq!(of(&choice, "cas-ring"), (32_000_256, "counted".to_string()));
    let (bytes, source) = of(&choice, "mutex-log");
    assert!(
        (64_000_000..=68_000_000).contains(&bytes) && source == "estimated",
        "{bytes} {source}"
    );
    assert_eq!(of(&choice, "bucket-ring").1, "counted");
}

#[test]
fn shares_are_of_traffic_of_one_server_and_not_of_inputs_that_were_searched_for() {
    let results = Results::with("latest", &[]);
    let choice = results.json("--quota 1000/60s");
    let worst = |limiter: &str| {
        let places = choice["ranking"].as_array().unwrap();
        let place = places.iter().find(|place| place["limiter"] == limiter);
        place.unwrap()["worst_false_denies"].as_f64().unwrap()
    };
    // 14 of 10,000 requests; half on two servers, and two fifths of an input that was searched for.
    assert!((worst("gcra") - 0.0014).abs() < 1e-9, "{choice}");
    assert_eq!(worst("mutex-log"), 0.0);
}

#[test]
fn memory_that_is_not_known_is_told_and_rules_out_where_it_is_asked_for() {
    let results = Results::with("latest", &[]);
    // A limit that the run has not; trypema's clock cannot be set, so nothing is counted.
    let choice = results.json("--quota 500/60s");
    let places = choice["ranking"].as_array().unwrap();
    let trypema = places.iter().find(|place| place["limiter"] == "trypema");
    let trypema = trypema.unwrap_or_else(|| panic!("{choice}"));
    assert_eq!(trypema["bytes_per_key"], Value::Null);
    assert_eq!(trypema["bytes_source"], "unknown");
    let choice = results.json("--quota 500/60s --memory 1GB");
    assert!(
        reasons(&choice, "trypema").contains("memory is not known"),
        "{choice}"
    );
    let part = results.json("--quota 500/1500ms");
    assert!(
        reasons(&part, "trypema").contains("not whole seconds"),
        "{part}"
    );
}

#[test]
fn several_quotas_costs_and_requests_rule_out_who_cannot() {
    let results = Results::with("latest", &[]);
    let several = results.json("--quota 100/60s --quota 10/1s");
    assert!(
        reasons(&several, "governor").contains("holds one"),
        "{several}"
    );
    assert!(
        reasons(&several, "packed-counter").contains("holds one quota"),
        "{several}"
    );
    assert!(names(&several).contains(&"cas-ring".to_string()));
    assert!(
        several["code"]
            .as_str()
            .unwrap()
            .contains(r#"["100/60s", "10/1s"]"#)
    );
    let requests = results.json("--quota 60req/60s --costs");
    assert!(
        reasons(&requests, "cas-ring").contains("counts permits"),
        "{requests}"
    );
    assert!(
        reasons(&requests, "governor").contains("count requests"),
        "{requests}"
    );
    let costs = results.json("--quota 1000/60s --costs");
    assert!(
        reasons(&costs, "plain-log").contains("cannot take costs"),
        "{costs}"
    );
    // A ring takes a slot a permit: it comes after the other exact ones, however fast it is.
    let fast = Results::with("latest", &[("cas-ring", 100.0)]);
    assert_ne!(names(&fast.json("--quota 1000/60s --costs"))[0], "cas-ring");
}

#[test]
fn without_a_run_of_this_machine_the_newest_published_answers_and_it_says_so() {
    let results = Results::with("2024-05-12-elsewhere", &[]);
    let note = |choice: &Value| {
        choice["notes"]
            .to_string()
            .contains("no run of this machine")
    };
    let choice = results.json("--quota 1000/60s");
    assert!(
        note(&choice)
            && choice["run"]["folder"]
                .as_str()
                .unwrap()
                .ends_with("elsewhere")
    );
    let latest = Results::with("latest", &[]);
    assert!(!note(&latest.json("--quota 1000/60s")));
    let from = results.0.path().join("2024-05-12-elsewhere");
    let choice = latest.json(&format!("--quota 1000/60s --from {}", from.display()));
    assert!(
        choice["run"]["folder"]
            .as_str()
            .unwrap()
            .ends_with("elsewhere")
    );
}

#[test]
fn figures_of_fewer_threads_stand_in_and_it_says_so() {
    let results = Results::with("latest", &[]);
    let choice = results.json("--quota 1000/60s --threads 64");
    assert_eq!(choice["threads"], 4);
    let notes = choice["notes"].to_string();
    assert!(
        notes.contains("no figures for 64 threads") && notes.contains("oversubscribed"),
        "{notes}"
    );
}

#[test]
fn the_text_says_all_of_it() {
    let results = Results::with("latest", &[("cas-ring", 100.0)]);
    let output = results
        .choose("--quota 1000/60s --keys 50000 --threads 2 --memory 500MB --max-overshoot 1%");
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "1000/60s for 50,000 keys, 2 threads, at most 1.00 % above it, in 500 MB",
        "Imagined 9000, 2 cores",
        " 1. cas-ring: exact; the fastest of those that fit with 2 threads",
        "ruled out\n",
        "to know\n",
        "use windowpane::{AcquireError, CasRing",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in\n{text}");
    }
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
        text.contains("nobody fits") && !text.contains("fn main"),
        "{text}"
    );
}

#[test]
fn every_field_of_the_json_is_documented() {
    let results = Results::with("latest", &[]);
    let choice = results.json("--quota 1000/60s --memory 25kB");
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
