//! The charts are SVG that a browser takes, and nothing of them lies outside.

use std::fs;

use roxmltree::{Document, Node};
use windowpane_lab_report::render;

use crate::recorded;

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0)
}

/// Where a text begins and ends, by a width of a letter that is generous for a usual font.
fn extent(text: Node) -> (f64, f64) {
    let letters = text.text().unwrap_or_default().trim().chars().count() as f64;
    let width = letters * 0.56 * number(text, "font-size");
    let x = number(text, "x");
    match text.attribute("text-anchor") {
        Some("end") => (x - width, x),
        Some("middle") => (x - width / 2.0, x + width / 2.0),
        _ => (x, x + width),
    }
}

#[test]
fn charts_are_well_formed_and_nothing_is_clipped() {
    let folder = tempfile::tempdir().unwrap();
    recorded::write(&[], folder.path());
    render(folder.path()).unwrap();
    let mut charts = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "svg") {
            continue;
        }
        charts += 1;
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        let (width, height) = (number(root, "width"), number(root, "height"));
        assert!(root.attribute("viewBox").is_some(), "{name} does not scale");
        for node in root.descendants().filter(|node| node.has_tag_name("text")) {
            let (left, right) = extent(node);
            let y = number(node, "y");
            let told = node.text().unwrap_or_default().trim();
            assert!(
                left >= 0.0 && right <= width,
                "{name}: `{told}` from {left} to {right}"
            );
            assert!(y >= 0.0 && y <= height, "{name}: `{told}` at {y}");
            // At a width of 390 pixels still ten pixels high.
            assert!(
                number(node, "font-size") * 390.0 / width >= 10.0,
                "{name}: `{told}`"
            );
        }
        let words: String = root.descendants().filter_map(|node| node.text()).collect();
        let expected: &[&str] = match name {
            "keys.svg" => &["store/gcra", "governor"],
            // Of the approximate ones alone.
            "accuracy.svg" => &["gcra", "governor"],
            _ => &["cas-ring", "governor"],
        };
        for expected in expected {
            assert!(words.contains(expected), "{name}: {expected}");
        }
    }
    assert!(charts == 7, "{charts} charts");
}
