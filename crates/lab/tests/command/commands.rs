//! `lab report`, `lab compare` and `lab publish` as they are typed.

use std::process::{Command, Output, Stdio};

use crate::recorded;

fn lab(arguments: &[&str], results: &std::path::Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(arguments)
        .env("WINDOWPANE_RESULTS", results)
        .output()
        .unwrap()
}

#[test]
fn a_folder_without_a_run_is_one_clear_line_and_status_2() {
    let results = tempfile::tempdir().unwrap();
    for arguments in [
        vec!["report"],
        vec!["report", "/nowhere"],
        vec!["compare", "/nowhere", "/nowhere"],
        vec!["publish"],
    ] {
        let output = lab(&arguments, results.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("holds no run"), "{error}");
    }
}

#[test]
fn a_run_is_rendered_and_compared_with_itself() {
    let results = tempfile::tempdir().unwrap();
    let run = results.path().join("run");
    std::fs::create_dir(&run).unwrap();
    recorded::write(&[], &run);
    let run = run.to_str().unwrap();
    let output = lab(&["report", run], results.path());
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && told.contains("cas-ring"),
        "{told}"
    );
    assert!(
        told.trim_end().ends_with("REPORT.md") && told.contains("run/report.html"),
        "the report's place comes last: {told}"
    );
    let output = lab(&["compare", run, run], results.path());
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(told.starts_with("Same commit. In "), "{told}");

    let out = results.path().join("out.md");
    let out = out.to_str().unwrap();
    let output = lab(
        &["compare", run, run, "--markdown", out, "--json", "-"],
        results.path(),
    );
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "windowpane-compare/2");
    assert_eq!(json["same_commit"], "yes");
    let rows = json["rows"].as_array().unwrap();
    let count = |verdict: &str| json["all"][verdict].as_u64().unwrap();
    assert_eq!(
        rows.len() as u64,
        count("equal") + count("cannot_tell") + count("cannot_be_compared")
    );
    let throughput = rows.iter().find(|row| row["kind"] == "throughput").unwrap();
    assert!(["equal", "cannot-tell"].contains(&throughput["verdict"].as_str().unwrap()));
    assert_eq!(throughput["ratio"], 1.0);
    let written = std::fs::read_to_string(out).unwrap();
    assert!(written.contains("| throughput | 100 % |"), "{written}");

    let output = lab(
        &["compare", run, run, "--markdown", "-", "--json", "-"],
        results.path(),
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_run_is_published_with_its_comparison_or_not_at_all() {
    let workspace = tempfile::tempdir().unwrap();
    let place = |name: &str| workspace.path().join(name);
    std::fs::create_dir_all(place("crates/windowpane")).unwrap();
    std::fs::write(place("Cargo.lock"), "").unwrap();
    for page in ["README.md", "crates/windowpane/WHICH.md"] {
        let region = "<!-- figures:begin -->\n<!-- figures:end -->\n";
        std::fs::write(place(page), region).unwrap();
    }
    let results = place("results");
    for run in ["first", "latest"] {
        std::fs::create_dir_all(results.join(run)).unwrap();
        recorded::write(&[], &results.join(run));
    }
    let environment = results.join("first/environment.json");
    let text = std::fs::read_to_string(&environment).unwrap();
    std::fs::write(&environment, text.replace("2024-05-12", "2024-05-11")).unwrap();
    std::fs::write(results.join("first/report.html"), "").unwrap();
    let publish = |against: &str| {
        Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(["publish", "--name", "x", "--against", against])
            .current_dir(workspace.path())
            .env("WINDOWPANE_RESULTS", &results)
            .output()
            .unwrap()
    };
    let published = results.join("2024-05-12-x");
    let output = publish("results/nothing");
    assert_eq!(output.status.code(), Some(2));
    assert!(!published.exists());

    let output = publish("results/first");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    let kept = std::fs::read_to_string(published.join("COMPARE.md")).unwrap();
    assert!(kept.contains("Same commit. In "), "{kept}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("removed the page and the charts of "),
        "{told}"
    );
    assert!(!results.join("first/report.html").exists());
    assert!(published.join("report.html").is_file());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let results = tempfile::tempdir().unwrap();
    let run = results.path().join("run");
    std::fs::create_dir(&run).unwrap();
    recorded::write(&[], &run);
    let run = run.to_str().unwrap();
    for arguments in [vec!["report", run], vec!["compare", run, run]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(&arguments)
            .env("WINDOWPANE_RESULTS", results.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {error}");
        assert_eq!(error, "", "{arguments:?}");
    }
}

#[test]
fn a_soak_tells_how_long_it_was_and_an_unwritable_log_before_it_begins() {
    let place = tempfile::tempdir().unwrap();
    let log = place.path().join("soak.txt");
    let log = log.to_str().unwrap();
    let output = lab(&["soak", "--for", "20ms", "--log", log], place.path());
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("No promise was broken in 20ms."), "{told}");
    let logged = std::fs::read_to_string(log).unwrap();
    assert!(
        logged.starts_with("lab soak --for 20ms --seed 1\n"),
        "{logged}"
    );
    assert!(logged.ends_with(&told), "{logged}");

    let nowhere = place.path().join("no/such/soak.txt");
    let nowhere = nowhere.to_str().unwrap();
    // If it soaked first, this would not end for an hour.
    let output = lab(&["soak", "--for", "1h", "--log", nowhere], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("cannot write"), "{error}");
}
