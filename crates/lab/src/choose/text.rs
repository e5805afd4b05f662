//! A choice as people read it.

use std::fmt::Write;

use windowpane_lab_ground::figures::{bytes, millions, percent, time};
use windowpane_lab_report::{console, on_threads};

use super::reason::{how, in_bytes, keys};
use super::{Choice, Place};

/// The ranking, the reasons, who is ruled out, and the code.
pub fn render(choice: &Choice) -> String {
    let mut text = String::new();
    let need = &choice.need;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} for {}, {}{}\nby the run {} ({}, {} cores, {})\n",
        need.quotas,
        keys(need.keys),
        on_threads(need.threads),
        demands(choice),
        choice.run.folder,
        choice.run.cpu,
        choice.run.cores,
        choice.run.began,
    );
    if choice.ranking.is_empty() {
        text += "nobody fits\n";
    } else {
        let header = [
            "limiter",
            "exact",
            "1 thread",
            &on_threads(choice.threads),
            "a key",
            "all keys",
            "worst\novershoot",
        ];
        let rows = choice.ranking.iter().map(row).collect();
        let _ = writeln!(
            text,
            "{}",
            console::table(header.map(String::from).to_vec(), rows)
        );
        for place in &choice.ranking {
            let counted = how(place.figures.bytes_source);
            let counted = if counted.is_empty() {
                counted
            } else {
                format!("; memory{counted}")
            };
            let _ = writeln!(
                text,
                "{:>2}. {}: {}{counted}",
                place.place, place.limiter, place.reason
            );
        }
    }
    if !choice.ruled_out.is_empty() {
        text += "\nruled out\n";
        for ruled_out in &choice.ruled_out {
            let _ = writeln!(
                text,
                "  - {}: {}",
                ruled_out.limiter,
                ruled_out.reasons.join("; ")
            );
        }
    }
    text += "\nto know\n";
    for note in &choice.notes {
        let _ = writeln!(text, "  - {note}");
    }
    if !choice.code.is_empty() {
        let _ = write!(text, "\n{}", choice.code);
    }
    text
}

fn demands(choice: &Choice) -> String {
    let need = &choice.need;
    let mut demands = String::new();
    if need.never_over_admit {
        demands += ", never above the quota";
    }
    if let Some(share) = need.max_overshoot {
        demands += &format!(", at most {} above it", percent(share));
    }
    if let Some(memory) = need.memory {
        demands += &format!(", in {}", in_bytes(memory));
    }
    if need.costs {
        demands += ", with costs";
    }
    demands
}

fn row(place: &Place) -> Vec<String> {
    let figures = &place.figures;
    let or_not = |figure: Option<String>| figure.unwrap_or_else(|| "-".into());
    vec![
        format!("{:>2}. {}", place.place, place.limiter),
        if place.exact { "yes" } else { "no" }.into(),
        or_not(figures.ns_allowed_1_thread.map(time)),
        or_not(
            figures
                .allowed_per_second
                .map(|rate| format!("{} M/s", millions(rate))),
        ),
        or_not(figures.bytes_per_key.map(bytes)),
        or_not(figures.bytes.map(in_bytes)),
        or_not(figures.worst_overshoot.map(percent)),
    ]
}
