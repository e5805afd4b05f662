//! The page of a replay: who would be denied first, then when, who, and where limiters differ.

use anyhow::Result;
use maud::{Markup, html};
use windowpane_core::{Nanos, format_nanos};

use super::super::excerpt::{excerpt, one_line};
use super::super::summary::{AlgorithmSummary, Client, MOST_DENIED, Summary};
use super::super::table::{count, number, percent, span};
use super::clients::Denials;
use super::{LINES, Report};
use crate::page::{Column, Page, Section, chart, table};
use crate::report::charts::timeline::{Bars, Step, draw};

/// A share of requests, as everywhere in the laboratory.
fn share(part: u64, of: u64) -> String {
    match of {
        0 => "0 %".into(),
        of => crate::report::percent(part as f64 / of as f64),
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
fn file_name(name: &str) -> &str {
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

/// Later than this, nanoseconds are taken as counted from 1970: it is 1973.
const DATES_FROM: Nanos = 100_000_000_000_000_000;

/// A time of the input: a date in UTC to what a `width` tells, or what passed since its zero.
fn instant(time: Nanos, width: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let nanos = i128::from(time);
    match jiff::Timestamp::from_nanosecond(nanos) {
        Ok(instant) if time >= DATES_FROM => {
            let format = match width {
                w if w >= 86_400 * SECOND => "%Y-%m-%d",
                w if w >= 60 * SECOND => "%m-%d %H:%M",
                w if w >= SECOND => "%H:%M:%S",
                0 => "%Y-%m-%d %H:%M:%S UTC",
                _ => "%H:%M:%S%.3f",
            };
            instant.strftime(format).to_string()
        }
        _ => span(time),
    }
}

/// Places along the axis of all times.
struct Scale {
    from: Nanos,
    length: f64,
    width: u64,
}

impl Scale {
    fn of(report: &Report) -> Scale {
        let width = report.timeline.width();
        let starts = || report.timeline.steps().map(|(at, _)| at);
        let from = starts().next().unwrap_or(0);
        let last = starts().last().unwrap_or(0);
        Scale {
            from,
            length: (last - from) as f64 + width as f64,
            width,
        }
    }

    fn at(&self, time: f64) -> f64 {
        ((time - self.from as f64) / self.length).clamp(0.0, 1.0)
    }

    /// From where to where a step of that width is.
    fn step(&self, at: Nanos, width: u64) -> (f64, f64) {
        let at = at as f64;
        (self.at(at), self.at(at + width as f64))
    }

    /// A few labelled places.
    fn labels(&self) -> Vec<(f64, String)> {
        let shares = [0.125, 0.5, 0.875];
        let label = |share: f64| {
            let time = self.from.saturating_add((self.length * share) as u64);
            // On a step's edge, so that the label says a round time.
            let time = time - time % self.width;
            (self.at(time as f64), instant(time, self.width))
        };
        let mut labels: Vec<(f64, String)> = shares.map(label).to_vec();
        labels.dedup_by(|a, b| a.1 == b.1);
        labels
    }
}

/// What each bar of the charts is.
fn each(scale: &Scale) -> String {
    let utc = if scale.from >= DATES_FROM {
        "UTC; "
    } else {
        ""
    };
    format!("{utc}each bar is {}", width(scale.width))
}

/// A round width in words.
fn width(width: u64) -> String {
    match (width / 1_000_000_000, width % 1_000_000_000) {
        (seconds, 0) if seconds.is_multiple_of(86_400) => format!("{} d", seconds / 86_400),
        (seconds, 0) if seconds.is_multiple_of(3_600) => format!("{} h", seconds / 3_600),
        (seconds, 0) if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        (seconds, 0) => format!("{seconds} s"),
        _ => format_nanos(width),
    }
}

fn steps(report: &Report, scale: &Scale, of: impl Fn(&super::Step) -> u64) -> Vec<Step> {
    let steps = report.timeline.steps().map(|(at, step)| {
        let (from, to) = scale.step(at, scale.width);
        Step {
            from,
            to,
            all: step.requests,
            of_them: of(step),
        }
    });
    steps.collect()
}

fn when(report: &Report, summary: &Summary) -> Result<Markup> {
    let scale = Scale::of(report);
    let mut charts = Vec::new();
    for (nth, algorithm) in summary.algorithms.iter().enumerate() {
        let steps = steps(report, &scale, |step| {
            step.denied.get(nth).copied().unwrap_or(0)
        });
        let title = format!("Denied by {}", algorithm.name);
        let svg = draw(&title, Bars::Denied, &steps, scale.labels(), each(&scale))?;
        let label = format!(
            "{title}: {} of {} over {}",
            number(algorithm.denied),
            count(summary.input.requests, "request"),
            span(summary.input.latest_ns - summary.input.earliest_ns)
        );
        charts.push((svg, label));
    }
    // By the exact one, if there is one.
    let exact = summary
        .algorithms
        .iter()
        .position(|algorithm| algorithm.exact);
    let nth = exact.unwrap_or(0);
    let denied = |step: &super::Step| step.denied.get(nth).copied().unwrap_or(0);
    let busiest = report.timeline.steps().max_by_key(|(_, step)| denied(step));
    let busiest = busiest.filter(|(_, step)| denied(step) > 0);
    let said = busiest.zip(report.names.get(nth));
    Ok(html! {
        @if let Some(((at, step), name)) = said {
            p {
                code { (name) } " denied most in the " (width(scale.width)) " from " (instant(at, 0)) ": "
                (number(denied(step))) " of " (count(step.requests, "request")) "."
            }
        }
        (figures(&charts))
    })
}

fn figures(charts: &[(String, String)]) -> Markup {
    let charts: Vec<(&str, &str)> = charts
        .iter()
        .map(|(svg, label)| (svg.as_str(), label.as_str()))
        .collect();
    chart(&charts, &html! {})
}

fn who(report: &Report, summary: &Summary) -> Markup {
    if summary.most_denied.is_empty() {
        return html! { p { "No client was denied." } };
    }
    let scale = Scale::of(report);
    let names = || summary.algorithms.iter().map(|algorithm| algorithm.name);
    let mut header = vec![html! { "client" }, html! { "when" }, html! { "requests" }];
    header.extend(names().map(|name| html! { code { (name) } }));
    let mut columns = vec![Column::Words, Column::Words];
    columns.resize(header.len(), Column::Figures);
    let mut incomplete = 0;
    let mut rows = Vec::new();
    for client in &summary.most_denied {
        let denials = report.clients.get(&client.key);
        let least = client.denied.values().max().copied().unwrap_or(0);
        incomplete += usize::from(denials.is_none_or(|denials| denials.count < least));
        let mut row = vec![
            key(&client.key),
            denials.map_or(html! { "—" }, |denials| spark(denials, &scale)),
            html! { (number(client.requests)) },
        ];
        row.extend(names().map(|name| {
            let denied = client.denied.get(name).copied().unwrap_or(0);
            html! { (number(denied)) }
        }));
        rows.push(row);
    }
    let title = match summary.most_denied.len() {
        MOST_DENIED => format!("The {MOST_DENIED} clients denied most"),
        _ => "The clients denied".to_string(),
    };
    html! {
        p {
            (title) ", and how often by each limiter. The bars are requests that at least one limiter denied, over the whole time of the input; the highest of each client is as high as its box."
        }
        (table(&title, &columns, &header, &rows, &html! {}))
        @if incomplete > 0 {
            p { "Of " (count(incomplete as u64, "client")) " the bars hold only the later denials: more clients were denied than timelines are kept of." }
        }
    }
}

/// The timeline of one client, as wide as a cell.
fn spark(denials: &Denials, scale: &Scale) -> Markup {
    const WIDTH: f64 = 180.0;
    const HEIGHT: f64 = 24.0;
    let most = denials
        .when
        .steps()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(1);
    let label = format!("{} denied", count(denials.count, "request"));
    html! {
        svg width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
            line x1="0" x2=(WIDTH) y1=(HEIGHT - 0.5) y2=(HEIGHT - 0.5) stroke="var(--line)" {}
            @for (at, count) in denials.when.steps() {
                @let (from, to) = scale.step(at, denials.when.width());
                @let high = (*count as f64 / most as f64 * (HEIGHT - 1.0)).max(1.0);
                @let wide = ((to - from) * WIDTH).max(1.5);
                rect x=(format!("{:.1}", (from * WIDTH).min(WIDTH - wide))) y=(format!("{:.1}", HEIGHT - high))
                    width=(format!("{wide:.1}")) height=(format!("{high:.1}")) fill="var(--rival)" {}
            }
        }
    }
}

fn differ(report: &Report, summary: &Summary) -> Result<Markup> {
    let scale = Scale::of(report);
    let differs = |algorithm: &AlgorithmSummary| {
        let oracle = algorithm.against_oracle.as_ref();
        oracle.map_or(0, |oracle| oracle.differ)
    };
    let mut charts = Vec::new();
    for (nth, algorithm) in summary.algorithms.iter().enumerate() {
        if differs(algorithm) == 0 {
            continue;
        }
        let steps = steps(report, &scale, |step| {
            step.differ.get(nth).copied().unwrap_or(0)
        });
        let title = format!("{} differs from the oracle", algorithm.name);
        let svg = draw(&title, Bars::Differ, &steps, scale.labels(), each(&scale))?;
        let label = format!("{title} in {}", count(differs(algorithm), "decision"));
        charts.push((svg, label));
    }
    if charts.is_empty() {
        return Ok(
            html! { p { "Nowhere: each decides every request as the oracle, the exact log, does." } },
        );
    }
    let agree: Vec<&str> = summary
        .algorithms
        .iter()
        .filter(|algorithm| differs(algorithm) == 0)
        .map(|algorithm| algorithm.name)
        .collect();
    let mut header: Vec<Markup> = ["line", "time", "client", "cost", "oracle"]
        .map(|name| html! { (name) })
        .to_vec();
    header.extend(report.names.iter().map(|name| html! { code { (name) } }));
    let mut columns = vec![
        Column::Figures,
        Column::Words,
        Column::Words,
        Column::Figures,
    ];
    columns.resize(header.len(), Column::Words);
    let rows: Vec<Vec<Markup>> = report
        .differ
        .iter()
        .map(|line| {
            let mut row = vec![
                html! { (number(line.line)) },
                html! { (instant(line.time, 0)) },
                key(&line.key),
                html! { (number(line.cost)) },
                html! { (line.oracle) },
            ];
            row.extend(
                line.answers
                    .iter()
                    .map(|answer| match *answer == line.oracle {
                        true => html! { (answer) },
                        false => html! { b { (answer) } },
                    }),
            );
            row
        })
        .collect();
    let title = match report.lines_that_differ {
        lines if lines > LINES as u64 => {
            format!(
                "The first {LINES} of {} on which one differs",
                count(lines, "line")
            )
        }
        lines => format!("The {} on which one differs", count(lines, "line")),
    };
    Ok(html! {
        p {
            "The oracle is the exact log, in a run of its own: what it allows and denies beside what each limiter does. "
            @if !agree.is_empty() {
                "No decision differs of "
                @for (nth, name) in agree.iter().enumerate() {
                    @if nth > 0 { ", " }
                    code { (name) }
                }
                "."
            }
        }
        (figures(&charts))
        h3 #lines { (title) }
        (table(&title, &columns, &header, &rows, &html! {}))
        p { "All of them: add " code { "--disagreements OUT.csv" } "." }
    })
}

fn limiters(summary: &Summary) -> Markup {
    let header = [
        "limiter",
        "exact",
        "allowed",
        "denied",
        "errors",
        "false allows",
        "false denies",
        "differ",
        "worst overshoot",
        "bytes a client",
        "ns a decision",
    ];
    let header: Vec<Markup> = header.map(|name| html! { (name) }).to_vec();
    let mut columns = vec![Column::Words, Column::Words];
    columns.resize(header.len(), Column::Figures);
    let row = |algorithm: &AlgorithmSummary| -> Vec<Markup> {
        let compared = |of: fn(&super::super::summary::Comparison) -> String| {
            algorithm
                .against_oracle
                .as_ref()
                .map_or("—".to_string(), of)
        };
        let cells = [
            if algorithm.exact { "yes" } else { "no" }.to_string(),
            number(algorithm.allowed),
            number(algorithm.denied),
            number(algorithm.errors),
            compared(|oracle| number(oracle.false_allows)),
            compared(|oracle| number(oracle.false_denies)),
            compared(|oracle| number(oracle.differ)),
            compared(|oracle| {
                let worst = oracle.worst_overshoot.as_ref();
                worst.map_or("0 %".into(), |worst| percent(worst.share))
            }),
            algorithm
                .bytes_per_key
                .map_or("—".into(), |bytes| number(bytes.round() as u64)),
            format!("{:.1}", algorithm.ns_per_decision),
        ];
        let mut row = vec![html! { code { (algorithm.name) } }];
        row.extend(cells.map(|cell| html! { (cell) }));
        row
    };
    let rows: Vec<Vec<Markup>> = summary.algorithms.iter().map(row).collect();
    html! {
        (table("Every limiter", &columns, &header, &rows, &html! {}))
        p {
            @if summary.compared {
                "False allows and false denies are judged by the oracle fed what that limiter accepted; “differ” counts decisions unlike those of the oracle's own run; the worst overshoot is that of any window, beyond the limit, as a share of it. "
            } @else {
                "Nothing was compared with the oracle (" code { "--no-compare" } "). "
            }
            "Bytes are what the store of limiters has allocated at the end, without the keys. Nanoseconds are of " code { (summary.call) } " in a keyed store on one thread, without reading the input: rough."
        }
    }
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
