//! The page of a replay: who would be denied first, then when, who, and where limiters differ.
//!
//! | where | what |
//! |---|---|
//! | here | the sections' order, the verdict, and what is said in words alone |
//! | `scale` | times in words, and their places along the axis of all times |
//! | `when` | charts of all requests by time |
//! | `who` | the clients denied most |
//! | `differ` | where a limiter and the oracle differ |
//! | `limiters` | every limiter's figures |

mod differ;
mod limiters;
mod scale;
mod when;
mod who;

use anyhow::Result;
use maud::{Markup, html};
use windowpane_lab_input::{excerpt, one_line};
use windowpane_lab_report::page::{Column, Page, Section, table};

use self::differ::differ;
use self::limiters::limiters;
pub(in super::super) use self::scale::instant;
use self::when::when;
use self::who::who;
use super::super::summary::{AlgorithmSummary, Client, Summary};
use super::super::table::{count, number, percent, span, step_back};
use super::Report;

/// A share of requests, as everywhere in the laboratory.
fn share(part: u64, of: u64) -> String {
    match of {
        0 => "0 %".into(),
        of => windowpane_lab_ground::figures::percent(part as f64 / of as f64),
    }
}

pub(super) fn document(report: &Report, summary: &Summary, command: &str) -> Result<String> {
    let section = |id: &str, heading: &str, body: Markup| Section {
        id: id.into(),
        heading: heading.into(),
        parts: Vec::new(),
        body,
    };
    let mut sections = vec![
        section("verdict", "Verdict", verdict(summary)),
        section("asked", "Quotas and input", asked(summary)),
        section("when", "When", when(report, summary)?),
        section("who", "Clients denied most", who(report, summary)),
    ];
    if summary.compared {
        let body = differ(report, summary)?;
        sections.push(section(
            "differ",
            "Where limiters differ from the oracle",
            body,
        ));
    }
    sections.push(section("limiters", "Every limiter", limiters(summary)));
    sections.push(section("again", "How to reproduce", again(command)));
    sections.push(section(
        "limits",
        "What this page cannot tell",
        cannot(summary),
    ));
    let page = Page {
        title: format!("Replay of {}", excerpt(file_name(&summary.input.name))),
        lead: html! {},
        sections,
    };
    Ok(page.document())
}

/// The file alone: its folders are told with the input.
pub(crate) fn file_name(name: &str) -> &str {
    name.rsplit(std::path::is_separator).next().unwrap_or(name)
}

/// Text of an input: shortened, on one line, and nothing in it turns or hides what follows.
fn key(name: &str) -> Markup {
    match name {
        "" => html! { "(none)" },
        name => html! { code { (excerpt(name)) } },
    }
}

fn verdict(summary: &Summary) -> Markup {
    let input = &summary.input;
    let exact = summary.algorithms.iter().find(|algorithm| algorithm.exact);
    let rest = |other: &&AlgorithmSummary| exact.is_none_or(|exact| exact.name != other.name);
    html! {
        ul {
            @if let Some(exact) = exact {
                li { b { "Who would be denied: " } (denied(exact, summary)) }
            }
            @for other in summary.algorithms.iter().filter(rest) {
                li { (denied(other, summary)) }
            }
            @if let Some(worst) = summary.most_denied.first().filter(|_| input.keys > 1) {
                li { b { "Denied most: " } (most(worst)) }
            }
            @if let Some(steps) = &input.steps_back {
                li { b { "Time steps back: " } (step_back(steps, input)) ". Each counts as the latest time of its client; with " code { "--sort" } " less may be denied." }
            }
            @if input.bad_lines > 0 {
                li {
                    b { "Skipped: " } (count(input.bad_lines, "line"))
                    @if input.bad_lines == 1 { " that is no request." } @else { " that are no requests." }
                }
            }
            @for skipped in &summary.skipped {
                li { "Left out " code { (skipped.name) } ": " (skipped.reason) "." }
            }
        }
    }
}

fn denied(algorithm: &AlgorithmSummary, summary: &Summary) -> Markup {
    let input = &summary.input;
    let what = if algorithm.exact {
        " (exact)"
    } else {
        " (approximate)"
    };
    html! {
        code { (algorithm.name) } (what) " denies "
        b { (number(algorithm.denied)) " of " (count(input.requests, "request")) " (" (share(algorithm.denied, input.requests)) ")" }
        @if input.keys > 1 {
            ", of " (number(algorithm.keys_denied)) " of " (count(input.keys, "client"))
        }
        @if algorithm.denied > 0 { ", for at most " (span(algorithm.longest_block_ns)) }
        @if algorithm.errors > 0 { "; " (number(algorithm.errors)) " have no decision" }
        @if let Some(oracle) = &algorithm.against_oracle {
            @if !algorithm.exact {
                "; by the oracle wrongly allowed " (number(oracle.false_allows)) ", wrongly denied " (number(oracle.false_denies))
                @if let Some(worst) = &oracle.worst_overshoot {
                    ", at worst " (percent(worst.share)) " above the limit of " (worst.quota)
                }
            }
        }
        "."
    }
}

fn most(client: &Client) -> Markup {
    let worst = client.denied.iter().max_by_key(|(_, denied)| **denied);
    html! {
        (key(&client.key))
        @if let Some((name, denied)) = worst {
            ", " (number(*denied)) " of " (count(client.requests, "request")) " (" (share(*denied, client.requests)) ") by " code { (name) } "."
        }
    }
}

fn asked(summary: &Summary) -> Markup {
    let input = &summary.input;
    let rows = [
        ("quota of every client", summary.quotas.join(" and ")),
        ("input", excerpt(&input.name)),
        ("format", input.format.to_string()),
        ("requests", number(input.requests)),
        ("clients", number(input.keys)),
        ("first", instant(input.earliest_ns, 0)),
        ("last", instant(input.latest_ns, 0)),
        ("span", span(input.latest_ns - input.earliest_ns)),
        ("bad lines, skipped", number(input.bad_lines)),
        (
            "a time before the latest of its client",
            match summary.on_regression {
                "reject" => "is an error".to_string(),
                _ => "counts as that one".to_string(),
            },
        ),
    ];
    let rows: Vec<Vec<Markup>> = rows
        .into_iter()
        .map(|(what, is)| vec![html! { (what) }, html! { (is) }])
        .collect();
    let header = [html! { "what" }, html! { "is" }];
    table(
        "Quotas and input",
        &[Column::Words; 2],
        &header,
        &rows,
        &html! {},
    )
}

fn again(command: &str) -> Markup {
    html! {
        pre { code { (one_line(command)) } }
    }
}

fn cannot(summary: &Summary) -> Markup {
    html! {
        ul {
            li { "What clients would have done if they had been denied: the input is what they sent when they were not. One that retries sends more, one that honours " code { "Retry-After" } " comes later." }
            li { "Which limiter is fastest: the times here are rough. " code { "cargo bench" } " measures." }
            li { "Anything finer than a bar; every decision is written by " code { "--decisions OUT.csv" } "." }
            @if !summary.compared {
                li { "Where limiters are wrong: the oracle was left out." }
            }
        }
    }
}
