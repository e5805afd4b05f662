//! An answer in fifteen lines.

use std::fmt::Write;

use windowpane_lab_ground::figures::{digits, millions, percent, thousands, time};
use windowpane_lab_report::choose::{Candidate, Change, Choice, Row, RunnerUp, in_bytes};
use windowpane_lab_report::{console, on_threads};

use super::{Answer, code};

/// Changes of the answer that are printed; the JSON has all.
const CHANGES: usize = 3;

/// Returns the limiter, why, the runner-up, what would change the answer, how sure it is, and the
/// lines that build it.
pub fn render(answer: &Answer) -> String {
    let choice = &answer.choice;
    let mut text = String::new();
    let mut line = |label: &str, words: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<10}{words}");
    };
    let Some(first) = choice.ranking.first() else {
        line("answer", &format!("none fits {}", demand(choice)));
        for ruled_out in choice.ruled_out.iter().take(8) {
            line("", &format!("{}: {}", ruled_out.limiter, ruled_out.reason));
        }
        changes(&choice.changes, &mut line);
        return text;
    };
    line("answer", &format!("{} for {}", name(first), demand(choice)));
    line("why", &why(first));
    line("costs", &costs(first, choice));
    if let Some(second) = &choice.runner_up {
        line("runner-up", &runner_up(second));
    }
    changes(&choice.changes, &mut line);
    let sure = match choice.doubts.as_slice() {
        [] => "the promises decide; nothing speaks against the figures".into(),
        doubts => format!("the promises decide; of the figures: {}", doubts.join("; ")),
    };
    line("sure", &sure);
    let run = &answer.run;
    line(
        "figures",
        &format!(
            "{} ({}, {} cores, {})",
            run.folder, run.cpu, run.cores, run.began
        ),
    );
    for building in code::building(&answer.code) {
        line("", building);
    }
    text
}

fn changes(changes: &[Change], line: &mut impl FnMut(&str, &str)) {
    for (nth, change) in changes.iter().take(CHANGES).enumerate() {
        let label = if nth == 0 { "changes" } else { "" };
        let who = change.store.as_ref().unwrap_or(&change.limiter);
        let saves = match change.saves_bytes {
            Some(bytes @ 1..) => format!(", {} less", in_bytes(bytes.unsigned_abs())),
            Some(bytes @ ..0) => format!(", {} more", in_bytes(bytes.unsigned_abs())),
            Some(0) | None => String::new(),
        };
        line(label, &format!("with {}: {who}{saves}", change.with));
    }
}

/// The limiter, and what holds it for many keys.
fn name(first: &Candidate) -> String {
    match &first.store {
        None => first.limiter.clone(),
        Some(store) => match store.split_once('/') {
            Some(("flat", _)) => format!("{} in a FlatTable", first.limiter),
            Some(("store", _)) => format!("{} in a KeyedLimiter", first.limiter),
            _ => store.clone(),
        },
    }
}

fn demand(choice: &Choice) -> String {
    let need = &choice.need;
    let mut words = vec![need.quotas.to_string()];
    if need.keys > 1 {
        words.push(format!("{} keys", thousands(need.keys)));
    }
    words.push(on_threads(need.threads));
    if need.machines > 1 {
        words.push(format!("{} machines", need.machines));
    }
    words.join(", ")
}

fn why(first: &Candidate) -> String {
    let bound = match (first.exact, first.keeps_quota, first.row) {
        (true, ..) => "exact: no window holds more than the quota, and nothing that fits is denied",
        (_, true, _) => "no window holds more than the quota; a denial may come one bucket early",
        (.., Row::Smooth) => "a token bucket: a rate, and a burst of the limit on top",
        _ => "an estimate: close to exact on ordinary traffic, up to twice the limit at worst",
    };
    let lock = match (first.row, first.lock_free, &first.store) {
        (Row::Machines, ..) => "; one server decides for all machines",
        (_, true, _) => "; no lock: a suspended thread delays no other",
        (_, false, Some(_)) => "; the key is found under its shard's lock",
        (_, false, None) => "; a suspended thread delays the others",
    };
    format!("{bound}{lock}")
}

