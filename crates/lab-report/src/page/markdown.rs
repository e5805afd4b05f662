//! Markdown as the sections of a page, so that a report in both says the same.
//!
//! It reads the Markdown that the reports write: a heading of the first level, sections below
//! headings of the second, tables, pictures, and below a figure a paragraph that begins with
//! [`DATA`] and links to the files of its figures. HTML in it is shown as the text that it is, and a
//! link that leaves the folder is no link.

use std::collections::{BTreeMap, HashMap};
use std::mem::take;

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::figure::{Column, chart, table};
use super::shell::{Page, Section};

/// How the paragraph below a figure begins that links to its files.
pub const DATA: &str = "Data: ";

/// The page that a Markdown text is; `charts` are the SVG texts of its pictures by file name.
pub fn page(text: &str, charts: &BTreeMap<String, String>) -> Page {
    let mut blocks = blocks(text).into_iter().peekable();
    let mut page = Page {
        title: String::new(),
        lead: PreEscaped(String::new()),
        sections: Vec::new(),
    };
    let mut ids = HashMap::new();
    // What stands last before a figure tells what it is.
    let mut heading = String::new();
    while let Some(block) = blocks.next() {
        match block {
            Block::Heading(level, inner) => {
                heading = plain(&inner);
                let id = id(&heading, &mut ids);
                match level {
                    HeadingLevel::H1 => page.title = heading.clone(),
                    HeadingLevel::H2 => page.sections.push(Section {
                        id,
                        heading: heading.clone(),
                        parts: Vec::new(),
                        body: PreEscaped(String::new()),
                    }),
                    _ => {
                        let linked = format!("<{level} id=\"{id}\"><a href=\"#{id}\">");
                        let text = linked + &markup(inner).0 + &format!("</a></{level}>");
                        add(&mut page, &text);
                        if level == HeadingLevel::H3
                            && let Some(section) = page.sections.last_mut()
                        {
                            section.parts.push((id, heading.clone()));
                        }
                    }
                }
            }
            Block::Table(aligned, rows) => {
                let data = data(&mut blocks);
                add(&mut page, &of_table(&heading, &aligned, rows, &data).0);
            }
            Block::Pictures(mut pictures) => {
                while let Some(Block::Pictures(more)) =
                    blocks.next_if(|next| matches!(next, Block::Pictures(_)))
                {
                    pictures.extend(more);
                }
                let data = data(&mut blocks);
                let found: Vec<(&str, &str)> = pictures
                    .iter()
                    .filter_map(|(file, title)| Some((charts.get(file)?.as_str(), title.as_str())))
                    .collect();
                add(&mut page, &chart(&found, &data).0);
            }
            Block::Data(inner) => add(&mut page, &markup(inner).0),
            Block::Other(events) => add(&mut page, &markup(events).0),
        }
    }
    page
}

/// The links to the files of the figure before, if they come next.
fn data<'a>(blocks: &mut std::iter::Peekable<impl Iterator<Item = Block<'a>>>) -> Markup {
    match blocks.next_if(|next| matches!(next, Block::Data(_))) {
        Some(Block::Data(inner)) => markup(inner),
        _ => PreEscaped(String::new()),
    }
}

/// Adds to the last section; before the first one, to the lead.
fn add(page: &mut Page, text: &str) {
    let body = match page.sections.last_mut() {
        Some(section) => &mut section.body,
        None => &mut page.lead,
    };
    body.0 += text;
}

type Events<'a> = Vec<Event<'a>>;

enum Block<'a> {
    /// Its level, and what stands in it.
    Heading(HeadingLevel, Events<'a>),
    /// Its columns, and its rows of cells; the first one is the header.
    Table(Vec<Alignment>, Vec<Vec<Events<'a>>>),
    /// Files and titles: a paragraph of nothing else.
    Pictures(Vec<(String, String)>),
    /// What stands in a paragraph of links to files.
    Data(Events<'a>),
    /// Anything else, whole.
    Other(Events<'a>),
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut depth = 0;
    let mut found = Vec::new();
    let mut events = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        events.push(event);
        if depth == 0 {
            found.push(block(take(&mut events)));
        }
    }
    found
}

fn block(events: Events) -> Block {
    let inner = || events[1..events.len() - 1].to_vec();
    match events.first() {
        Some(Event::Start(Tag::Heading { level, .. })) => Block::Heading(*level, inner()),
        Some(Event::Start(Tag::Table(aligned))) => Block::Table(aligned.clone(), cells(inner())),
        Some(Event::Start(Tag::Paragraph)) => {
            let is_data =
                |event: &Event| matches!(event, Event::Text(text) if text.starts_with(DATA));
            match pictures(&events) {
                Some(pictures) => Block::Pictures(pictures),
                None if events.get(1).is_some_and(is_data) => Block::Data(inner()),
                None => Block::Other(events),
            }
        }
        _ => Block::Other(events),
    }
}

/// The pictures of a paragraph that holds nothing else.
fn pictures(paragraph: &[Event]) -> Option<Vec<(String, String)>> {
    let mut pictures: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for event in &paragraph[1..paragraph.len() - 1] {
        match event {
            Event::Start(Tag::Image { dest_url, .. }) => {
                inside = true;
                pictures.push((dest_url.to_string(), String::new()));
            }
            Event::End(TagEnd::Image) => inside = false,
            Event::Text(text) if inside => pictures.last_mut()?.1 += text,
            Event::SoftBreak => {}
            _ => return None,
        }
    }
    (!pictures.is_empty()).then_some(pictures)
}

fn cells(events: Events) -> Vec<Vec<Events>> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut cell = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow | Tag::TableCell) => {}
            Event::End(TagEnd::TableCell) => row.push(take(&mut cell)),
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => rows.push(take(&mut row)),
            event => cell.push(event),
        }
    }
    rows
}

