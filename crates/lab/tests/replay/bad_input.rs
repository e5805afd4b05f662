//! Everything a caller can get wrong ends with exit status 2, one clear line, and no output.

use super::support::Folder;

const GOOD: &str = "time,key,cost\n0,a,1\n1,b,2\n";

/// Fails the way all failures are to be, and returns what it said.
#[track_caller]
fn refused(folder: &Folder, arguments: &str) -> String {
    let outputs = "--decisions out.csv --disagreements differ.csv --json out.json";
    folder.write("out.csv", "of an earlier run");
    let before = folder.names();
    let result = folder.replay(&format!("{outputs} {arguments}"));
    assert_eq!(result.status(), Some(2), "{arguments}");
    assert_eq!(result.stdout(), "", "{arguments}");
    let stderr = result.stderr();
    assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
    // What was there is untouched, and nothing else came, finished or not.
    assert_eq!(folder.read("out.csv"), "of an earlier run", "{arguments}");
    assert_eq!(folder.names(), before, "{arguments}");
    stderr.trim_end().to_string()
}

#[track_caller]
fn refused_line(line: &str) -> String {
    let folder = Folder::with("in.csv", format!("time,key,cost\n0,a,1\n{line}\n5,a,1\n"));
    let said = refused(&folder, "--quota 3/10s --algorithm all in.csv");
    let (place, what) = said.split_once(": ").expect("a place");
    assert_eq!(place, "in.csv:3", "{said}");
    what.to_string()
}

#[test]
fn an_unknown_algorithm() {
    let folder = Folder::with("in.csv", GOOD);
    let said = refused(
        &folder,
        "--quota 3/10s --algorithm mutex-log,token-bucket in.csv",
    );
    assert!(said.starts_with("error: unknown algorithm `token-bucket`: expected mutex-log, cas-ring, packed-counter, "), "{said}");
    assert!(said.ends_with(", or all"), "{said}");
    let said = refused(&folder, "--quota 3/10s --algorithm all,mutex-log in.csv");
    assert_eq!(
        said,
        "error: --algorithm: expected all alone, or names without it"
    );
}

#[test]
fn a_malformed_quota() {
    let folder = Folder::with("in.csv", GOOD);
    for quota in [
        "3",
        "/10s",
        "3/",
        "-3/10s",
        "+3/10s",
        "3/10",
        "3/10x",
        "x/10s",
        "3/-1s",
        "3rq/1s",
        "3/0s",
        "3/366d",
        "3/99999999999d",
    ] {
        let said = refused(&folder, &format!("--quota {quota} --algorithm all in.csv"));
        let wrong = ["malformed quota", "malformed window", "a window of"];
        assert!(
            wrong
                .iter()
                .any(|wrong| said.starts_with(&format!("error: {wrong}"))),
            "{quota}: {said}"
        );
    }
}

#[test]
fn quotas_that_the_algorithm_cannot_hold() {
    let folder = Folder::with("in.csv", GOOD);
    let said = refused(
        &folder,
        "--quota 3/10s --quota 2/1s --algorithm fixed-window in.csv",
    );
    assert_eq!(
        said,
        "error: fixed-window cannot hold these quotas: fixed-window holds one quota, not 2: \
         for several at once take mutex-log, which holds any"
    );
    let said = refused(
        &folder,
        "--quota 60req/60s --algorithm mutex-log,cas-ring in.csv",
    );
    assert!(
        said.starts_with("error: cas-ring cannot hold these quotas: "),
        "{said}"
    );
}

