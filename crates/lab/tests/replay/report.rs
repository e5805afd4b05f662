//! `--report`: the page of a replay.

use scraper::{Html, Selector};

use super::support::Folder;

const ONE: &str = "--quota 2/10s --algorithm mutex-log,fixed-window";

fn page(folder: &Folder, arguments: &str) -> Html {
    folder
        .replay(&format!("{arguments} --report page.html log.csv"))
        .ok();
    Html::parse_document(&folder.read("page.html"))
}

fn texts(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let texts = page.select(&selector);
    texts
        .map(|element| element.text().collect::<String>())
        .collect()
}

#[test]
fn the_verdict_comes_first_and_figures_are_those_of_the_summary() {
    let mut log = String::from("time,key\n");
    // Across two edges of the fixed window.
    for second in 5..25_u32 {
        log += &format!(
            "{},busy\n{},calm{second}\n",
            second * 1000,
            second * 1000 + 1
        );
    }
    let folder = Folder::with("log.csv", log);
    let page = page(&folder, &format!("{ONE} --json sums.json"));
    let summary: serde_json::Value = serde_json::from_str(&folder.read("sums.json")).unwrap();
    let headings = texts(&page, "main h2");
    assert_eq!(headings[0], "Verdict");
    for expected in [
        "Quotas and input",
        "When",
        "Clients denied most",
        "Where limiters differ from the oracle",
        "Every limiter",
        "How to reproduce",
    ] {
        assert!(
            headings.iter().any(|heading| heading == expected),
            "{headings:?}"
        );
    }
    let verdict = texts(&page, "section[aria-labelledby=verdict] li");
    assert!(
        verdict[0]
            .contains("mutex-log (exact) denies 16 of 40 requests (40.0 %), of 1 of 21 clients"),
        "{verdict:?}"
    );
    let most = summary["most_denied"][0]["key"].as_str().unwrap();
    assert!(
        verdict
            .iter()
            .any(|said| said.contains("Denied most") && said.contains(most))
    );
    // One chart a limiter, and one timeline for the only client that was denied.
    assert_eq!(texts(&page, "section[aria-labelledby=when] svg").len(), 2);
    assert_eq!(texts(&page, "section[aria-labelledby=who] td svg").len(), 1);
    for (nth, algorithm) in ["mutex-log", "fixed-window"].iter().enumerate() {
        let of = &summary["algorithms"][nth];
        let row = format!(
            "section[aria-labelledby=limiters] tbody tr:nth-child({}) :is(th, td)",
            nth + 1
        );
        let cells = texts(&page, &row);
        assert_eq!(cells[0], *algorithm);
        assert_eq!(cells[3], of["denied"].to_string());
        assert_eq!(cells[7], of["against_oracle"]["differ"].to_string());
    }
    // The fixed window allows two more at 10 s and at 20 s, and the log the two of 15 s and 16 s.
    assert_eq!(summary["algorithms"][1]["against_oracle"]["differ"], 6);
    let differ = texts(&page, "section[aria-labelledby=differ] tbody tr");
    assert_eq!(differ.len(), 6, "{differ:?}");
    assert!(differ[0].starts_with("12"), "{differ:?}");
    let command = texts(&page, "section[aria-labelledby=again] pre");
    assert!(
        command[0].starts_with("cargo lab replay --quota 2/10s --algorithm mutex-log,fixed-window"),
        "{command:?}"
    );
}

#[test]
fn it_asks_nothing_of_the_network_and_runs_nothing() {
    let folder = Folder::with("log.csv", "time,key\n0,a\n1,a\n2,a\n");
    let page = page(&folder, ONE);
    for selector in ["script", "iframe", "img", "object", "[onload]", "[onclick]"] {
        assert_eq!(texts(&page, selector).len(), 0, "{selector}");
    }
    let linked = Selector::parse("[href], [src]").unwrap();
    for element in page.select(&linked) {
        let to = element.attr("href").or(element.attr("src")).unwrap();
        assert!(to.starts_with('#') || to == "data:,", "{to}");
    }
}

