//! The order of time: what steps back is counted and reported; sorted, reordered and merged inputs are
//! decided as an independent sort and count says.

use std::io::Cursor;

use proptest::prelude::*;
use windowpane_core::Quotas;
use windowpane_lab::replay::{Options, Summary, replay_inputs};
use windowpane_lab_contestants::registry::find;
use windowpane_lab_input::{Input, Order};

use super::support::{Folder, column};

const FOUR: &str = "time,key\n60000,a\n60001,a\n0,a\n1,a\n";
const ASKED: &str = "--quota 2/1s --algorithm mutex-log";

#[test]
fn steps_back_are_reported_and_sorting_mends_them() {
    let folder = Folder::with("in.csv", FOUR);
    let given = folder.replay(&format!("{ASKED} --json given.json in.csv"));
    let said = given.stderr();
    assert!(
        said.contains(
            "warning: time steps back: 2 of 4 requests, at most by 60.0 s, first in line 4"
        ),
        "{said}"
    );
    assert!(said.contains("--sort"), "{said}");
    let table = given.ok();
    assert!(
        table.contains("mutex-log: 2 before the latest accepted of their key"),
        "{table}"
    );
    let sorted = folder.replay(&format!("{ASKED} --sort --json sorted.json in.csv"));
    assert!(
        !sorted.stderr().contains("steps back"),
        "{}",
        sorted.stderr()
    );
    let table = sorted.ok();
    assert!(!table.contains("steps back"), "{table}");

    let json = |name: &str| -> serde_json::Value {
        serde_json::from_str(&folder.read(name)).expect("JSON")
    };
    let (given, sorted) = (json("given.json"), json("sorted.json"));
    assert_eq!(given["algorithms"][0]["denied"], 2);
    assert_eq!(sorted["algorithms"][0]["denied"], 0);
    let steps = serde_json::json!({
        "requests": 2, "furthest_ns": 60_001_000_000_u64, "first_line": 4, "first_input": 1
    });
    assert_eq!(given["input"]["steps_back"], steps);
    assert_eq!(given["algorithms"][0]["steps_back"], steps);
    assert_eq!(given["input"]["order"], serde_json::Value::Null);
    assert_eq!(sorted["input"]["steps_back"], serde_json::Value::Null);
    assert_eq!(sorted["input"]["order"], "sorted");
}