#[test]
fn what_is_advised_instead_holds_the_quotas() {
    let folder = Folder::with("in.csv", GOOD);
    for (algorithm, quotas) in [
        ("cas-ring", "--quota 20000000/1ms"),
        ("packed-counter", "--quota 20000000/1ms"),
        ("fixed-window", "--quota 18446744073709551615/1ns"),
        ("gcra", "--quota 2000000000/1s"),
        ("gcra", "--quota 2000000000/1s --quota 60req/60s"),
    ] {
        let said = refused(&folder, &format!("{quotas} --algorithm {algorithm} in.csv"));
        let advice = said.replace(algorithm, "");
        assert!(advice.contains("mutex-log"), "{said}");
        for other in [
            "cas-ring",
            "packed-counter",
            "bucket-ring",
            "gcra",
            "fixed-window",
        ] {
            assert!(!advice.contains(other), "{said}");
        }
        folder
            .replay(&format!("{quotas} --algorithm mutex-log in.csv"))
            .ok();
    }
}

#[test]
fn reject_with_another_than_the_mutex_log() {
    let folder = Folder::with("in.csv", GOOD);
    for algorithms in ["fixed-window", "all", "mutex-log,cas-ring"] {
        let arguments =
            format!("--quota 3/10s --algorithm {algorithms} --on-regression reject in.csv");
        let said = refused(&folder, &arguments);
        assert!(
            said.starts_with("error: --on-regression reject: only mutex-log rejects"),
            "{said}"
        );
    }
}

#[test]
fn an_input_that_is_missing_or_a_directory() {
    let folder = Folder::with("in.csv", GOOD);
    let said = refused(&folder, "--quota 3/10s --algorithm all missing.csv");
    assert!(
        said.starts_with("error: cannot read missing.csv: No such file"),
        "{said}"
    );
    // A folder stands for its files, and an output may not be one of them.
    let said = refused(&folder, "--quota 3/10s --algorithm all .");
    assert_eq!(
        said,
        "error: --decisions out.csv is the input's too; expected a place of its own"
    );
}

#[test]
fn an_input_without_a_request() {
    for (content, found) in [
        ("", "nothing"),
        ("\n\r\n\n", "nothing"),
        ("\u{feff}", "nothing"),
        ("time,key,cost\n", "a header alone"),
        ("time,key,cost", "a header alone"),
        ("time,key,cost\n\n\n", "a header alone"),
    ] {
        let folder = Folder::with("in.csv", content);
        for format in ["auto", "csv"] {
            let said = refused(
                &folder,
                &format!("--quota 3/10s --algorithm all --format {format} in.csv"),
            );
            assert_eq!(
                said,
                format!("error: in.csv: expected at least one request, found {found}"),
                "{content:?}"
            );
        }
    }
    let folder = Folder::with("in.log", "");
    let said = refused(&folder, "--quota 3/10s --algorithm all --format clf in.log");
    assert_eq!(
        said,
        "error: in.log: expected at least one request, found nothing"
    );
    let folder = Folder::with("in.csv", "time\nx\ny\n");
    let said = refused(&folder, "--quota 3/10s --algorithm all --skip-bad in.csv");
    assert_eq!(
        said,
        "error: in.csv: expected at least one request, found nothing but bad lines (2)"
    );
}

#[test]
fn a_header_without_the_columns() {
    let folder = Folder::with("in.csv", "when,who\n0,a\n");
    let of = |columns: &str| {
        refused(
            &folder,
            &format!("--quota 3/10s --algorithm all {columns} in.csv"),
        )
    };
    assert_eq!(
        of(""),
        "in.csv:1: expected a CSV header with a column `time`, or a line of the common or combined log format, \
         found `when,who`"
    );
    assert_eq!(
        of("--format csv"),
        "in.csv:1: expected a CSV header with a column `time`, found `when,who`"
    );
    // One that is named must be there, even by the name it has anyway.
    for (columns, missing) in [
        ("--time-column time", "time"),
        ("--time-column when --key-column key", "key"),
        ("--time-column when --cost-column cost", "cost"),
        ("--time-column when --cost-column who+size", "size"),
    ] {
        assert_eq!(
            of(columns),
            format!("in.csv:1: expected a CSV header with a column `{missing}`, found `when,who`")
        );
    }
    let said = refused(
        &folder,
        "--quota 3/10s --algorithm all --format clf --key-column who in.csv",
    );
    assert!(
        said.starts_with("in.csv:1: expected a log in the format clf with a column `who`"),
        "{said}"
    );
}