#[test]
fn a_hostile_key_is_text_short_and_visible() {
    let long = "x".repeat(500);
    let log = format!(
        "time,key\n0,<script>alert(1)</script>\n1,<script>alert(1)</script>\n\
         2,\u{202e}gpj\u{1b}[2J\n3,\u{202e}gpj\u{1b}[2J\n4,{long}\n5,{long}\n"
    );
    let folder = Folder::with("log.csv", log);
    folder
        .replay("--quota 1/10s --algorithm mutex-log,gcra --report page.html log.csv")
        .ok();
    let text = folder.read("page.html");
    assert!(!text.contains("<script"), "{text}");
    assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}') && !text.contains(&long));
    let page = Html::parse_document(&text);
    let keys = texts(&page, "section[aria-labelledby=who] tbody th");
    assert!(
        keys.contains(&"<script>alert(1)</script>".to_string()),
        "{keys:?}"
    );
    assert!(
        keys.contains(&"\\u{202e}gpj\\u{1b}[2J".to_string()),
        "{keys:?}"
    );
}

#[test]
fn a_bad_line_leaves_no_page_and_what_was_there() {
    let folder = Folder::with("log.csv", "time,key\n0,a\nnonsense,a\n");
    let replayed = folder.replay(&format!("{ONE} --report page.html log.csv"));
    assert_eq!(replayed.status(), Some(2));
    assert_eq!(folder.names(), ["log.csv"]);

    folder.write("page.html", "before");
    folder.replay(&format!("{ONE} --report page.html log.csv"));
    assert_eq!(folder.read("page.html"), "before");

    let page = page(&folder, &format!("{ONE} --skip-bad --max-bad 50%"));
    let verdict = texts(&page, "section[aria-labelledby=verdict] li");
    assert!(
        verdict
            .iter()
            .any(|said| said == "Skipped: 1 line that is no request."),
        "{verdict:?}"
    );
}

#[test]
fn a_dash_is_the_standard_output_and_no_place_is_taken_twice() {
    let folder = Folder::with("log.csv", "time\n0\n");
    let told = folder.replay(&format!("{ONE} --report - log.csv")).ok();
    assert!(
        told.starts_with("<!DOCTYPE html>") && !told.contains("ns/de-"),
        "{told}"
    );
    let twice = folder.replay(&format!("{ONE} --report x --json x log.csv"));
    assert_eq!(twice.status(), Some(2));
    assert!(
        twice.stderr().contains("is --json's too"),
        "{}",
        twice.stderr()
    );
}

#[test]
fn a_long_log_has_a_page_no_larger_than_a_short_one() {
    let log = |requests: u64| {
        let mut log = String::from("time,key\n");
        for nth in 0..requests {
            log += &format!("{},k{}\n", nth * nth, nth % 50);
        }
        log
    };
    let sizes = [2_000, 40_000].map(|requests| {
        let folder = Folder::with("log.csv", log(requests));
        let page = page(&folder, "--quota 1/1m --algorithm mutex-log --no-compare");
        let bars = texts(&page, "section[aria-labelledby=when] svg rect").len();
        // The paper, and requests and denials of each step.
        assert!((20..=482).contains(&bars), "{bars}");
        folder.read("page.html").len()
    });
    assert!(sizes[1] < 2 * sizes[0], "{sizes:?}");
}

#[test]
fn limiters_that_look_alike_are_one_chart_that_names_them() {
    let mut log = String::from("time,key\n");
    for nth in 0..40 {
        log += &format!("{},a\n", nth * 100);
    }
    let folder = Folder::with("log.csv", log);
    let page = page(
        &folder,
        "--quota 2/1s --algorithm mutex-log,cas-ring,gcra,bucket-ring",
    );
    let charts = texts(&page, "section[aria-labelledby=when] svg");
    assert!(
        charts[0].contains("Denied by mutex-log, cas-ring"),
        "{charts:?}"
    );
    assert!((2..4).contains(&charts.len()), "gcra differs: {charts:?}");
    let said = texts(&page, "section[aria-labelledby=when] p").concat();
    assert!(said.contains("stands for mutex-log, cas-ring"), "{said}");
}