#[test]
fn a_step_of_less_than_a_second_is_a_note() {
    let folder = Folder::with("in.csv", "time,key\n5,a\n4,a\n");
    let said = folder.replay(&format!("{ASKED} in.csv")).stderr();
    assert!(said.contains("note: time steps back: 1 of 2"), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn the_page_says_what_steps_back() {
    let folder = Folder::with("in.csv", FOUR);
    folder
        .replay(&format!("{ASKED} --report page.html in.csv"))
        .ok();
    let page = folder.read("page.html");
    assert!(page.contains("2 of 4 requests, at most by 60.0 s"));
}

#[test]
fn a_window_puts_late_lines_in_order() {
    let folder = Folder::with(
        "in.csv",
        "time,key\n1000,a\n3000,a\n2000,a\n9000,a\n10500,a\n1500,a\n",
    );
    let times = |options: &str| {
        let csv = folder
            .replay(&format!("{ASKED} {options} --decisions - in.csv"))
            .ok();
        column(&csv, "time")
    };
    assert_eq!(
        times("--reorder 1s"),
        ["1000", "2000", "3000", "9000", "1500", "10500"]
    );
    assert_eq!(
        times("--reorder 9s"),
        ["1000", "1500", "2000", "3000", "9000", "10500"]
    );
    let late = folder.replay(&format!("{ASKED} --reorder 1s in.csv"));
    assert!(
        late.stderr().contains("expected a longer --reorder"),
        "{}",
        late.stderr()
    );
    let both = folder.replay(&format!("{ASKED} --reorder 1s --sort in.csv"));
    assert_eq!(both.status(), Some(2));
}

#[test]
fn files_and_folders_are_merged_and_rows_name_the_input() {
    let folder = Folder::with("b.csv", "time,key\n2,a\n4,a\n");
    std::fs::create_dir(folder.path().join("logs")).unwrap();
    folder.write("logs/1.csv", "time,key\n1,a\n3,a\n");
    folder.write("logs/2.csv", "");
    folder.write("logs/.hidden", "not a log");
    let csv = folder
        .replay(&format!("{ASKED} --decisions - b.csv logs"))
        .ok();
    let header = "algorithm,line,time,key,cost,decision,remaining,retry_after_ns,input\n";
    assert!(csv.starts_with(header), "{csv}");
    assert_eq!(column(&csv, "time"), ["1", "2", "3", "4"]);
    assert_eq!(column(&csv, "line"), ["2", "2", "3", "3"]);
    assert_eq!(
        column(&csv, "input"),
        ["logs/1.csv", "b.csv", "logs/1.csv", "b.csv"]
    );
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let empty = folder.replay(&format!("{ASKED} empty"));
    assert_eq!(empty.status(), Some(2));
    assert!(
        empty.stderr().contains("a folder without a file"),
        "{}",
        empty.stderr()
    );
}

/// Requests by input: time in milliseconds and key.
type Files = Vec<Vec<(u64, char)>>;

fn replayed(files: &Files, order: Order) -> Summary {
    let inputs = files.iter().enumerate().map(|(nth, file)| {
        let lines = file.iter().map(|(time, key)| format!("{time},{key}\n"));
        let text = format!("time,key\n{}", lines.collect::<String>());
        Input::new(nth.to_string(), move || Ok(Box::new(Cursor::new(text))))
    });
    let algorithms = ["mutex-log", "cas-ring"].map(|name| find(name).unwrap());
    let quotas = Quotas::parse(["2/10ms"]).unwrap();
    let options = Options {
        order,
        ..Options::new(quotas, algorithms.to_vec())
    };
    replay_inputs(inputs.collect(), &options, &mut [], &mut |_| {}).unwrap()
}

/// The denials of 2 in 10 ms, counted by hand over requests in the order of time.
fn denied_in_order(files: &Files) -> u64 {
    let mut all: Vec<(u64, char)> = files.concat();
    all.sort_by_key(|(time, _)| *time);
    let mut accepted: Vec<(u64, char)> = Vec::new();
    let mut denied = 0;
    for (time, key) in all {
        let is_counted = |(at, of): &&(u64, char)| *of == key && at + 10 > time;
        match accepted.iter().filter(is_counted).count() < 2 {
            true => accepted.push((time, key)),
            false => denied += 1,
        }
    }
    denied
}

proptest! {
    #[test]
    fn sorted_and_reordered_is_as_an_independent_sort_then_decides(
        files in prop::collection::vec(
            prop::collection::vec((0..60_u64, prop::char::range('a', 'c')), 1..40), 1..4),
    ) {
        let expected = denied_in_order(&files);
        for order in [Order::Sorted, Order::Reordered(60_000_000)] {
            let summary = replayed(&files, order);
            prop_assert_eq!(summary.input.steps_back, None);
            for algorithm in &summary.algorithms {
                prop_assert_eq!(algorithm.denied, expected, "{} {:?}", algorithm.name, order);
            }
        }
    }

    #[test]
    fn files_in_order_are_merged_in_order(
        mut files in prop::collection::vec(
            prop::collection::vec((0..60_u64, prop::char::range('a', 'c')), 1..40), 1..4),
    ) {
        files.iter_mut().for_each(|file| file.sort_unstable());
        let summary = replayed(&files, Order::AsGiven);
        prop_assert_eq!(summary.input.steps_back, None);
        prop_assert_eq!(summary.algorithms[0].denied, denied_in_order(&files));
    }

    #[test]
    fn every_step_back_is_counted(times in prop::collection::vec(0..50_u64, 1..60)) {
        let file: Vec<(u64, char)> = times.iter().map(|time| (*time, 'a')).collect();
        let (mut latest, mut steps) = (0, Vec::new());
        for (line, time) in (2..).zip(&times) {
            if *time < latest {
                steps.push((line, latest - time));
            }
            latest = latest.max(*time);
        }
        let counted = replayed(&vec![file], Order::AsGiven).input.steps_back;
        let first = steps.first().map(|(line, _)| *line);
        let furthest = steps.iter().map(|(_, step)| *step * 1_000_000).max();
        prop_assert_eq!(counted.map(|of| of.requests).unwrap_or(0), steps.len() as u64);
        prop_assert_eq!(counted.map(|of| of.first_line), first);
        prop_assert_eq!(counted.map(|of| of.furthest_ns), furthest);
    }
}