#[test]
fn a_broken_line() {
    assert_eq!(
        refused_line("soon,a,1"),
        "expected a time: a whole or decimal number of ms, or a date-time such as 2023-11-16 18:17:03.97, found `soon`"
    );
    assert_eq!(
        refused_line("3,a"),
        "expected 3 columns as in the header, not 2 columns"
    );
    assert_eq!(
        refused_line("3"),
        "expected 3 columns as in the header, not 1 column"
    );
    assert_eq!(
        refused_line("3,a,1,1"),
        "expected 3 columns as in the header, not 4 columns"
    );
    for cost in ["0", "", "-1", "1.5", "x", "18446744073709551616"] {
        assert_eq!(
            refused_line(&format!("3,a,{cost}")),
            format!(
                "expected a cost: a whole number from 1 to 18446744073709551615, found `{cost}`"
            )
        );
    }
    assert_eq!(
        refused_line("\"3,a,1"),
        "expected a closing quote before the end of the input"
    );
    // One line, whatever stands there.
    assert!(refused_line("\"\u{1b}[31m\nred\",a,1").ends_with("found `\\u{1b}[31m\\nred`"));
}

#[test]
fn a_sum_that_is_no_cost() {
    for (costs, found) in [("0,0", "0"), ("18446744073709551615,1", "more")] {
        let folder = Folder::with("in.csv", format!("time,in,out\n0,{costs}\n"));
        let said = refused(
            &folder,
            "--quota 3/10s --algorithm all --cost-column in+out in.csv",
        );
        assert_eq!(
            said,
            format!(
                "in.csv:2: expected a cost from 1 to 18446744073709551615 as the sum of the columns in+out, not {found}"
            )
        );
    }
    let folder = Folder::with("in.csv", "time,in,out\n0,1,x\n");
    let said = refused(
        &folder,
        "--quota 3/10s --algorithm all --cost-column in+out in.csv",
    );
    assert!(
        said.ends_with("whole numbers up to 18446744073709551615, found `x`"),
        "{said}"
    );
}

#[test]
fn names_that_would_break_the_line() {
    const NASTY: &str = "a\nb\u{1b}[2J\u{2028}\u{202e}";
    const SHOWN: &str = "a\\nb\\u{1b}[2J\\u{2028}\\u{202e}";
    let folder = Folder::with("in.csv", GOOD);
    folder.write(NASTY, "when\n");
    let decisions = format!("--decisions=no/{NASTY}");
    let column = format!("--time-column={NASTY}");
    let quota = format!("--quota={NASTY}");
    for arguments in [
        ["--quota=3/10s", "--algorithm=all", NASTY],
        ["--quota=3/10s", "--algorithm", NASTY],
        [&quota, "--algorithm=all", "in.csv"],
        [&column, "--algorithm=all", "in.csv"],
        [&decisions, "--algorithm=all", "in.csv"],
    ] {
        let mut command = folder.command("");
        if !arguments[0].starts_with("--quota") {
            command.arg("--quota=3/10s");
        }
        if arguments[2] == NASTY && arguments[1] == "--algorithm" {
            command.arg("in.csv");
        }
        let output = command.args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(SHOWN), "{said}");
    }
}

#[test]
fn a_time_out_of_range_or_too_fine() {
    for time in [
        "-1",
        "-0.001",
        "1969-12-31 23:59:59",
        "18446744073710",
        "99999999999999999999999",
    ] {
        let said = refused_line(&format!("{time},a,1"));
        assert_eq!(
            said,
            format!(
                "expected a time from 0 (1970) to 18446744073709551615 ns (2554), not one out of range, found `{time}`"
            )
        );
    }
    assert_eq!(
        refused_line("1.0000001,a,1"),
        "expected a time of whole nanoseconds, that is at most 6 decimals of ms, found `1.0000001`"
    );
}

