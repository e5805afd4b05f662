//! Who is denied and for how long, and the service's own decisions beside ours.

use super::support::{Folder, column, rows};

const ASKED: &str = "--quota 1/10s --algorithm mutex-log --time-unit s";

fn json(folder: &Folder, arguments: &str) -> serde_json::Value {
    let printed = folder
        .replay(&format!("{ASKED} {arguments} --json - in.csv"))
        .ok();
    serde_json::from_str(&printed).expect("JSON")
}

#[test]
fn blocks_of_each_client_and_denials_by_hour() {
    let input = "time,key\n0,a\n1,a\n4,a\n12,a\n13,a\n3600,b\n3601,b\n3602,b\n";
    let folder = Folder::with("in.csv", input);
    let summary = json(&folder, "--clients clients.csv");
    let of = &summary["algorithms"][0];
    assert_eq!(of["clients_denied"], 2);
    // From the first denial at 1 to when a request would be allowed, at 10.
    assert_eq!(of["longest_block_ns"], 9_000_000_000_u64);
    let hour = 3_600_000_000_000_u64;
    assert_eq!(
        of["denied_by_hour"],
        serde_json::json!([
            {"from_ns": 0, "width_ns": hour, "denied": 3},
            {"from_ns": hour, "width_ns": hour, "denied": 2},
        ])
    );
    let csv = folder.read("clients.csv");
    assert_eq!(
        rows(&csv),
        [
            [
                "mutex-log",
                "a",
                "5",
                "3",
                "1000000000",
                "13000000000",
                "9000000000"
            ],
            [
                "mutex-log",
                "b",
                "3",
                "2",
                "3601000000000",
                "3602000000000",
                "9000000000"
            ],
        ]
    );
    assert_eq!(column(&csv, "longest_block_ns").len(), 2);
    let table = folder.replay(&format!("{ASKED} in.csv")).ok();
    assert!(
        table.contains("mutex-log denies 2 of 2 clients (100.00 %), one of them for 9.0 s"),
        "{table}"
    );
}

#[test]
fn the_services_own_decisions_stand_beside_ours() {
    let input = "time,key,status\n0,a,200\n1,a,429\n2,a,200\n20,a,429\n40,a,200\n";
    let folder = Folder::with("in.csv", input);
    let summary = json(&folder, "--denied-status 429,503");
    assert_eq!(
        summary["algorithms"][0]["against_service"],
        serde_json::json!({
            "both_deny": 1, "service_alone_denies": 1, "limiter_alone_denies": 1, "neither_denies": 2
        })
    );
    assert_eq!(
        json(&folder, "")["algorithms"][0]["against_service"],
        serde_json::Value::Null
    );
    let table = folder
        .replay(&format!("{ASKED} --denied-status 429 in.csv"))
        .ok();
    assert!(
        table.contains("the service denied 2; mutex-log denies 1 of them, and 1 that it did not"),
        "{table}"
    );
}

#[test]
fn many_addresses_of_one_network_are_a_warning_and_one_key_in_groups() {
    let lines: String = (0..50)
        .map(|nth| format!("{nth},2001:db8::{nth:x}\n"))
        .collect();
    let folder = Folder::with("in.csv", format!("time,key\n{lines}"));
    let alone = folder.replay(&format!("{ASKED} in.csv"));
    assert!(
        alone
            .stderr()
            .contains("50 keys are IPv6 addresses of 1 networks of 64 bits"),
        "{}",
        alone.stderr()
    );
    let grouped = folder.replay(&format!("{ASKED} --group-v6 64 in.csv"));
    assert_eq!(grouped.stderr(), "");
    assert!(grouped.ok().contains("50 requests of 1 key"));
}

#[test]
fn clients_that_come_again_take_permits_of_later_requests() {
    let folder = Folder::with("in.csv", "time,key\n0,a\n1,a\n10,a\n");
    let of = |model: &str| {
        let summary = json(&folder, &format!("--retries {model}"));
        let of = &summary["algorithms"][0];
        assert_eq!(of["against_oracle"]["false_allows"], 0);
        assert_eq!(of["against_oracle"]["false_denies"], 0);
        let retries = &of["retries"];
        let counts = ["sent", "allowed", "given_up"].map(|name| retries[name].as_u64());
        (of["denied"].as_u64(), counts)
    };
    assert_eq!(of("none"), (Some(1), [None; 3]));
    // What comes again at 10 is allowed, so the request of 10 waits until 20.
    assert_eq!(of("honour"), (Some(2), [Some(2), Some(2), Some(0)]));
    // At 2 to 10, and at 11 to 20.
    assert_eq!(of("hammer"), (Some(2), [Some(19), Some(2), Some(0)]));
    let folder = Folder::with("in.csv", "time,key\n0,a\n");
    let arguments = "--quota 0/1s --algorithm mutex-log --retries hammer in.csv";
    let table = folder.replay(arguments).ok();
    assert!(
        table.contains("a model: denied requests come again each second, at most 10 times: 10 sent to mutex-log, 0 of them allowed, 1 given up"),
        "{table}"
    );
}
