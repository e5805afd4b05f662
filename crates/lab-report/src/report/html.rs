//! A report as a page.

use maud::{Markup, PreEscaped, html};

use super::{Block, Cell, Column, Report, Table};
use crate::page::{Page, Section, chart};

/// Sorts and filters; without it the page reads the same.
const SCRIPT: &str = include_str!("report.js");

/// Returns the page of a report.
pub(crate) fn page(report: &Report) -> String {
    let mut sections = report.sections.iter();
    let lead = sections
        .next()
        .map_or(html! {}, |first| blocks(&first.blocks));
    let section = |section: &super::Section| Section {
        id: section.id.into(),
        heading: section.heading.into(),
        parts: Vec::new(),
        body: blocks(&section.blocks),
    };
    let page = Page {
        title: report.title.clone(),
        lead: html! { div.first { (lead) } },
        sections: sections.map(section).collect(),
    };
    let script = html! { script { (PreEscaped(SCRIPT)) } }.into_string();
    page.document()
        .replacen("</body>", &(script + "</body>"), 1)
}

fn blocks(blocks: &[Block]) -> Markup {
    html! { @for one in blocks { @match one {
        Block::Text(text) => p { (marked(text)) },
        Block::List(items) => ul { @for item in items {
            li id=(item.id) { strong { (marked(&item.lead)) } " " (marked(&item.text)) }
        } },
        Block::Chart(one) => { (chart(&[(&one.svg, &one.about)], &html! {})) },
        Block::Table(one) => { (table(one)) },
        Block::Data(files) => p.data { "Data: " @for (nth, file) in files.iter().enumerate() {
            @if nth > 0 { ", " } a href=(file) { (file) }
        } },
        Block::Folded(summary, inside) => details { summary { (summary) } (self::blocks(inside)) },
        Block::Command(command) => pre { code { (command) } },
    } } }
}

fn table(of: &Table) -> Markup {
    html! { figure {
        div.scroll tabindex="0" role="region" aria-label=(of.label) {
            table.filtered {
                thead { tr { @for (nth, column) in of.columns.iter().enumerate() { (heading(nth, column)) } } }
                tbody { @for row in &of.rows {
                    tr data-exact=[row.is_exact] { @for (nth, cell) in row.cells.iter().enumerate() {
                        @if nth == 0 {
                            th scope="row" { (marked(&cell.text)) }
                        } @else {
                            td.n data-sort=[cell.sort.map(|value| format!("{value:.6e}"))] { (marked(&cell.text)) (bar(cell)) }
                        }
                    } }
                } }
            }
        }
    } }
}

fn heading(nth: usize, column: &Column) -> Markup {
    let class = if nth == 0 { "s" } else { "n" };
    html! {
        th.(class) scope="col" data-state=[column.state] data-threads=[column.threads] data-keys=[column.keys] {
            (marked(&column.title))
        }
    }
}

/// The interval of a cell, drawn along its column.
fn bar(cell: &Cell) -> Markup {
    let Some([low, middle, high]) = cell.bar.map(|bar| bar.map(|at| 2.0 + 60.0 * at)) else {
        return html! {};
    };
    html! {
        svg.bar width="64" height="8" viewBox="0 0 64 8" aria-hidden="true" {
            path d=(format!("M{low:.1} 4H{:.1}", high.max(low + 1.0))) stroke="currentColor" {}
            circle cx=(format!("{middle:.1}")) cy="4" r="2.5" fill="currentColor" {}
        }
    }
}

/// Text with its code marked.
fn marked(text: &str) -> Markup {
    html! { @for (nth, part) in text.split('`').enumerate() {
        @if nth % 2 == 1 { code { (part) } } @else { (part) }
    } }
}
