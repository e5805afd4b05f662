//! W3C extended log files: directives that begin with `#`, of which `#Fields` names the columns.

use super::{Span, span};

/// The names of the columns, if the line is the directive that has them.
pub(crate) fn names(line: &[u8]) -> Option<Vec<String>> {
    let names = line.strip_prefix(b"#Fields:")?;
    let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    Some(words(names).map(name).collect())
}

/// Takes a line apart; false if it has another number of fields than `count`.
pub(crate) fn split(line: &[u8], count: usize, spans: &mut Vec<Span>) -> bool {
    spans.clear();
    spans.extend(words(line).map(|word| span(line, word)));
    spans.len() == count
}

/// IIS divides by blanks, CloudFront by tabs, and neither leaves a field empty.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_fields_by_blanks_or_tabs() {
        let expected = ["date", "time", "c-ip"];
        assert_eq!(names(b"#Fields: date time c-ip").unwrap(), expected);
        assert_eq!(names(b"#Fields:\tdate\ttime\tc-ip").unwrap(), expected);
        assert_eq!(names(b"#Version: 1.0"), None);
        let mut spans = Vec::new();
        for line in [
            "2024-05-12 00:00:17 10.0.0.1",
            "2024-05-12\t00:00:17\t10.0.0.1",
        ] {
            assert!(split(line.as_bytes(), 3, &mut spans));
            assert_eq!(spans, [(0, 10), (11, 19), (20, 28)]);
        }
        assert!(!split(b"2024-05-12 00:00:17", 3, &mut spans));
    }
}
