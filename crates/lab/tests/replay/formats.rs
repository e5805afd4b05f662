//! What can be read: columns, times, keys, lines, access logs.

use super::support::{Folder, column, rows};

const HEADER: &str = "algorithm,line,time,key,cost,decision,remaining,retry_after_ns\n";

/// The decisions of the mutex log on an input of 3 permits a second.
#[track_caller]
fn decisions(input: impl AsRef<[u8]>, options: &str) -> String {
    let folder = Folder::with("in", input);
    folder
        .replay(&format!(
            "--quota 3/1s --algorithm mutex-log {options} --decisions - in"
        ))
        .ok()
}

#[test]
fn the_key_and_the_cost_may_be_missing() {
    assert_eq!(
        decisions("time\n0\n1\n", ""),
        format!("{HEADER}mutex-log,2,0,,1,allow,2,\nmutex-log,3,1,,1,allow,1,\n")
    );
    assert_eq!(
        decisions("key,cost,note,time\na,3,x,0\nb,1,y,0\na,1,z,1\n", ""),
        format!(
            "{HEADER}mutex-log,2,0,a,3,allow,0,\nmutex-log,3,0,b,1,allow,2,\n\
             mutex-log,4,1,a,1,deny,0,999000000\n"
        )
    );
}

/// A byte order mark stands before the input, and nowhere else: there it is a part of the key.
#[test]
fn a_byte_order_mark_is_taken_away_once() {
    let told = decisions("\u{feff}key,time\na,1\n\u{feff}a,2\n\"\u{feff}a\",3\n", "");
    assert_eq!(column(&told, "key"), ["a", "\u{feff}a", "\u{feff}a"]);
    assert_eq!(column(&told, "remaining"), ["2", "2", "1"]);
}

#[test]
fn columns_are_named_and_costs_added() {
    let input = " when , who ,in,out\n0,a,1,0\n0,a,1,1\n0,a, 2 ,2\n0,b,4,0\n";
    let options = "--time-column when --key-column who --cost-column in+out";
    assert_eq!(
        decisions(input, options),
        format!(
            "{HEADER}mutex-log,2,0,a,1,allow,2,\nmutex-log,3,0,a,2,allow,0,\n\
             mutex-log,4,0,a,4,error,,\nmutex-log,5,0,b,4,error,,\n"
        )
    );
    let input = "time,a,b\n0,18446744073709551615,1\n1,1,1\n";
    let folder = Folder::with("in", input);
    let arguments = "--quota 3/1s --algorithm mutex-log --cost-column a+b in";
    let said = folder.replay(arguments).stderr();
    assert!(
        said.starts_with("in:2: expected a cost from 1 to"),
        "{said}"
    );
    // A part may be 0, the sum may not.
    let folder = Folder::with("in", "time,a,b\n0,0,1\n1,0,0\n");
    assert!(
        folder
            .replay(arguments)
            .stderr()
            .starts_with("in:3: expected a cost")
    );
}

#[test]
fn times_in_every_form_and_unit() {
    let retry_after = |times: [&str; 2], unit: &str| {
        let input = format!("time,cost\n{},3\n{},1\n", times[0], times[1]);
        let csv = decisions(input, &format!("--time-unit {unit}"));
        assert_eq!(column(&csv, "time"), times, "as it stood");
        column(&csv, "retry_after_ns").remove(1)
    };
    assert_eq!(retry_after(["0", "250"], "ms"), "750000000");
    assert_eq!(retry_after(["7", "250000007"], "ns"), "750000000");
    assert_eq!(retry_after(["0.5", "250000.75"], "us"), "749999750");
    assert_eq!(
        retry_after(["1699999999.9", "1700000000.000000001"], "s"),
        "899999999"
    );
    assert_eq!(
        retry_after(
            ["2023-11-16 18:17:03.9799600", "2023-11-16T19:17:04+01:00"],
            "ms"
        ),
        "979960000"
    );
    // A number and a date-time may stand in one column.
    assert_eq!(
        retry_after(["1700158623.5", "2023-11-16 18:17:04Z"], "s"),
        "500000000"
    );
}

#[test]
fn line_numbers_are_the_inputs_whatever_ends_the_lines() {
    let input = "\u{feff}time,key\r\n\r\n0,a\r\n\n\n1,\"two\nlines, \"\"quoted\"\"\"\r\n2,c\n3,\"d\"\r\n4,e";
    let csv = decisions(input, "");
    assert_eq!(column(&csv, "line"), ["3", "6", "8", "9", "10"]);
    assert_eq!(
        column(&csv, "key"),
        ["a", "two\nlines, \"quoted\"", "c", "d", "e"]
    );
    // As it must be quoted, and no more.
    assert!(
        csv.contains("\nmutex-log,6,1,\"two\nlines, \"\"quoted\"\"\",1,allow,2,\n"),
        "{csv}"
    );
    assert!(csv.contains("\nmutex-log,9,3,d,1,allow,2,\n"), "{csv}");
}

