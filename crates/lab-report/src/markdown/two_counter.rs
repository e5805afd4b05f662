//! How often the two-counter rule is wrong, and time wrongly denied, traffic by traffic.

use windowpane_lab_contestants::registry::ORACLE;
use windowpane_lab_ground::figures::{percent, thousands, time};
use windowpane_lab_measure::rows::AccuracyRow;

use super::super::run::Run;
use super::super::verdict::code;
use super::text::{data, items, strings, table_of, words};

/// Who decides by the rule, here.
const COUNTER: &str = "packed-counter";

/// The share that Cloudflare published for the rule: 400 million requests of 270,000 sources.
const PUBLISHED: f64 = 0.000_03;

fn wrong(row: &AccuracyRow) -> f64 {
    (row.false_allows + row.false_denies) as f64 / row.requests.max(1) as f64
}

/// Where the published share of the two-counter rule holds, and where not.
pub(super) fn published(run: &Run) -> String {
    let mut rows: Vec<&AccuracyRow> = run
        .traffics()
        .into_iter()
        .filter_map(|traffic| run.accuracy_of(COUNTER, &traffic.traffic))
        .filter(|row| row.has_shares())
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by(|a, b| wrong(a).total_cmp(&wrong(b)));
    let holds = |row: &AccuracyRow| wrong(row) <= PUBLISHED;
    let held = rows.iter().filter(|row| holds(row)).count();
    let text = format!(
        "## When the two-counter rule's 0.003 % holds\n\n\
         Of real requests of many sources, {} were published to be decided wrongly by the two-counter rule. \
         Here that holds on {held} of {} traffics of at least 1,000 requests: where clients stay far from their limits, so that hardly a request meets one. \
         The more of the requests are rightly denied, the more of the rest are decided near a limit, and there the rule errs. \
         *Denied by the log* is the share that the exact log denies of the same traffic.\n\n",
        percent(PUBLISHED),
        rows.len()
    );
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let log = run.accuracy_of(ORACLE, &row.traffic);
            let denied = log.map_or("—".into(), |log| {
                percent(1.0 - log.allowed as f64 / log.requests.max(1) as f64)
            });
            vec![
                words(&row.traffic),
                if holds(row) { "holds" } else { "does not" }.into(),
                percent(wrong(row)),
                percent(row.false_allows as f64 / row.requests.max(1) as f64),
                percent(row.false_denies as f64 / row.requests.max(1) as f64),
                percent(row.worst_overshoot_share),
                denied,
                thousands(row.requests),
            ]
        })
        .collect();
    let header = strings([
        "traffic",
        "0.003 %",
        "wrong",
        "false allows",
        "false denies",
        "worst overshoot",
        "denied by the log",
        "requests",
    ]);
    text + &table_of(2, &header, &rows) + &data(&["accuracy.csv"])
}

/// Time wrongly denied of those that deny wrongly, and the worst inputs that were searched for.
pub(super) fn wrongly_denied(run: &Run) -> String {
    let denied = |row: &&AccuracyRow| row.wrongly_denied_ns > 0 && row.cannot.is_empty();
    let mut text = String::new();
    let rows: Vec<Vec<String>> = run
        .accuracy
        .iter()
        .filter(denied)
        .map(|row| {
            let share = row.wrongly_denied_ns as f64 / row.client_time_ns.max(1) as f64;
            vec![
                words(&row.traffic),
                code(&row.contestant),
                percent(share),
                time(row.longest_wrong_denial_ns as f64),
            ]
        })
        .collect();
    if !rows.is_empty() {
        text += "### Time wrongly denied\n\nFrom each false denial until the wait told with it is over or something is accepted, as a share of the time in which clients were there, and the longest. Where a limiter tells no wait, only until it is asked again.\n\n";
        let header = strings(["traffic", "limiter", "share of the time", "longest"]);
        text += &table_of(2, &header, &rows);
        text += &data(&["accuracy.csv"]);
    }
    let found: Vec<&AccuracyRow> = run
        .accuracy
        .iter()
        .filter(|row| row.worst_overshoot > 0 && !row.input.is_empty())
        .collect();
    if !found.is_empty() {
        text += "### The worst inputs found\n\nOf those that a seeded search tried for each limiter; who is not named was never over its limit.\n\n";
        text += &items(found.into_iter().map(|row| {
            format!(
                "{} at {}: {} above the limit in one window, by {}.",
                code(&row.contestant),
                code(&row.quota),
                percent(row.worst_overshoot_share),
                words(&row.input)
            )
        }));
        text += &data(&["accuracy.csv"]);
    }
    text
}
