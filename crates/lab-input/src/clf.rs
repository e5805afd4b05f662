//! Access logs: the common and the combined log format.

use windowpane_core::Cost;

use crate::date::parse_clf_time;
use crate::input::{Fields, Unexpected};
use crate::time::TimeError;

/// Reads `CLIENT IDENT USER [TIME] "REQUEST" STATUS SIZE ...`, without the line's end. What follows
/// (the combined format's referer and agent, a server's own fields) does not matter.
pub(crate) fn parse(line: &[u8]) -> Result<Fields<'_>, Unexpected<'_>> {
    let (client, time_text) = take_apart(line).ok_or_else(|| Unexpected {
        expected: "a line of the common or combined log format".into(),
        found: Some(line),
    })?;
    let time = parse_clf_time(time_text).map_err(|error| Unexpected {
        expected: error.to_string(),
        found: Some(time_text),
    })?;
    Ok(Fields {
        time,
        time_text,
        key: client,
        cost: Cost::ONE,
    })
}

/// Whether a first line is of an access log, be it a sound one or not, rather than a CSV header.
pub(crate) fn looks_like(line: &[u8]) -> bool {
    let mut parts = line.split(|byte| *byte == b'[').skip(1);
    parts.any(|part| {
        let time = part.split(|byte| *byte == b']').next().unwrap_or_default();
        !matches!(parse_clf_time(time), Err(TimeError::MalformedClf))
    })
}

/// The client and the time of a line.
fn take_apart(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (client, rest) = word(line)?;
    let (_ident, rest) = word(rest)?;
    let (_user, rest) = word(rest)?;
    let rest = rest.strip_prefix(b"[")?;
    let (time, rest) = rest.split_at(memchr::memchr(b']', rest)?);
    let rest = rest.strip_prefix(b"] \"")?;
    // What clients send as a request is anything, quotes included, so its end is the quote that
    // is followed by a status and a size.
    memchr::memchr_iter(b'"', rest)
        .any(|at| is_status_and_size(&rest[at + 1..]))
        .then_some((client, time))
}

/// The bytes up to the next blank, at least one, and what follows the blank.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b' ', text).filter(|at| *at > 0)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Whether `text` begins with ` STATUS SIZE`, each digits or `-`.
fn is_status_and_size(text: &[u8]) -> bool {
    let is_number =
        |word: &[u8]| word == b"-" || !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let mut words = text.split(|byte| *byte == b' ');
    words.next().is_some_and(<[u8]>::is_empty)
        && words.next().is_some_and(is_number)
        && words.next().is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COMMON: &str =
        r#"10.0.0.1 - - [12/May/2024:00:00:17 +0000] "GET /p1 HTTP/1.1" 200 594982"#;

    fn client_of(line: &str) -> Option<String> {
        let fields = parse(line.as_bytes()).ok()?;
        assert_eq!(fields.time, 1_715_472_017_000_000_000);
        assert_eq!(fields.time_text, b"12/May/2024:00:00:17 +0000");
        Some(String::from_utf8_lossy(fields.key).into_owned())
    }

    #[test]
    fn the_client_and_the_time_of_all_kinds_of_lines() {
        for line in [
            COMMON.to_string(),
            format!(r#"{COMMON} "-" "curl/8 \"quoted\"""#),
            COMMON.replace("594982", "-"),
            COMMON.replace("- -", "ident user"),
            COMMON.replace("GET /p1 HTTP/1.1", r#"\x16\x03 \" un"escaped "#),
            COMMON.replace("GET /p1 HTTP/1.1", ""),
        ] {
            assert_eq!(client_of(&line).as_deref(), Some("10.0.0.1"), "{line}");
        }
        let line = COMMON.replace("10.0.0.1", "2001:db8::7");
        assert_eq!(client_of(&line).as_deref(), Some("2001:db8::7"));
    }

    #[test]
    fn garbage_is_refused() {
        for line in [
            String::new(),
            "garbage".into(),
            COMMON.replace("10.0.0.1", ""),
            COMMON.replace("- - ", "- "),
            // The virtual host before the client: the host must not be taken for the client.
            format!("example.org:80 {COMMON}"),
            COMMON.replace(['[', ']'], ""),
            COMMON.replace("May", "Mai"),
            COMMON.replace('"', ""),
            COMMON.replace(" 200", " OK"),
            COMMON.replace(" 594982", ""),
            COMMON[..60].into(),
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn a_log_is_told_from_a_header_by_a_time_in_brackets() {
        assert!(looks_like(COMMON.as_bytes()));
        assert!(looks_like(format!("example.org:80 {COMMON}").as_bytes()));
        assert!(!looks_like(b"time,key,cost"));
        assert!(!looks_like(b"time[ms],key"));
        assert!(!looks_like(b""));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_an_error(line: Vec<u8>, at in 0..COMMON.len(), byte: u8) {
            let _ = (parse(&line), looks_like(&line));
            let mut broken = COMMON.as_bytes().to_vec();
            broken[at] = byte;
            let _ = (parse(&broken), looks_like(&broken), parse(&broken[..at]));
        }
    }
}
