//! What is written: rows, the summary, the table, and when.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use super::support::{Folder, column};

/// Ten requests at once in a window of ten, and six half way through the next: where the packed
/// counter and the fixed window are wrong.
fn burst() -> Folder {
    let times = (590..600).chain([900; 6]);
    let lines = times.map(|time| format!("{time},k\n")).collect::<String>();
    Folder::with("in.csv", format!("time,key\n{lines}"))
}

const ALL: &str = "--quota 10/600ms --algorithm mutex-log,cas-ring,packed-counter,fixed-window";

#[test]
fn rows_are_in_the_inputs_order_for_each_algorithm() {
    let folder = burst();
    let csv = folder.replay(&format!("{ALL} --decisions - in.csv")).ok();
    let algorithms = column(&csv, "algorithm");
    for algorithm in ["mutex-log", "cas-ring", "packed-counter", "fixed-window"] {
        let lines: Vec<String> = (algorithms.iter().zip(column(&csv, "line")))
            .filter_map(|(name, line)| (name == algorithm).then_some(line))
            .collect();
        let expected: Vec<String> = (2..18).map(|line| line.to_string()).collect();
        assert_eq!(lines, expected, "{algorithm}");
    }
    assert_eq!(algorithms.len(), 4 * 16);
}

#[test]
fn the_summary_says_what_differs_and_by_how_much() {
    let folder = burst();
    let json = folder.replay(&format!("{ALL} --json - in.csv")).ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "windowpane-replay/1");
    let input = serde_json::json!({
        "name": "in.csv", "format": "csv", "requests": 16, "keys": 1, "bad_lines": 0,
        "earliest_ns": 590_000_000, "latest_ns": 900_000_000,
    });
    assert_eq!(json["input"], input);
    assert_eq!(json["quotas"], serde_json::json!(["10/600ms"]));
    assert_eq!(json["on_regression"], "clamp");
    assert_eq!(
        (&json["compared"], &json["call"]),
        (&true.into(), &"acquire".into())
    );
    let of = |name: &str| {
        let algorithms = json["algorithms"].as_array().unwrap();
        algorithms
            .iter()
            .find(|algorithm| algorithm["name"] == name)
            .unwrap()
            .clone()
    };
    for exact in ["mutex-log", "cas-ring"] {
        let exact = of(exact);
        let counts = [&exact["allowed"], &exact["denied"], &exact["errors"]];
        assert_eq!(counts, [10, 6, 0]);
        let against = serde_json::json!({
            "false_allows": 0, "false_denies": 0, "differ": 0, "worst_overshoot": null
        });
        assert_eq!(exact["against_oracle"], against);
    }
    // 5 more fit half of the window before; the sixth is denied, and rightly.
    let counter = of("packed-counter");
    assert_eq!(
        (&counter["allowed"], &counter["denied"]),
        (&15.into(), &1.into())
    );
    let overshoot = serde_json::json!({"quota": "10/600ms", "used": 15, "limit": 10, "share": 0.5});
    let against = serde_json::json!({
        "false_allows": 5, "false_denies": 0, "differ": 5, "worst_overshoot": overshoot
    });
    assert_eq!(counter["against_oracle"], against);
    assert_eq!(of("fixed-window")["against_oracle"]["false_allows"], 6);

    let denied = serde_json::json!({
        "mutex-log": 6, "cas-ring": 6, "packed-counter": 1, "fixed-window": 0
    });
    let client = serde_json::json!({"key": "k", "requests": 16, "denied": denied});
    assert_eq!(json["most_denied"], Value::Array(vec![client]));
    // One ring of ten, counted by the allocator: 8 bytes a permit and no more than 288 beside; and
    // the first places of the store, which a single key has to itself.
    let bytes = of("cas-ring")["bytes_per_key"].as_f64().unwrap();
    assert!((80.0..80.0 + 288.0 + 256.0).contains(&bytes), "{bytes}");
    assert!(of("cas-ring")["ns_per_decision"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_false_denial_is_one_by_the_limiters_own_history() {
    // Ten at once, and one after a whole window, which the packed counter denies: the exact log
    // that knows the same ten would allow it.
    let lines: String = (0..10).map(|time| format!("{time}\n")).collect();
    let folder = Folder::with("in.csv", format!("time\n{lines}610\n"));
    let json = folder
        .replay("--quota 10/600ms --algorithm packed-counter --json - in.csv")
        .ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    let against = serde_json::json!({
        "false_allows": 0, "false_denies": 1, "differ": 1, "worst_overshoot": null
    });
    assert_eq!(json["algorithms"][0]["against_oracle"], against);
}

#[test]
fn the_table_is_printed_unless_rows_or_the_summary_are() {
    let folder = burst();
    let table = folder.replay(&format!("{ALL} in.csv")).ok();
    assert!(
        table.starts_with("in.csv: 16 requests of 1 key in 310ms; quota 10/600ms\n"),
        "{table}"
    );
    let row = table
        .lines()
        .find(|line| line.starts_with("packed-counter "))
        .unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[1..9], ["15", "1", "0", "5", "0", "5", "50", "%"]);
    assert!(
        table.contains("the clients denied, and how often"),
        "{table}"
    );

    // With files as outputs it is printed too.
    let table = folder
        .replay(&format!("{ALL} --decisions out.csv --json out.json in.csv"))
        .ok();
    assert!(table.contains("packed-counter"), "{table}");
    let json = folder.replay(&format!("{ALL} --json - in.csv")).ok();
    assert!(json.starts_with("{\n") && json.ends_with("}\n"));
    assert_eq!(column(&folder.read("out.csv"), "line").len(), 4 * 16);
}

#[test]
fn all_leaves_out_what_cannot_hold_the_quotas_and_says_so() {
    let folder = burst();
    let result = folder.replay("--quota 10/600ms --quota 60req/1s --algorithm all --json - in.csv");
    let said = result.stderr();
    let json: Value = serde_json::from_str(&result.ok()).unwrap();
    let skipped = json["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), said.lines().count());
    for (skipped, line) in skipped.iter().zip(said.lines()) {
        let (name, reason) = (
            skipped["name"].as_str().unwrap(),
            skipped["reason"].as_str().unwrap(),
        );
        assert_eq!(line, format!("left out {name}: {reason}"));
    }
    assert!(said.contains("left out cas-ring: "), "{said}");
    let algorithms = json["algorithms"].as_array().unwrap();
    assert_eq!(
        (algorithms.len(), &algorithms[0]["name"]),
        (1, &"mutex-log".into())
    );
}

#[test]
fn without_the_oracle_nothing_is_compared() {
    let folder = burst();
    let json = folder
        .replay(&format!("{ALL} --no-compare --json - in.csv"))
        .ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["compared"], false);
    assert_eq!(json["algorithms"][2]["against_oracle"], Value::Null);
    assert_eq!(json["algorithms"][2]["allowed"], 15);
}

#[test]
fn an_algorithm_named_twice_runs_once() {
    let folder = burst();
    let csv = folder
        .replay("--quota 10/600ms --algorithm cas-ring,cas-ring --algorithm cas-ring --decisions - in.csv")
        .ok();
    assert_eq!(column(&csv, "line").len(), 16);
}

#[test]
fn what_was_there_is_replaced_when_all_is_done() {
    let folder = burst();
    folder.write("out.csv", "old");
    folder
        .replay(&format!("{ALL} --decisions out.csv in.csv"))
        .ok();
    assert!(folder.read("out.csv").starts_with("algorithm,line,"));
    assert_eq!(folder.names(), ["in.csv", "out.csv"]);
}

#[cfg(unix)]
#[test]
fn links_and_devices_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    let folder = burst();
    folder.write("real.csv", "old");
    symlink("real.csv", folder.path().join("link.csv")).unwrap();
    folder
        .replay(&format!(
            "{ALL} --decisions link.csv --json /dev/null in.csv"
        ))
        .ok();
    assert!(folder.path().join("link.csv").is_symlink());
    assert!(folder.read("real.csv").starts_with("algorithm,line,"));
    assert!(
        std::fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );

    // A new file can be read by those who can read any new file here.
    folder.write("new", "");
    folder
        .replay(&format!("{ALL} --decisions new.csv in.csv"))
        .ok();
    let mode = |name: &str| {
        let metadata = std::fs::metadata(folder.path().join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("new.csv"), mode("new"));
}

#[cfg(unix)]
#[test]
fn one_place_is_one_however_it_is_spelled() {
    use std::os::unix::fs::symlink;

    let folder = burst();
    std::fs::create_dir(folder.path().join("d")).unwrap();
    symlink("d", folder.path().join("e")).unwrap();
    symlink("x.csv", folder.path().join("link")).unwrap();
    symlink("d/../link", folder.path().join("links")).unwrap();
    symlink("round", folder.path().join("round")).unwrap();
    let before = folder.names();
    for (one, other) in [
        ("d/x", "e/x"),
        ("x", "d/../x"),
        ("link", "x.csv"),
        ("x.csv", "links"),
    ] {
        let result = folder.replay(&format!("{ALL} --decisions {one} --json {other} in.csv"));
        assert_eq!(result.status(), Some(2), "{one} {other}");
        let expected =
            format!("error: --json {other} is --decisions's too; expected a place of its own\n");
        assert_eq!(result.stderr(), expected);
        assert_eq!(folder.names(), before);
    }
    let said = folder
        .replay(&format!("{ALL} --json round in.csv"))
        .stderr();
    assert_eq!(
        said,
        "error: cannot write round: it is a link that leads to itself; expected a file\n"
    );
    // Alone it is written where it leads.
    folder
        .replay(&format!("{ALL} --decisions links in.csv"))
        .ok();
    assert!(folder.path().join("links").is_symlink() && folder.path().join("link").is_symlink());
    assert!(folder.read("x.csv").starts_with("algorithm,line,"));
}

#[test]
fn a_name_may_be_as_long_as_names_can_be() {
    let folder = burst();
    let name = "x".repeat(255);
    folder
        .replay(&format!("{ALL} --decisions {name} in.csv"))
        .ok();
    assert!(folder.read(&name).starts_with("algorithm,line,"));
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let lines: String = (0..200_000).map(|time| format!("{time}\n")).collect();
    let folder = Folder::with("in.csv", format!("time\n{lines}"));
    let mut child = folder.spawn(&format!("{ALL} --decisions - --json out.json in.csv"));
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    assert!(first.starts_with("algorithm,line,"));
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(said, "");
    assert_eq!(folder.names(), ["in.csv"], "half a summary is none");
}

#[test]
fn help_shows_how() {
    let help = Folder::new().replay("--help").ok();
    for part in [
        "--quota <LIMIT/WINDOW>",
        "--cost-column <NAME[+NAME...]>",
        "Examples:",
        "Exit status",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
}