#[test]
fn keys_are_bytes() {
    let folder = Folder::with("in", b"time,key\n0,caf\xe9\n0,caf\xe8\n0,caf\xe9\n");
    let arguments = "--quota 1/1s --algorithm mutex-log in";
    folder
        .replay(&format!("{arguments} --decisions out.csv --json out.json"))
        .ok();
    let csv = folder.read_bytes("out.csv");
    let row = b"\nmutex-log,4,0,caf\xe9,1,deny,0,1000000000\n";
    assert!(csv.windows(row.len()).any(|part| part == row));
    let json: serde_json::Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(json["input"]["keys"], 2);
    assert_eq!(json["most_denied"][0]["key"], "caf\u{fffd}");
    assert!(folder.replay(arguments).ok().contains("caf\u{fffd}"));
}

#[test]
fn an_access_log_is_known_by_its_first_line_from_a_pipe_too() {
    let line = |client: &str, second: u32| {
        format!("{client} - - [12/May/2024:00:00:{second:02} +0000] \"GET / HTTP/1.1\" 200 5")
    };
    let log = [
        line("10.0.0.1", 17),
        line("2001:db8::7", 17) + " \"-\" \"agent \\\"x\\\", 1\"",
        line("10.0.0.1", 18),
        line("10.0.0.1", 16),
    ]
    .join("\n");
    let expected = format!(
        "{HEADER}\
         cas-ring,1,12/May/2024:00:00:17 +0000,10.0.0.1,1,allow,1,\n\
         cas-ring,2,12/May/2024:00:00:17 +0000,2001:db8::7,1,allow,1,\n\
         cas-ring,3,12/May/2024:00:00:18 +0000,10.0.0.1,1,allow,0,\n\
         cas-ring,4,12/May/2024:00:00:16 +0000,10.0.0.1,1,deny,0,11000000000\n"
    );
    let folder = Folder::new();
    for format in ["auto", "clf"] {
        let arguments =
            format!("--quota 2/10s --algorithm cas-ring --format {format} --decisions - -");
        assert_eq!(
            folder.replay_from(log.as_bytes(), &arguments).ok(),
            expected
        );
    }
}

#[test]
fn bad_lines_are_skipped_and_counted_if_asked() {
    let input = "time,key,cost\nx,a,1\n0,a,1\n0,a\n0,a,0\n5,a,1\n";
    let folder = Folder::with("in", input);
    let arguments = "--quota 3/1s --algorithm mutex-log --skip-bad --max-bad 60% --decisions out.csv --json out.json in";
    let result = folder.replay(arguments);
    let said = result.stderr();
    assert!(
        said.ends_with(
            "in: 3 bad lines are skipped, 60.00 % of 5\n  \
             1 other fields than the header, the first: in:4: expected 3 columns as in the header, not 2 columns\n  \
             1 a time that is none, the first: in:2: expected a time: a whole or decimal number of ms, or a \
             date-time such as 2023-11-16 18:17:03.97, found `x`\n  \
             1 a cost that is none, the first: in:5: expected a cost: a whole number from 1 to \
             18446744073709551615, found `0`\n"
        ),
        "{said}"
    );
    result.ok();
    assert_eq!(column(&folder.read("out.csv"), "line"), ["3", "6"]);
    let json: serde_json::Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(
        (&json["input"]["bad_lines"], &json["input"]["requests"]),
        (&3.into(), &2.into())
    );
}

#[test]
fn more_bad_lines_than_allowed_end_with_status_3() {
    let input = format!("time\n{}x\n", "1\n".repeat(99));
    let folder = Folder::with("in", input);
    let status = |options: &str| {
        let arguments = format!("--quota 3/1s --algorithm mutex-log {options} --json out.json in");
        let result = folder.replay(&arguments);
        assert!(folder.read("out.json").contains("\"bad_lines\": 1"));
        result.status()
    };
    assert_eq!(status("--skip-bad"), Some(0));
    assert_eq!(status("--skip-bad --max-bad 0.9%"), Some(3));
    assert_eq!(status("--skip-bad --max-bad 0.01"), Some(0));
}

