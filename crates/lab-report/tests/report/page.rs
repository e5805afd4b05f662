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
    for forbidden in ["script", "img", "iframe", "object", "link[rel=stylesheet]"] {
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
fn every_figure_links_to_its_rows_and_says_what_it_is() {
    let (_folder, page, _) = rendered();
    let figures = selected(&page, "figure");
    assert!(figures.len() > 20, "{} figures", figures.len());
    let links =
        Selector::parse("figcaption a[href$='.csv'], figcaption a[href='environment.json']");
    let links = links.unwrap();
    for figure in &figures {
        assert!(figure.select(&links).next().is_some(), "{}", figure.html());
    }
    // Nothing is drawn or tabled outside.
    let inside = selected(&page, "figure table, figure svg").len();
    assert_eq!(selected(&page, "table, svg").len(), inside);
    for chart in selected(&page, "svg") {
        assert_eq!(chart.attr("role"), Some("img"));
        assert!(
            chart
                .attr("aria-label")
                .is_some_and(|label| label.len() > 5)
        );
        let drawn = chart.html();
        assert!(
            !drawn.contains("\"#"),
            "a colour that does not follow the page"
        );
        assert!(drawn.contains("currentColor"));
    }
    for table in selected(&page, "table") {
        let of = |selector: &str| {
            let selector = Selector::parse(selector).unwrap();
            table.select(&selector).count()
        };
        assert_eq!(of("thead th[scope=col]"), of("thead tr > *"));
        assert_eq!(of("tbody th[scope=row]"), of("tbody tr"));
    }
}

#[test]
fn headings_are_in_order_and_the_verdict_comes_first() {
    let (_folder, page, markdown) = rendered();
    let html = selected(&page, "html[lang=en]");
    assert_eq!(html.len(), 1);
    assert_eq!(selected(&page, "h1").len(), 1);
    assert_eq!(
        selected(&page, "title").into_iter().map(text).next(),
        selected(&page, "h1").into_iter().map(text).next()
    );
    let mut before = 0;
    for heading in selected(&page, "h1, h2, h3, h4, h5, h6") {
        let level: u32 = heading.value().name()[1..].parse().unwrap();
        assert!(level <= before + 1, "{} skips a level", text(heading));
        before = level;
    }
    let sections: Vec<String> = selected(&page, "h2").into_iter().map(text).collect();
    assert_eq!(
        sections,
        [
            "Verdict",
            "Throughput",
            "What the lock-free limiters set out for",
            "Latency: response time",
            "Latency: service time",
            "Accuracy, beside speed",
            "Memory",
            "Many keys",
            "A stalled thread",
            "When the two-counter rule's 0.003 % holds",
            "Who",
            "Environment",
            "Noise",
            "Rules",
            "Reproduce",
            "What this run cannot tell",
        ]
    );
    // The twin has the same, in the same order.
    let twin: Vec<&str> = markdown
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    assert_eq!(sections, twin);
    let contents = selected(&page, ".contents a").into_iter().map(text);
    assert_eq!(contents.collect::<Vec<_>>(), sections);
}

#[test]
fn page_and_markdown_tell_the_same_figures() {
    let (_folder, page, markdown) = rendered();
    // Of the Markdown each row of a table, without its marks.
    let rows: Vec<Vec<String>> = markdown
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("| ---"))
        .map(|line| {
            let cells = line.trim_matches(['|', ' ']).split(" | ");
            let plain = |cell: &str| cell.replace(['`', '*'], "").trim().to_string();
            cells.map(plain).collect()
        })
        .collect();
    let cells = Selector::parse("th, td").unwrap();
    let shown: Vec<Vec<String>> = selected(&page, "tr")
        .into_iter()
        .map(|row| row.select(&cells).map(text).collect())
        .collect();
    assert!(rows.len() > 200, "{} rows", rows.len());
    assert_eq!(shown, rows);
}

#[test]
fn names_in_the_data_are_shown_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    for row in &mut recording.accuracy {
        if row.traffic == "made up" {
            row.traffic = EVIL.into();
            row.about = EVIL.into();
        }
    }
    for row in &mut recording.keyed {
        row.workload = format!("{EVIL} {}", row.workload);
        row.about = EVIL.into();
    }
    recording.environment.cpu = EVIL.into();
    recording.environment.command = format!("WINDOWPANE_TRACE='```{EVIL}' cargo bench");
    folder::write_raw(&recording, folder.path()).unwrap();
    let (page, _) = of_folder(folder.path());
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert!(selected(&page, "script, a[href^='javascript']").is_empty());
    let headings = selected(&page, "h3").into_iter().map(text);
    let named = headings.filter(|heading| heading.contains(EVIL)).count();
    assert_eq!(named, 3, "one traffic, two workloads of many keys");
    let cells: Vec<String> = selected(&page, "th, td").into_iter().map(text).collect();
    assert!(cells.iter().any(|cell| cell == EVIL));
    let verdict = selected(&page, "section:first-child li")
        .into_iter()
        .map(text);
    let told = verdict.filter(|item| item.contains(EVIL)).count();
    assert!(told >= 2, "the processor, and where the worst was");
    let command = selected(&page, "pre").into_iter().map(text);
    assert!(command.collect::<String>().contains(EVIL));
}

#[test]
fn what_a_run_cannot_tell_is_counted_from_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded::recording(&[]);
    recording.environment.mode = "default".into();
    recording.environment.rounds_planned += 2;
    for row in &mut recording.throughput {
        if row.state == "mixed" && row.contestant == "governor" && row.threads < 4 {
            row.share_ok = false;
        }
        // A against A: half as fast again.
        if row.side == windowpane_lab_measure::rows::Side::Again && row.state == "denied" {
            row.per_second *= 1.5;
        }
    }
    for row in &mut recording.accuracy {
        if row.contestant == "trypema" {
            row.cannot = "no clock".into();
        }
        if row.traffic == "made up" {
            row.about = "as recorded".into();
        }
    }
    folder::write_raw(&recording, folder.path()).unwrap();
    let (page, markdown) = of_folder(folder.path());
    let told: Vec<String> = selected(&page, "section:last-child li")
        .into_iter()
        .map(text)
        .collect();
    let told = told.join("\n");
    for expected in [
        "All was measured on one: Imagined 9000, 2 cores, without a hypervisor.",
        "With 4 threads there are more threads than cores",
        "5 of 7 planned rounds",
        "In 3 of 9 rows of the noise, cas-ring against itself was more than 25 % apart: denied with 1 thread (51.5 %),",
        "10 of 225 measurements of throughput, mixed (nothing is left of 2 of 42 cells)",
        "response time of denied and mixed decisions",
        "a million keys, denied",
        "memory of 50,000 keys",
        "`cargo bench -- --full` measures every cell",
        "trypema 5 of 5",
        "Recorded: made up; 4 further kinds were made up, from seed 1.",
    ] {
        let expected = expected.replace('`', "");
        assert!(told.contains(&expected), "`{expected}` is not in\n{told}");
    }
    assert!(markdown.trim_end().ends_with("held against the noise."));
}