fn costs(first: &Candidate, choice: &Choice) -> String {
    let figures = &first.figures;
    let mut words = Vec::new();
    if let Some(bytes) = figures.bytes {
        let keys = if choice.need.keys > 1 {
            " with the map"
        } else {
            ""
        };
        words.push(format!("{}{keys}", in_bytes(bytes)));
    }
    if let Some(ns) = figures.ns {
        words.push(format!("{} a decision on one thread", time(ns)));
    }
    if let (2.., Some(rate)) = (choice.need.threads, figures.per_second) {
        words.push(format!("{} million a second on all", millions(rate)));
    }
    words.join(", ")
}

fn runner_up(second: &RunnerUp) -> String {
    let mut words = vec![second.limiter.clone() + ":"];
    match (second.ratio, second.interval) {
        (Some(ratio), Some([low, high])) => {
            words.push(format!("{} x the rate", digits(ratio)));
            let smallest = second.smallest.map_or(String::new(), |smallest| {
                format!("; {} would have shown", percent(smallest - 1.0))
            });
            let smallest = if second.outcome == "cannot tell" {
                smallest
            } else {
                String::new()
            };
            words.push(format!(
                "({} to {}: {}{smallest})",
                digits(low),
                digits(high),
                second.outcome
            ));
        }
        (Some(ratio), None) => words.push(format!("{} x the rate (not compared)", digits(ratio))),
        (None, _) => words.push("its speed was not measured".into()),
    }
    match second.more_bytes {
        Some(bytes @ 1..) => words.push(format!("and {} more", in_bytes(bytes.unsigned_abs()))),
        Some(bytes @ ..0) => words.push(format!("and {} less", in_bytes(bytes.unsigned_abs()))),
        Some(0) | None => {}
    }
    words.join(" ")
}

/// Figures within this share of each other are alike in the table of what nothing beats.
const ALIKE: f64 = 1.05;

/// Returns the table of what nothing beats: no other is as exact, as fast and as small, and better in
/// one of them.
pub fn pareto(choice: &Choice) -> String {
    let beats = |a: &Candidate, b: &Candidate| {
        let exactness = |one: &Candidate| 2 - u8::from(one.exact) - u8::from(one.keeps_quota);
        let pair = |of: fn(&Candidate) -> Option<f64>| {
            (
                of(a).unwrap_or(f64::INFINITY),
                of(b).unwrap_or(f64::INFINITY),
            )
        };
        let (time_a, time_b) = pair(|one| one.figures.ns);
        let (bytes_a, bytes_b) = pair(|one| one.figures.bytes.map(|bytes| bytes as f64));
        let no_worse =
            exactness(a) <= exactness(b) && time_a <= time_b * ALIKE && bytes_a <= bytes_b * ALIKE;
        let better =
            exactness(a) < exactness(b) || time_a * ALIKE < time_b || bytes_a * ALIKE < bytes_b;
        no_worse && better
    };
    let ranking = &choice.ranking;
    let unbeaten = ranking
        .iter()
        .filter(|one| !ranking.iter().any(|other| beats(other, one)));
    let or_not = |figure: Option<String>| figure.unwrap_or_else(|| "-".into());
    let rows = unbeaten.map(|one| {
        vec![
            one.store.clone().unwrap_or_else(|| one.limiter.clone()),
            if one.exact {
                "exact"
            } else if one.keeps_quota {
                "never above"
            } else {
                "up to twice"
            }
            .into(),
            or_not(one.figures.ns.map(time)),
            or_not(
                one.figures
                    .per_second
                    .map(|rate| format!("{} M/s", millions(rate))),
            ),
            or_not(one.figures.bytes.map(in_bytes)),
            or_not(one.figures.worst_overshoot.map(percent)),
        ]
    });
    let threads = on_threads(choice.need.threads);
    let header = [
        "limiter",
        "a window",
        "1 thread",
        &threads,
        "bytes",
        "worst overshoot",
    ];
    let table = console::table(header.map(String::from).to_vec(), rows.collect());
    format!("what nothing beats in all three: exactness, time on one thread, memory\n{table}\n")
}
