//! Inputs that would be misread in silence: they are errors or warnings that say what is meant.

use super::support::Folder;

const ASKED: &str = "--quota 1/1s --algorithm mutex-log";

fn said(input: &str, options: &str, status: i32) -> String {
    let folder = Folder::with("in", input);
    let result = folder.replay(&format!("{ASKED} {options} in"));
    assert_eq!(result.status(), Some(status), "{}", result.stderr());
    result.stderr()
}

#[test]
fn a_near_namesake_of_a_missing_column_is_an_error_that_names_it() {
    for (header, option) in [
        ("time,client", "--key-column client"),
        ("time,Key", "--key-column Key"),
        ("time,key,Cost", "--cost-column Cost"),
        ("Time,key", "--time-column Time"),
    ] {
        let input = format!("{header}\n0,1,1\n");
        let error = said(&input, "", 2);
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(
            error.starts_with("in:1: expected ") && error.contains(option),
            "{error}"
        );
    }
    let input = "time,client,Cost\n0,a,7\n0,b,7\n";
    let folder = Folder::with("in", input);
    let arguments = ["--key-column=", "--cost-column="];
    let mut command = folder.command(&format!("{ASKED} --json out.json in"));
    assert!(command.args(arguments).output().unwrap().status.success());
    assert!(folder.read("out.json").contains("\"denied\": 1"));
    let json = said(input, "--key-column client --cost-column Cost", 0);
    assert!(!json.contains("warning"), "{json}");
}

#[test]
fn a_unit_that_gives_no_times_of_these_days_is_a_warning() {
    let input = "time,key\n1700000000,a\n1700000002,a\n";
    let warning = said(input, "", 0);
    assert!(
        warning.starts_with("warning: the times are not of these days in ms"),
        "{warning}"
    );
    assert!(warning.contains("--time-unit s"), "{warning}");
    assert_eq!(said(input, "--time-unit s", 0), "");
    assert_eq!(said("time,key\n0,a\n1700000002,a\n", "", 0), "");
    let far = said("time,key\n1700000000000000000,a\n", "--time-unit s", 2);
    assert!(
        far.contains("in ns it is a time of these days: --time-unit ns"),
        "{far}"
    );
}

#[test]
fn times_that_are_decades_apart_are_a_warning() {
    let warning = said("time,key\n5,a\n1700000000000,a\n", "", 0);
    assert_eq!(
        warning,
        "warning: the times are 19675.9 d apart; expected --time-unit, or inputs of one unit\n"
    );
}

#[test]
fn a_missing_column_lists_all_there_are() {
    let columns: Vec<String> = (0..40).map(|nth| format!("column{nth}")).collect();
    let error = said(&format!("{}\n", columns.join(",")), "", 2);
    assert!(error.contains("column39`"), "{error}");
    let error = said("{\"a\":1,\"request\":{\"b\":2}}\n", "--time-column c", 2);
    assert_eq!(
        error,
        "in:1: expected JSON lines with a column `c`, found `a,request,request.b`\n"
    );
}

#[test]
fn what_is_taken_of_a_guessed_format_is_said() {
    let log = "10.0.0.1 - - [12/May/2024:00:00:17 +0000] \"GET / HTTP/1.1\" 200 5\n";
    assert_eq!(
        said(log, "", 0),
        "note: in: read as clf: time `time`, key `client`, cost 1\n"
    );
    let extra = "time,key,agent\n0,a,x\n";
    assert_eq!(
        said(extra, "", 0),
        "note: in: read as csv: time `time`, key `key`, cost 1\n"
    );
    assert_eq!(said(extra, "--format csv", 0), "");
    assert_eq!(said("time,key,cost\n0,a,1\n", "", 0), "");
}

#[test]
fn no_line_that_the_filters_take_is_an_error() {
    let error = said("time,key\n0,a\n1,a\n", "--from 5", 2);
    assert_eq!(
        error,
        "error: in: expected at least one request, found none that the filters take, of 2\n"
    );
}
