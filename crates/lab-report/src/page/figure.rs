//! Figures of a page: tables and charts, each with the file that its numbers come from.

use maud::{Markup, PreEscaped, html};

/// What a column of a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Words; a column of long ones takes several lines.
    Words,
    /// Figures, set to the right, each on one line.
    Figures,
}

/// Words of more bytes may take several lines.
const LONG: usize = 32;

/// A table in a box of its own, which scrolls sideways where it does not fit; the first cell of
/// each row is the row's heading. `label` tells a screen reader what it is; `data` stands below it,
/// as links to the files of its figures.
pub fn table(
    label: &str,
    columns: &[Column],
    header: &[Markup],
    rows: &[Vec<Markup>],
    data: &Markup,
) -> Markup {
    let is_long = |nth: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(nth));
        cells.any(|cell| cell.0.len() > LONG)
    };
    let class = |nth: usize| match columns.get(nth) {
        Some(Column::Figures) => "n",
        _ if is_long(nth) => "w",
        _ => "s",
    };
    html! {
        figure {
            // Focusable, so that it scrolls by keys as well.
            div.scroll tabindex="0" role="region" aria-label=(label) {
                table {
                    thead { tr { @for (nth, cell) in header.iter().enumerate() {
                        th.(class(nth)) scope="col" { (cell) }
                    } } }
                    tbody { @for row in rows { tr { @for (nth, cell) in row.iter().enumerate() {
                        @if nth == 0 {
                            th.(class(nth)) scope="row" { (cell) }
                        } @else {
                            td.(class(nth)) { (cell) }
                        }
                    } } } }
                }
            }
            (caption(data))
        }
    }
}

/// Charts in one figure: the SVG of each as the laboratory draws it, and what it shows in words.
pub fn chart(charts: &[(&str, &str)], data: &Markup) -> Markup {
    html! {
        figure {
            div.charts { @for (svg, label) in charts { (inline(svg, label)) } }
            (caption(data))
        }
    }
}

fn caption(data: &Markup) -> Markup {
    html! { @if !data.0.is_empty() { figcaption { (data) } } }
}

/// The colours of the drawn charts, and what stands for them in a page: the stylesheet gives each
/// for light and for dark.
const COLORS: [(&str, &str); 7] = [
    ("#FFFFFF", "none"),
    ("#141414", "currentColor"),
    ("#000000", "currentColor"),
    ("#CDCDCD", "var(--grid)"),
    ("#004488", "var(--ours)"),
    ("#BB5500", "var(--rival)"),
    ("#6E6E6E", "var(--floor)"),
];

/// An SVG document as an element of a page.
fn inline(svg: &str, label: &str) -> Markup {
    // Without the declaration before the element.
    let svg = svg.find("<svg").map_or("", |start| &svg[start..]);
    let mut text = svg.to_string();
    for (drawn, shown) in COLORS {
        text = text.replace(&format!("\"{drawn}\""), &format!("\"{shown}\""));
    }
    let opening = html! { (label) }.into_string();
    let opening = format!("<svg role=\"img\" aria-label=\"{opening}\"");
    PreEscaped(text.replacen("<svg", &opening, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_takes_its_colours_from_the_page_and_says_what_it_is() {
        let svg = "<?xml?>\n<svg width=\"1\"><rect fill=\"#FFFFFF\" stroke=\"#004488\"/></svg>";
        let figure = chart(&[(svg, "a \"b\" <c>")], &html! { "x" }).into_string();
        assert!(
            figure.contains(
                "<svg role=\"img\" aria-label=\"a &quot;b&quot; &lt;c&gt;\" width=\"1\">\
                 <rect fill=\"none\" stroke=\"var(--ours)\"/></svg>"
            ),
            "{figure}"
        );
        assert!(figure.ends_with("<figcaption>x</figcaption></figure>"));
    }

    #[test]
    fn a_table_names_its_columns_and_rows() {
        let cell = |text: &str| html! { (text) };
        let table = table(
            "label",
            &[Column::Words, Column::Figures],
            &[cell("who"), cell("ns")],
            &[vec![cell("<me>"), cell("1")], vec![cell(""), cell("2")]],
            &html! {},
        );
        let table = table.into_string();
        assert!(
            table.contains("<th class=\"n\" scope=\"col\">ns</th>"),
            "{table}"
        );
        assert!(
            table.contains("<th class=\"s\" scope=\"row\">&lt;me&gt;</th><td class=\"n\">1</td>")
        );
        assert!(!table.contains("figcaption"));
    }
}
