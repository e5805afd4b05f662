//! Quotas as text in files and messages.

use windowpane_core::{Quota, Quotas};

#[test]
fn a_quota_is_written_and_read_as_its_text() {
    for text in ["100/60s", "60req/1h", "0/1ns"] {
        let quota: Quota = text.parse().unwrap();
        let json = serde_json::to_string(&quota).unwrap();
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<Quota>(&json).unwrap(), quota);
    }
}

#[test]
fn quotas_are_one_text_or_a_list() {
    let quotas = Quotas::parse("100/60s, 10req/1s").unwrap();
    let json = serde_json::to_string(&quotas).unwrap();
    assert_eq!(json, r#""100/60s, 10req/1s""#);
    for json in [json.as_str(), r#"["100/60s", "10req/1s"]"#] {
        assert_eq!(serde_json::from_str::<Quotas>(json).unwrap(), quotas);
    }
}

#[test]
fn errors_say_what_was_expected() {
    let quota = |json| serde_json::from_str::<Quota>(json).unwrap_err().to_string();
    let quotas = |json| {
        serde_json::from_str::<Quotas>(json)
            .unwrap_err()
            .to_string()
    };
    for (error, found, expected) in [
        (quota(r#""100""#), "`100`", "LIMIT/WINDOW"),
        (quota(r#""100/60""#), "`60`", "60s"),
        (quota("100"), "integer `100`", "such as \"100/60s\""),
        (quotas("100"), "integer `100`", "such as \"100/60s, 10/1s\""),
        (quotas(r#""100/60s, ten/1s""#), "`ten/1s`", "LIMIT/WINDOW"),
        (
            quotas(r#"["100/60s", 7]"#),
            "integer `7`",
            "such as \"100/60s\"",
        ),
        (quotas("[]"), "no quota", "such as 100/60s"),
    ] {
        assert!(error.contains(found) && error.contains(expected), "{error}");
    }
}