#[test]
fn a_broken_line_of_an_access_log() {
    let good = r#"10.0.0.1 - - [12/May/2024:00:00:17 +0000] "GET / HTTP/1.1" 200 5"#;
    let folder = Folder::with("in.log", format!("{good}\n\ngarbage\n"));
    let said = refused(&folder, "--quota 3/10s --algorithm all in.log");
    assert_eq!(
        said,
        "in.log:3: expected a line of the common or combined log format, found `garbage`"
    );
    let folder = Folder::with(
        "in.log",
        format!("{good}\n{}\n", good.replace("12/May", "32/May")),
    );
    let said = refused(&folder, "--quota 3/10s --algorithm all in.log");
    assert_eq!(
        said,
        "in.log:2: expected a time such as [12/May/2024:00:00:17 +0000], found `32/May/2024:00:00:17 +0000`"
    );
}

#[test]
fn a_broken_line_far_behind_many_good_ones() {
    let mut input = String::from("time,key\n");
    for time in 0..10_000 {
        input += &format!("{time},{}\n", time % 7);
    }
    let folder = Folder::with("in.csv", input + "x,1\n");
    let said = refused(&folder, "--quota 3/10s --algorithm all in.csv");
    assert!(said.starts_with("in.csv:10002: expected a time"), "{said}");
}

#[test]
fn outputs_that_cannot_be() {
    let folder = Folder::with("in.csv", GOOD);
    let fails = |arguments: &str| {
        let result = folder.replay(&format!("--quota 3/10s --algorithm all {arguments} in.csv"));
        assert_eq!(result.status(), Some(2), "{arguments}");
        assert_eq!(result.stdout(), "", "{arguments}");
        assert_eq!(
            result.stderr().lines().count(),
            1,
            "{arguments}: {}",
            result.stderr()
        );
        assert_eq!(folder.names(), ["in.csv"], "{arguments}");
        result.stderr()
    };
    let said = fails("--decisions no/such/folder.csv");
    assert!(
        said.starts_with("error: cannot write no/such/folder.csv: No such file"),
        "{said}"
    );
    let said = fails("--json .");
    assert_eq!(
        said,
        "error: cannot write .: it is a directory; expected a file\n"
    );
    assert!(fails("--decisions - --json -").contains("--json - is --decisions's too"));
    assert!(
        fails("--decisions a.csv --json ./a.csv").contains("--json ./a.csv is --decisions's too")
    );
    assert!(
        fails("--decisions ok.csv --json new/").contains("cannot write new/: it names a folder")
    );
    assert!(fails("--decisions ok.csv --json in.csv/").contains("cannot write in.csv/: "));
    let long = "x".repeat(256);
    let said = fails(&format!("--decisions ok.csv --json {long}"));
    assert!(
        said.starts_with(&format!("error: cannot write {long}: ")),
        "{said}"
    );
    assert!(fails("--decisions in.csv").contains("--decisions in.csv is the input's too"));
    assert_eq!(folder.read("in.csv"), GOOD);
}

#[test]
fn a_command_line_that_is_not_one() {
    let folder = Folder::with("in.csv", GOOD);
    for arguments in [
        "",
        "--algorithm all in.csv",
        "--quota 3/10s in.csv",
        "--quota 3/10s --algorithm all",
        "--quota 3/10s --algorithm all --time-unit m in.csv",
        "--quota 3/10s --algorithm all --format xml in.csv",
        "--quota 3/10s --algorithm all --on-regression ignore in.csv",
        "--quota 3/10s --algorithm all --buckets 0 in.csv",
        "--quota 3/10s --algorithm all --buckets 3601 in.csv",
        "--quota 3/10s --algorithm all --no-compare --disagreements differ.csv in.csv",
        "--quota 3/10s --algorithm all --frobnicate in.csv",
    ] {
        let result = folder.replay(arguments);
        assert_eq!(result.status(), Some(2), "{arguments}");
        assert_eq!(result.stdout(), "", "{arguments}");
        assert!(result.stderr().starts_with("error: "), "{arguments}");
    }
}