fn of_table(label: &str, aligned: &[Alignment], rows: Vec<Vec<Events>>, data: &Markup) -> Markup {
    let columns: Vec<Column> = aligned
        .iter()
        .map(|aligned| match aligned {
            Alignment::Right => Column::Figures,
            _ => Column::Words,
        })
        .collect();
    let mut rows = rows
        .into_iter()
        .map(|row| row.into_iter().map(markup).collect::<Vec<_>>());
    let header = rows.next().unwrap_or_default();
    table(label, &columns, &header, &rows.collect::<Vec<_>>(), data)
}

/// HTML of events: what is no Markdown is text, and what leaves the folder is no link.
fn markup(events: Events) -> Markup {
    let mut leaves = Vec::new();
    let kept = events.into_iter().filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            let stays = is_near(dest_url);
            leaves.push(!stays);
            stays.then_some(event)
        }
        Event::End(TagEnd::Link) => (leaves.pop() == Some(false)).then_some(event),
        // A picture among words: its words.
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        event => Some(event),
    });
    let mut text = String::new();
    html::push_html(&mut text, kept);
    PreEscaped(text)
}

/// Whether a link stays in the folder: a file of it, or a place in the page.
fn is_near(url: &str) -> bool {
    !url.contains(':') && !url.starts_with('/') && !url.contains("..")
}

fn plain(events: &[Event]) -> String {
    let text = |event: &Event| match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
            text.to_string()
        }
        Event::SoftBreak | Event::HardBreak => " ".into(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

/// The text of a piece of Markdown without its marks.
pub fn without_marks(text: &str) -> String {
    let events: Vec<Event> = Parser::new_ext(text, Options::empty()).collect();
    plain(&events)
}

/// What links name for a heading, made as the usual viewers of Markdown make it, so that a link
/// works in both: lower case, a dash for a blank, no punctuation, a number where it is taken.
fn id(heading: &str, taken: &mut HashMap<String, usize>) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    let kept: String = kept
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
        .collect();
    let before = taken.entry(kept.clone()).or_default();
    *before += 1;
    match *before {
        1 => kept,
        nth => format!("{kept}-{}", nth - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> String {
        let charts = BTreeMap::from([("a.svg".to_string(), "<svg></svg>".to_string())]);
        page(text, &charts).document()
    }

    #[test]
    fn a_table_and_a_chart_have_their_data_below() {
        let text = "# T\n\nlead\n\n## One\n\n![Chart](a.svg)\n\nData: [a.csv](a.csv)\n\n\
                    | who | ns |\n| --- | ---: |\n| `x` | **1** |\n\nData: [b.csv](b.csv)\n\nend\n";
        let html = document(text);
        assert!(html.contains("<h1>T</h1><p>lead</p>"), "{html}");
        assert!(html.contains("<h2 id=\"one\">"), "{html}");
        assert!(
            html.contains("aria-label=\"Chart\"></svg></div><figcaption>Data: <a href=\"a.csv\">a.csv</a></figcaption>"),
            "{html}"
        );
        assert!(
            html.contains("<th class=\"s\" scope=\"row\"><code>x</code></th><td class=\"n\"><strong>1</strong></td>"),
            "{html}"
        );
        assert!(html.contains(
            "<figcaption>Data: <a href=\"b.csv\">b.csv</a></figcaption></figure><p>end</p>"
        ));
    }

    #[test]
    fn html_is_text_and_far_links_are_none() {
        let text = "# T\n\n## <script>alert(1)</script>\n\n<img src=x>\n\n\
                    a <b>b</b> [c](https://example.org) [d](javascript:1) [e](../x) [f](f.csv)\n";
        let html = document(text);
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>"));
        assert!(html.contains("&lt;img src=x&gt;"), "{html}");
        assert_eq!(html.matches("href=\"#").count(), 3, "{html}");
        assert!(html.contains(" c d e <a href=\"f.csv\">f</a>"), "{html}");
    }

    #[test]
    fn headings_have_the_ids_that_viewers_give_them() {
        let mut taken = HashMap::new();
        let ids =
            ["Who?", "When the rule's 0.003 % holds", "Who"].map(|heading| id(heading, &mut taken));
        assert_eq!(ids, ["who", "when-the-rules-0003--holds", "who-1"]);
    }
}
