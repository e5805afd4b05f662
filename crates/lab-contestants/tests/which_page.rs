//! The page "Which one?" tells what the limiters answer: here they are asked.

use windowpane_core::{Cost, Nanos, Quota};
use windowpane_lab_contestants::registry::{BuildOptions, algorithms};

const PAGE: &str = include_str!("../../windowpane/WHICH.md");
const SECOND: Nanos = 1_000_000_000;

/// Nanoseconds as seconds, without trailing zeros.
fn seconds(nanos: Nanos) -> String {
    let decimal = format!("{}.{:09}", nanos / SECOND, nanos % SECOND);
    decimal.trim_end_matches('0').trim_end_matches('.').into()
}

#[test]
fn the_same_requests_are_answered_as_the_page_says() {
    let quota: Quota = "3/10s".parse().unwrap();
    for algorithm in algorithms() {
        let limiter = (algorithm.build)(&quota.into(), BuildOptions::default()).unwrap();
        let answers = [0, 4, 7, 8, 10, 13].map(|at| {
            let decision = limiter.decide_at(at * SECOND, Cost::ONE).unwrap();
            match decision.denied() {
                None => "allowed".to_string(),
                Some(denied) => format!("{} s", seconds(denied.retry_after_nanos().unwrap())),
            }
        });
        let row = format!("| `{}` | {} |", algorithm.info.name, answers.join(" | "));
        assert!(PAGE.contains(&row), "expected in WHICH.md: {row}");
    }
}

/// The place that a published run fills.
#[test]
fn the_page_has_its_marked_region() {
    let begin = PAGE.find("<!-- figures:begin -->").expect("it begins");
    let end = PAGE.find("<!-- figures:end -->").expect("it ends");
    assert!(begin < end);
}
