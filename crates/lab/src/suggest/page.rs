//! The suggestion as a page, with the picture.

use anyhow::Result;
use maud::{Markup, html};
use windowpane_lab_input::{excerpt, one_line};
use windowpane_lab_report::charts::shares::{Shares, draw};
use windowpane_lab_report::page::{Column, Page, Section, chart, table};

use super::summary::{Point, Suggested, Suggestion, WindowSummary};
use super::table::{in_words, share};
use crate::replay::{count, file_name, number, span};

/// Points of a curve in the picture, about.
const POINTS: usize = 12;

/// The page: one file of HTML that needs no other. `command` is how to make it again.
///
/// # Errors
/// If a chart cannot be drawn.
pub fn page(suggestion: &Suggestion, command: &str) -> Result<String> {
    let section = |id: String, heading: String, body: Markup| Section {
        id,
        heading,
        parts: Vec::new(),
        body,
    };
    let mut sections = vec![section(
        "suggested".into(),
        "Suggested limits".into(),
        verdict(suggestion),
    )];
    for (nth, window) in suggestion.windows.iter().enumerate() {
        sections.push(section(
            format!("window-{nth}"),
            format!("Limits in {}", window.window),
            of_window(window, suggestion)?,
        ));
    }
    sections.push(section(
        "again".into(),
        "How to reproduce".into(),
        html! { pre { code { (one_line(command)) } } },
    ));
    let page = Page {
        title: format!("A limit for {}", excerpt(file_name(&suggestion.input.name))),
        lead: html! {},
        sections,
    };
    Ok(page.document())
}

fn verdict(suggestion: &Suggestion) -> Markup {
    let input = &suggestion.input;
    html! {
        ul {
            @for window in &suggestion.windows {
                @if let Some(first) = window.algorithms.first() {
                    li { (said(first, window, suggestion)) }
                }
            }
            li { "Target: " (in_words(&suggestion.targets)) "." }
            @if !suggestion.given.is_empty() {
                li { "Beside: " (suggestion.given.join(" and ")) "." }
            }
            li {
                "Input: " code { (excerpt(&input.name)) } ", " (count(input.requests, "request")) " of "
                (count(input.keys, "client")) " in " (span(input.latest_ns - input.earliest_ns)) ", in the order of time."
            }
        }
    }
}

fn said(of: &Suggested, window: &WindowSummary, suggestion: &Suggestion) -> Markup {
    let input = &suggestion.input;
    html! {
        @match (of.limit, &of.denied) {
            (Some(limit), Some(denied)) => {
                b { (number(limit)) "/" (window.window) } " by " code { (of.name) } " denies "
                (share(denied.requests_denied, input.requests)) " of the requests and "
                (share(denied.clients_denied, input.keys)) " of the clients, for at most "
                (span(denied.longest_block_ns)) ". One less denies more than the target."
            }
            _ => { "No limit in " (window.window) " reaches the target: the quotas beside deny more." }
        }
    }
}

fn of_window(window: &WindowSummary, suggestion: &Suggestion) -> Result<Markup> {
    let input = &suggestion.input;
    let (requests, clients) = (input.requests as f64, input.keys as f64);
    // Exact limiters have one curve.
    let mut curves: Vec<&Suggested> = Vec::new();
    for of in &window.algorithms {
        if !curves.iter().any(|drawn| drawn.curve == of.curve) {
            curves.push(of);
        }
    }
    let picture = |what: &str, value: &dyn Fn(&Point) -> f64, target: Option<f64>| {
        let title = format!("Share of {what} denied by limit in {}", window.window);
        let lines: Vec<Shares> = curves
            .iter()
            .map(|of| Shares {
                name: of.name.into(),
                points: few(of)
                    .map(|point| (point.limit as f64, value(point)))
                    .collect(),
            })
            .collect();
        let x = format!("limit in {}", window.window);
        let svg = draw(&title, &x, &format!("{what} denied"), &lines, target);
        Ok::<_, anyhow::Error>((svg, title))
    };
    let targets = &suggestion.targets;
    let pictures = [
        picture(
            "requests",
            &|point| point.denied.requests_denied as f64 / requests,
            targets.requests,
        )?,
        picture(
            "clients",
            &|point| point.denied.clients_denied as f64 / clients,
            targets.clients,
        )?,
    ];
    let pictures = pictures
        .each_ref()
        .map(|(svg, title)| (&svg[..], &title[..]));
    let header = [
        "limiter",
        "least limit",
        "requests denied",
        "clients denied",
        "longest block",
    ];
    let columns = [
        Column::Words,
        Column::Figures,
        Column::Figures,
        Column::Figures,
        Column::Figures,
    ];
    let row = |of: &Suggested| -> Vec<Markup> {
        let cells = match (of.limit, &of.denied) {
            (Some(limit), Some(denied)) => [
                number(limit),
                share(denied.requests_denied, input.requests),
                share(denied.clients_denied, input.keys),
                span(denied.longest_block_ns),
            ],
            _ => ["none", "—", "—", "—"].map(String::from),
        };
        let cells = cells.into_iter().map(|cell| html! { (cell) });
        [html! { code { (of.name) } }]
            .into_iter()
            .chain(cells)
            .collect()
    };
    let rows: Vec<Vec<Markup>> = window.algorithms.iter().map(row).collect();
    let points: Vec<Vec<Markup>> = curves
        .iter()
        .flat_map(|of| {
            of.curve.iter().map(|point| {
                let denied = &point.denied;
                let cells = [
                    number(point.limit),
                    share(denied.requests_denied, input.requests),
                    share(denied.clients_denied, input.keys),
                    span(denied.longest_block_ns),
                ];
                let cells = cells.into_iter().map(|cell| html! { (cell) });
                [html! { code { (of.name) } }]
                    .into_iter()
                    .chain(cells)
                    .collect()
            })
        })
        .collect();
    let header_of = |limit: &str| {
        let mut names = header.map(|name| html! { (name) }).to_vec();
        names[1] = html! { (limit) };
        names
    };
    Ok(html! {
        p { "The busiest window of any client holds " (number(window.busiest_window)) ". Limiters with the same curve are drawn once." }
        (chart(&pictures, &html! {}))
        (table("Suggested limits", &columns, &header_of("least limit"), &rows, &html! {}))
        @for skipped in &window.skipped {
            p { "Left out " code { (skipped.name) } ": " (skipped.reason) "." }
        }
        details {
            summary { "The curves as a table" }
            (table("The curves", &columns, &header_of("limit"), &points, &html! {}))
        }
    })
}

/// Some points of a curve, with its ends and the limit that is suggested.
fn few(of: &Suggested) -> impl Iterator<Item = &Point> {
    let each = of.curve.len().div_ceil(POINTS).max(1);
    let last = of.curve.len().saturating_sub(1);
    let points = of.curve.iter().enumerate();
    let shown = points.filter(move |(nth, point)| {
        nth % each == 0 || *nth == last || Some(point.limit) == of.limit
    });
    shown.map(|(_, point)| point)
}
