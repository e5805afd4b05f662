//! The document around the sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Of so many parts a section lists them at its start.
const PARTS_LISTED: usize = 4;

/// A whole page.
#[derive(Debug)]
pub struct Page {
    /// The only heading of the first level, and the window's title.
    pub title: String,
    /// What stands below it; may be empty.
    pub lead: Markup,
    /// In their order; each has its line in the list of contents.
    pub sections: Vec<Section>,
}

/// A section of a page: a heading of the second level and what stands below.
#[derive(Debug)]
pub struct Section {
    /// What links name behind the `#`; unique in its page.
    pub id: String,
    /// Plain text.
    pub heading: String,
    /// Ids and headings of the third level in `body`, to be listed if there are many; may be left
    /// empty.
    pub parts: Vec<(String, String)>,
    /// Headings in it begin at the third level.
    pub body: Markup,
}

impl Page {
    /// The document.
    pub fn document(&self) -> String {
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // Without it a browser asks for one.
                    link rel="icon" href="data:,";
                    title { (self.title) }
                    style { (PreEscaped(include_str!("style.css"))) }
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header {
                        h1 { (self.title) }
                        (self.lead)
                    }
                    // Closed on a phone, so that the first section is seen; the stylesheet keeps it
                    // open where there is room beside.
                    nav.contents aria-label="Contents" {
                        details {
                            summary { "Contents" }
                            ol { @for section in &self.sections {
                                li { a href={ "#" (section.id) } { (section.heading) } }
                            } }
                        }
                    }
                    main #content {
                        @for section in &self.sections { (section.markup()) }
                    }
                }
            }
        };
        document.into_string()
    }
}

impl Section {
    fn markup(&self) -> Markup {
        let common = common(&self.parts);
        html! {
            section aria-labelledby=(self.id) {
                h2 #(self.id) { a href={ "#" (self.id) } { (self.heading) } }
                @if self.parts.len() >= PARTS_LISTED {
                    nav.parts aria-label={ "Parts of " (self.heading) } {
                        ul { @for (id, heading) in &self.parts {
                            li { a href={ "#" (id) } { (heading[common..]) } }
                        } }
                    }
                }
                (self.body)
            }
        }
    }
}

/// How many bytes of all headings are the same and end with a comma: what the list need not repeat.
fn common(parts: &[(String, String)]) -> usize {
    let mut headings = parts.iter().map(|(_, heading)| heading.as_str());
    let Some(first) = headings.next() else {
        return 0;
    };
    let ends = first
        .match_indices(", ")
        .map(|(at, comma)| at + comma.len());
    let shared = ends.filter(|end| {
        headings
            .clone()
            .all(|other| other.starts_with(&first[..*end]))
    });
    shared.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_parts_leaves_out_what_all_begin_with() {
        let parts = |headings: &[&str]| -> Vec<(String, String)> {
            let part = |heading: &&str| ("id".into(), (*heading).to_string());
            headings.iter().map(part).collect()
        };
        let of = |headings: &[&str]| common(&parts(headings));
        assert_eq!(of(&["Time, a, 1", "Time, a, 2", "Time, b"]), "Time, ".len());
        assert_eq!(of(&["Time, é, 1", "Time, é, 2"]), "Time, é, ".len());
        assert_eq!(of(&["Time, a", "Tim"]), 0);
        assert_eq!(of(&[]), 0);
    }

    #[test]
    fn text_stays_text_and_the_contents_name_every_section() {
        let page = Page {
            title: "a <b> & c".into(),
            lead: html! { p { "lead" } },
            sections: vec![Section {
                id: "one".into(),
                heading: "<script>alert(1)</script>".into(),
                parts: Vec::new(),
                body: html! { p { "body" } },
            }],
        };
        let document = page.document();
        assert!(document.starts_with("<!DOCTYPE html><html lang=\"en\">"));
        assert!(document.contains("<title>a &lt;b&gt; &amp; c</title>"));
        assert!(!document.contains("<script"));
        let link = "<a href=\"#one\">&lt;script&gt;alert(1)&lt;/script&gt;</a>";
        assert_eq!(document.matches(link).count(), 2, "{document}");
    }
}
