//! `lab suggest`: a limit from a log, its outputs and its exit status.

use std::process::Stdio;

use scraper::{Html, Selector};

use super::support::{Folder, column};

/// Clients `a` to `j`, of which the n-th asks n times in one second; in the wrong order.
fn log() -> String {
    let mut log = String::from("time,key\n");
    for (client, count) in ('a'..='j').zip(1..) {
        for nth in (0..count).rev() {
            log += &format!("{},{client}\n", nth * 10);
        }
    }
    log
}

struct Said {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn suggest(folder: &Folder, arguments: &str) -> Said {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lab"))
        .arg("suggest")
        .args(arguments.split_whitespace())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        status: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

#[test]
fn the_least_limit_for_a_share_of_clients_with_all_outputs() {
    let folder = Folder::with("log.csv", log());
    let said = suggest(
        &folder,
        "--window 1s --target-clients 20% --keys-at-risk risk.csv --json out.json --report out.html log.csv",
    );
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    assert!(
        said.stderr.contains("decided in the order of time"),
        "{}",
        said.stderr
    );
    // `i` and `j` ask 9 and 10 times; 7 denies `h`, too.
    assert!(said.stdout.contains("8/1s"), "{}", said.stdout);
    let json: serde_json::Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(json["schema"], "windowpane-suggest/1");
    let window = &json["windows"][0];
    assert_eq!(window["busiest_window"], 10);
    for algorithm in window["algorithms"].as_array().unwrap() {
        if algorithm["exact"] == true {
            assert_eq!(algorithm["limit"], 8);
            assert_eq!(algorithm["denied"]["requests_denied"], 3);
            assert_eq!(algorithm["denied"]["clients_denied"], 2);
            assert_eq!(algorithm["denied"]["longest_block_ns"], 920_000_000);
        }
    }
    let risk = folder.read("risk.csv");
    assert_eq!(column(&risk, "key"), ["j", "i", "h", "g"]);
    assert_eq!(column(&risk, "denied"), ["2", "1", "0", "0"]);
    let page = Html::parse_document(&folder.read("out.html"));
    let svg = Selector::parse("section svg").unwrap();
    assert_eq!(page.select(&svg).count(), 2, "requests and clients denied");
    let verdict = Selector::parse("section[aria-labelledby=suggested] li").unwrap();
    let verdict: String = page.select(&verdict).next().unwrap().text().collect();
    assert!(
        verdict.starts_with("8/1s by mutex-log denies 3 (5.45 %)"),
        "{verdict}"
    );
}

#[test]
fn the_suggested_limit_denies_in_a_replay_what_it_says() {
    let folder = Folder::with("log.csv", log());
    let said = suggest(
        &folder,
        "--window 1s,30ms --target-requests 10% --json out.json log.csv",
    );
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    for window in json["windows"].as_array().unwrap() {
        let algorithms = window["algorithms"].as_array().unwrap();
        assert!(algorithms.len() >= 5);
        for of in algorithms {
            let quota = format!("{}/{}", of["limit"], window["window"].as_str().unwrap());
            let name = of["name"].as_str().unwrap();
            let arguments = format!("--quota {quota} --algorithm {name} --sort --json - log.csv");
            let replayed: serde_json::Value =
                serde_json::from_str(&folder.replay(&arguments).ok()).unwrap();
            let denied = &replayed["algorithms"][0]["denied"];
            assert_eq!(*denied, of["denied"]["requests_denied"], "{name} {quota}");
            assert!(denied.as_u64().unwrap() <= 5, "{name} {quota}");
        }
    }
}

#[test]
fn a_quota_beside_that_denies_too_much_ends_with_status_1() {
    let folder = Folder::with("log.csv", log());
    let beside = |quota: &str| {
        suggest(
            &folder,
            &format!("--window 1s --quota {quota} --target-requests 10% log.csv"),
        )
    };
    let said = beside("1/1h");
    assert_eq!(said.status, Some(1), "{}", said.stderr);
    assert!(said.stdout.contains("none"), "{}", said.stdout);
    assert_eq!(beside("9/1h").status, Some(0));
}

#[test]
fn what_is_wrong_is_one_line() {
    let folder = Folder::with("log.csv", "time,key\nx,a\n");
    for arguments in [
        "--window 1s missing.csv",
        "--window 1s log.csv",
        "--window 0s log.csv",
        "--window 1s --algorithm nonsense log.csv",
        "--window 1s --json log.csv log.csv",
    ] {
        let said = suggest(&folder, arguments);
        assert_eq!(said.status, Some(2), "{arguments}");
        assert_eq!(said.stdout, "");
        assert_eq!(folder.names(), ["log.csv"]);
    }
    let said = suggest(&folder, "--window 1s log.csv").stderr;
    assert_eq!(said.lines().count(), 1, "{said}");
    let log = folder.path().join("log.csv");
    std::fs::write(log, "time,key\n0,a\nx,a\n").unwrap();
    let skipped = suggest(&folder, "--window 1s --skip-bad log.csv");
    assert_eq!(skipped.status, Some(3), "{}", skipped.stderr);
    assert!(skipped.stdout.contains("mutex-log"), "{}", skipped.stdout);
}
