//! Accuracy by traffic, beside speed.

use std::fmt::Write as _;

use windowpane_lab_ground::figures::{percent, thousands, time};
use windowpane_lab_measure::rows::AccuracyRow;
use windowpane_lab_measure::state::State;

use super::super::charts;
use super::super::run::Run;
use super::super::verdict::code;
use super::text::{capital, data, image, strings, table, words};

pub(super) fn accuracy(run: &Run) -> String {
    let mut text = String::from(
        "## Accuracy, beside speed\n\nEach decision is compared with the oracle's, which is fed what the limiter itself accepted. \
         *False allows* and *false denies* are shares of all requests; *overshoot* is the most that any window of any client held above the limit. \
         *Time* is that of one decision with one thread: where all is allowed, or on this traffic itself, a limiter a client, one client after the other, \
         on a clock that is moved by hand and costs nothing to read.\n\n",
    );
    text += &image("Worst overshoot beside speed", charts::ACCURACY_FILE);
    text += &data(&["accuracy.csv", "throughput.csv"]);
    for traffic in run.traffics() {
        let _ = write!(
            text,
            "### {}\n\n{}: {} requests of {}, {} for each.\n\n",
            capital(&words(&traffic.traffic)),
            capital(&words(&traffic.about)),
            thousands(traffic.requests),
            match traffic.clients {
                1 => "one client".into(),
                clients => format!("{} clients", thousands(clients)),
            },
            code(&traffic.quota)
        );
        let rows: Vec<Vec<String>> = run
            .limiters()
            .map(|who| accuracy_row(run, &who.contestant, traffic))
            .collect();
        let measured = run.traffic.iter().any(|row| row.traffic == traffic.traffic);
        let header = strings([
            "limiter",
            "allowed",
            "false allows",
            "false denies",
            "worst overshoot",
            if measured {
                "time, this traffic"
            } else {
                "time, allowed"
            },
        ]);
        text += &table(&header, &rows);
        text += &match measured {
            true => data(&["accuracy.csv", "traffic.csv"]),
            false => data(&["accuracy.csv", "throughput.csv"]),
        };
        text += &reasons(run, &traffic.traffic);
    }
    text
}

/// Why some cannot express a traffic.
fn reasons(run: &Run, traffic: &str) -> String {
    let rows = run.accuracy.iter().filter(|row| row.traffic == traffic);
    let reasons: String = rows
        .filter(|row| !row.cannot.is_empty())
        .map(|row| {
            format!(
                "- {} cannot: {}.\n",
                code(&row.contestant),
                words(&row.cannot)
            )
        })
        .collect();
    if reasons.is_empty() {
        reasons
    } else {
        reasons + "\n"
    }
}

fn accuracy_row(run: &Run, name: &str, traffic: &AccuracyRow) -> Vec<String> {
    // On the traffic itself where that was measured, else where all is allowed.
    let speed = run
        .rate_on(name, &traffic.traffic)
        .or_else(|| run.rate(name, State::Allowed, 1));
    let speed = speed.map_or("—".into(), |rate| time(1e9 / rate.median));
    match run.accuracy_of(name, &traffic.traffic) {
        Some(row) => {
            let share = |count: u64| percent(count as f64 / row.requests.max(1) as f64);
            vec![
                code(name),
                thousands(row.allowed),
                share(row.false_allows),
                share(row.false_denies),
                percent(row.worst_overshoot_share),
                speed,
            ]
        }
        None => {
            let mut row = vec![code(name)];
            row.resize(5, "cannot".into());
            row.push(speed);
            row
        }
    }
}
