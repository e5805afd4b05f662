//! One small log of each format, with the same four requests.

use std::io::Read;

use windowpane_lab_input::{ColumnNames, Filter, InputOptions, KeyOptions, requests};

/// 12 May 2024, midnight, in seconds since 1970.
const MIDNIGHT: u64 = 1_715_472_000;

fn read(name: &str, options: &InputOptions) -> Vec<(u64, String)> {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut found = Vec::new();
    let each = |time, key: &[u8], _| {
        let key = String::from_utf8(key.to_vec()).unwrap();
        found.push((time / 1_000_000_000 - MIDNIGHT, key));
    };
    let read = requests(name, file, options, each);
    read.unwrap_or_else(|error| panic!("{error}"));
    found
}

const NAMES: [&str; 13] = [
    "semicolons.csv",
    "tabs.tsv",
    "common.log",
    "combined_vhost.log",
    "bots.log",
    "caddy.jsonl",
    "traefik.jsonl",
    "nginx.jsonl",
    "envoy.jsonl",
    "alb.log",
    "cloudfront.log",
    "iis.log",
    "haproxy.log",
];

#[test]
fn every_format_is_found_by_itself_and_read_alike() {
    let expected = [
        (17, "10.0.0.1"),
        (18, "2001:db8::7"),
        (19, "10.0.0.1"),
        (20, "10.0.0.2"),
    ];
    let expected = expected.map(|(at, key)| (at, key.to_string()));
    for name in NAMES {
        assert_eq!(read(name, &InputOptions::default()), expected, "{name}");
    }
}

#[test]
fn every_format_can_be_filtered_and_grouped() {
    let options = InputOptions {
        keys: KeyOptions {
            group_v4: Some(24),
            ..KeyOptions::default()
        },
        filter: Filter {
            statuses: vec![(404, 404), (429, 429)],
            methods: vec!["GET".into()],
            paths: vec!["/b".into(), "/a*".into()],
            ..Filter::default()
        },
        ..InputOptions::default()
    };
    let expected = [(19, "10.0.0.0/24"), (20, "10.0.0.0/24")];
    let expected = expected.map(|(at, key)| (at, key.to_string()));
    for name in NAMES {
        // The first have no methods, and the requests of bots have none.
        if !name.contains("sv") && name != "bots.log" {
            assert_eq!(read(name, &options), expected, "{name}");
        }
    }
}

#[test]
fn keys_of_several_fields_and_forwarded_addresses() {
    let keys = |name: &str, columns: ColumnNames, trusted_hops| -> Vec<String> {
        let options = InputOptions {
            columns,
            keys: KeyOptions {
                trusted_hops,
                ..KeyOptions::default()
            },
            ..InputOptions::default()
        };
        read(name, &options)
            .into_iter()
            .map(|(_, key)| key)
            .collect()
    };
    let forwarded = |column: &str| ColumnNames {
        forwarded: Some(column.into()),
        ..ColumnNames::default()
    };
    assert_eq!(
        keys("envoy.jsonl", forwarded("x_forwarded_for"), 2),
        ["9.9.9.9", "2001:db8::7", "9.9.9.9", "10.0.0.2"]
    );
    assert_eq!(
        keys("cloudfront.log", forwarded("x-forwarded-for"), 1)[1],
        "10.0.0.9"
    );
    assert_eq!(
        keys(
            "caddy.jsonl",
            forwarded("request.headers.X-Forwarded-For"),
            1
        )[0],
        "9.9.9.9"
    );
    let several = ColumnNames {
        key: Some("client,path".into()),
        ..ColumnNames::default()
    };
    assert_eq!(keys("combined_vhost.log", several, 1)[3], "10.0.0.2|/b");
}

#[test]
fn a_log_of_one_format_is_not_taken_for_another() {
    let path = format!("{}/tests/fixtures", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<String> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut names = NAMES.to_vec();
    names.sort_unstable();
    assert_eq!(files, names, "each file is read by a test");
    // Garbage before a log hides no format.
    for name in NAMES.iter().filter(|name| !name.contains("sv")) {
        let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        let mut log = b"-- rotated --\n".to_vec();
        std::fs::File::open(path)
            .unwrap()
            .read_to_end(&mut log)
            .unwrap();
        let options = InputOptions::default();
        let error = requests(name, &log[..], &options, |_, _, _| {})
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("{name}:1: expected ")),
            "{error}"
        );
        assert!(!error.contains("CSV"), "{error}");
    }
}

#[test]
fn a_json_line_without_the_key_is_not_a_request_of_no_one() {
    let log = "{\"ts\":1715472017,\"request\":{\"client_ip\":\"10.0.0.1\"}}\n\
               {\"ts\":1715472018,\"msg\":\"the server is ready\"}\n";
    let options = InputOptions::default();
    let error = requests("in", log.as_bytes(), &options, |_, _, _| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "in:2: expected a key in `request.client_ip`"
    );
}
