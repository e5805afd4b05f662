//! The page of a report, read back as a browser reads it.

use std::fs;
use std::path::Path;

use scraper::{ElementRef, Html, Selector};
use windowpane_lab_measure::folder;
use windowpane_lab_report::render;

use crate::recorded;

/// A name that a user's file may have.
const EVIL: &str = "<script>alert('1')</script> | *a* `b` _c_ [d](javascript:1) &lt;";

fn selected<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).unwrap();
    page.select(&selector).collect()
}

fn text(element: ElementRef) -> String {
    let text: String = element.text().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_folder(folder: &Path) -> (Html, String) {
    render(folder).unwrap();
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    let markdown = fs::read_to_string(folder.join("REPORT.md")).unwrap();
    (Html::parse_document(&page), markdown)
}

fn rendered() -> (tempfile::TempDir, Html, String) {
    let folder = tempfile::tempdir().unwrap();
    recorded::write(&[], folder.path());
    let (page, markdown) = of_folder(folder.path());
    (folder, page, markdown)
}

#[test]
fn the_page_asks_for_nothing_outside_and_every_link_leads_somewhere() {
    let (folder, page, _) = rendered();
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    // One script of a few kilobytes, which stands in the page.
    let scripts: Vec<String> = selected(&page, "script").into_iter().map(text).collect();
    assert!(
        scripts.len() == 1 && scripts[0].len() < 4_000,
        "{scripts:?}"
    );
    for forbidden in ["img", "iframe", "object", "link[rel=stylesheet]"] {
        assert!(selected(&page, forbidden).is_empty(), "{forbidden}");
    }
    let styles: String = selected(&page, "style").into_iter().map(text).collect();
    assert!(!styles.contains("url(") && !styles.contains("@import"));
    let mut ids = Vec::new();
    for element in selected(&page, "*") {
        let value = element.value();
        if let Some(id) = value.id() {
            assert!(!ids.contains(&id), "two of #{id}");
            ids.push(id);
        }
        for (name, value) in value.attrs() {
            let loads = ["src", "srcset", "data", "poster", "action"].contains(&name);
            assert!(!loads && !name.starts_with("on"), "{name}={value}");
        }
    }
    for link in selected(&page, "[href]") {
        let href = link.attr("href").unwrap();
        match href.strip_prefix('#') {
            Some(id) => assert!(ids.contains(&id), "nothing has the id {id}"),
            None if href == "data:," => assert_eq!(link.attr("rel"), Some("icon")),
            None => assert!(folder.path().join(href).is_file(), "{href} is not there"),
        }
    }
}

#[test]
fn every_section_with_figures_names_their_files() {
    let (_folder, page, _) = rendered();
    let links = Selector::parse(".data a[href$='.csv']").unwrap();
    let sections = selected(&page, "main section");
    assert_eq!(sections.len(), 8);
    for section in &sections {
        let named = section.select(&links).next();
        assert!(named.is_some(), "{}", text(*section));
    }
    for chart in selected(&page, "svg[role=img]") {
        let label = chart.attr("aria-label");
        assert!(label.is_some_and(|label| label.len() > 5));
        let drawn = chart.html();
        assert!(
            !drawn.contains("\"#"),
            "a colour that does not follow the page"
        );
        assert!(drawn.contains("currentColor"));
    }
    for table in selected(&page, "table") {
        let of = |selector: &str| table.select(&Selector::parse(selector).unwrap()).count();
        assert_eq!(of("thead th[scope=col]"), of("thead tr > *"));
        assert_eq!(of("tbody th[scope=row]"), of("tbody tr"));
    }
}

#[test]
fn headings_are_in_order_and_the_same_in_both_forms() {
    let (_folder, page, markdown) = rendered();
    assert_eq!(selected(&page, "html[lang=en]").len(), 1);
    assert_eq!(selected(&page, "h1").len(), 1);
    let sections: Vec<String> = selected(&page, "h2").into_iter().map(text).collect();
    let subjects = [
        "A stalled thread",
        "Throughput",
        "Many keys",
        "Where ours is slower",
        "Memory",
        "Accuracy",
        "Tails",
    ];
    assert_eq!(sections[..7], subjects);
    let lines = markdown.lines();
    let as_markdown: Vec<&str> = lines.filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(sections, as_markdown);
    let contents = selected(&page, ".contents a").into_iter().map(text);
    assert_eq!(contents.collect::<Vec<_>>(), sections);
}

/// The rows of all tables of Markdown, without its marks.
fn rows_of(markdown: &str) -> Vec<Vec<String>> {
    let lines = markdown.lines();
    let rows = lines.filter(|line| line.starts_with('|') && !line.starts_with("| ---"));
    let plain = |cell: &str| cell.replace(['`', '\\'], "").trim().to_string();
    rows.map(|line| {
        let cells = line.strip_prefix("| ").unwrap();
        let cells = cells.strip_suffix(" |").unwrap().split(" | ");
        cells.map(plain).collect()
    })
    .collect()
}

#[test]
fn page_and_markdown_say_the_same() {
    let (_folder, page, markdown) = rendered();
    let cells = Selector::parse("th, td").unwrap();
    let shown: Vec<Vec<String>> = selected(&page, "tr")
        .into_iter()
        .map(|row| row.select(&cells).map(text).collect())
        .collect();
    let rows = rows_of(&markdown);
    assert!(rows.len() > 80, "{} rows", rows.len());
    assert_eq!(shown, rows);
    let plain = markdown.replace(['`', '\\', '*'], "");
    let words = selected(&page, "li[id], main p:not(.data)");
    assert!(words.len() > 12);
    for words in words {
        assert!(plain.contains(&text(words)), "{}", text(words));
    }
}

#[test]
fn names_in_the_data_are_shown_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    for row in &mut recording.accuracy {
        if row.traffic == "made up" {
            row.traffic = EVIL.into();
        }
    }
    for row in &mut recording.keyed {
        row.workload = format!("{EVIL} {}", row.workload);
    }
    recording.environment.cpu = EVIL.into();
    recording.environment.command = format!("WINDOWPANE_TRACE='```{EVIL}' cargo bench");
    folder::write_raw(&recording, folder.path()).unwrap();
    let (page, _) = of_folder(folder.path());
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert!(selected(&page, "a[href^='javascript']").is_empty());
    assert_eq!(selected(&page, "script").len(), 1);
    // Code is marked by backticks, so those of the data are shown as quotes.
    let evil = EVIL.replace('`', "'");
    let cells = selected(&page, "th, td").into_iter().map(text);
    assert!(cells.filter(|cell| cell.contains(&evil)).count() >= 3);
    let titles = selected(&page, "h1, title").into_iter().map(text);
    assert!(titles.into_iter().all(|title| title.contains(&evil)));
    let command: String = selected(&page, "pre").into_iter().map(text).collect();
    assert!(command.contains(EVIL));
}
