//! The clients denied most, and when each was.

use maud::{Markup, html};
use windowpane_lab_report::page::{Column, table};

use super::super::super::summary::{MOST_DENIED, Summary};
use super::super::super::table::{count, number};
use super::super::Report;
use super::super::clients::Denials;
use super::key;
use super::scale::Scale;

pub(super) fn who(report: &Report, summary: &Summary) -> Markup {
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