#[test]
fn a_stray_quote_costs_its_own_line_alone() {
    // Never closed within what a line may be long, or to the end; and closed by a quote that makes
    // a record of too many fields, or of the right number.
    for (stray, rest) in [
        ("1,\"b\n", "2,c\n".repeat(600_000)),
        ("1,\"b\n", "2,c\n".repeat(3)),
        ("1,\"b\n", "2,c\n".repeat(3) + "3,\"d,\n\"\n4,c\n"),
        ("\"1,b\n", "2,c\n".repeat(3) + "\"3\",d\n4,c\n"),
    ] {
        let sound = rest.lines().filter(|line| *line != "\"").count();
        let folder = Folder::with("in", format!("time,key\n0,a\n{stray}{rest}"));
        let result = folder.replay(
            "--quota 3/1s --algorithm mutex-log --no-compare --skip-bad --max-bad 100% --decisions out.csv in",
        );
        let said = result.stderr();
        assert!(said.contains("in: 1 bad line is skipped, "), "{said}");
        result.ok();
        let lines = column(&folder.read("out.csv"), "line");
        assert_eq!(lines[..2], ["2", "4"]);
        assert_eq!(lines.len(), 1 + sound);
    }
}

#[test]
fn lines_that_all_leave_a_quote_open_are_read_a_few_times_at_most() {
    // Each opens a quote that none of the others closes: read again from each, a mebibyte at a
    // time, they would take hours.
    let folder = Folder::with(
        "in",
        "time,key\n0,a\n".to_string() + &"\"a\",b\"c,\"\n".repeat(300_000),
    );
    let result = folder.replay("--quota 3/1s --algorithm mutex-log --skip-bad --max-bad 1 in");
    let said = result.stderr();
    assert!(
        said.contains("in: 300000 bad lines are skipped, "),
        "{said}"
    );
    result.ok();
}

#[test]
fn garbage_before_an_access_log_is_a_bad_line_of_it() {
    let line = r#"10.0.0.1 - - [12/May/2024:00:00:17 +0000] "GET / HTTP/1.1" 200 5"#;
    for garbage in ["-- rotated --", "\"", "a,b,c"] {
        let input = format!("\n{garbage}\n{line}\n{line}\n");
        let csv = decisions(input, "--skip-bad --max-bad 100%");
        assert_eq!(column(&csv, "line"), ["3", "4"], "{garbage}");
        assert_eq!(column(&csv, "key"), ["10.0.0.1"; 2], "{garbage}");
    }
    // What has a header of CSV is CSV, whatever its fields hold.
    let quoted = line.replace('"', "\"\"");
    let csv = decisions(format!("time,raw\n5,\"{quoted}\"\n"), "");
    assert_eq!(column(&csv, "time"), ["5"]);
}

#[test]
fn a_time_that_steps_back_counts_as_the_latest_or_is_an_error() {
    let input = "time\n100\n10\n50\n";
    let decisions = |options: &str| {
        let folder = Folder::with("in", input);
        let arguments = format!("--quota 2/60ms --algorithm mutex-log {options} --decisions - in");
        column(&folder.replay(&arguments).ok(), "decision")
    };
    assert_eq!(decisions(""), ["allow", "allow", "deny"]);
    assert_eq!(
        decisions("--on-regression clamp"),
        ["allow", "allow", "deny"]
    );
    assert_eq!(
        decisions("--on-regression reject"),
        ["allow", "error", "error"]
    );
}

#[test]
fn a_limit_of_0_denies_without_a_wait() {
    let folder = Folder::with("in", "time\n0\n");
    let csv = folder
        .replay("--quota 0/1s --algorithm all --decisions - in")
        .ok();
    assert!(rows(&csv).len() >= 4);
    for row in rows(&csv) {
        assert_eq!(row[5..], ["deny", "0", ""], "{}", row[0]);
    }
}

#[test]
fn a_cost_that_can_never_fit_leaves_no_trace() {
    // Were the limiters' time to begin at the first line, the second would be read as a later one.
    let folder = Folder::with("in", "time,cost\n100,5\n10,3\n61,3\n");
    let csv = folder
        .replay(
            "--quota 3/60s --time-unit s --algorithm packed-counter,fixed-window --decisions - in",
        )
        .ok();
    let decisions = column(&csv, "decision");
    assert_eq!(decisions[..2], ["error", "error"]);
    assert_eq!(decisions[2..4], ["allow", "allow"]);
    assert_eq!(
        decisions[4..],
        ["deny", "allow"],
        "the fixed window of 60 s begins at 60 s"
    );
}

#[test]
fn windows_begin_at_multiples_on_the_inputs_clock() {
    let folder = Folder::with("in", "time,key\n1700000099,a\n1700000100,a\n1700000099,b\n");
    let csv = folder
        .replay("--quota 1/100s --time-unit s --algorithm fixed-window --decisions - in")
        .ok();
    assert_eq!(column(&csv, "decision"), ["allow", "allow", "allow"]);
}
