//! Access logs: the common and the combined log format.
//!
//! `[VHOST] CLIENT IDENT USER [TIME] "REQUEST" STATUS SIZE ["REFERER" "AGENT" ["FORWARDED"]]`. A user's
//! name may hold blanks and quotes, and a request anything: the time in brackets and the status behind
//! a quote are what lines are known by.

use super::{Span, Words, method_and_path, span};
use crate::date::parse_clf_time;
use crate::key;
use crate::time::TimeError;

pub(crate) const NAMES: &[&str] = &[
    "client",
    "time",
    "status",
    "request",
    "method",
    "path",
    "size",
    "vhost",
    "ident",
    "user",
    "referer",
    "agent",
    "forwarded",
];

/// The fields from this one on are looked for only if one of them is asked for.
pub(crate) const TAIL: usize = 6;

/// Takes a line apart; false if it is not one.
pub(crate) fn split(line: &[u8], with_tail: bool, spans: &mut Vec<Span>) -> bool {
    spans.clear();
    let Some(Line {
        before,
        time,
        request,
        after,
    }) = take_apart(line)
    else {
        return false;
    };
    let Some((vhost, client)) = host_and_client(before) else {
        return false;
    };
    let (method, path) = method_and_path(request);
    let mut words = Words(after);
    let status = words.next().unwrap_or_default();
    spans.extend([client, time, status, request, method, path].map(|part| span(line, part)));
    if with_tail {
        let size = words.next();
        let [ident, user] = ident_and_user(before, client);
        let fields = [size, Some(vhost), Some(ident), Some(user)];
        let tail = fields.into_iter().chain([(); 3].map(|()| words.next()));
        spans.extend(tail.map(|part| part.map_or((0, 0), |part| span(line, part))));
    }
    true
}

/// Whether a first line is of an access log, be it a sound one or not, rather than a CSV header.
pub(crate) fn looks_like(line: &[u8]) -> bool {
    let mut parts = line.split(|byte| *byte == b'[').skip(1);
    parts.any(|part| {
        let time = part.split(|byte| *byte == b']').next().unwrap_or_default();
        !matches!(parse_clf_time(time), Err(TimeError::MalformedClf))
    })
}

/// A line at its anchors.
struct Line<'a> {
    /// Up to the blank before the time.
    before: &'a [u8],
    time: &'a [u8],
    request: &'a [u8],
    /// From the status on.
    after: &'a [u8],
}

fn take_apart(line: &[u8]) -> Option<Line<'_>> {
    // A user's name may hold brackets, too.
    memchr::memchr_iter(b'[', line).find_map(|at| {
        let before = line[..at].strip_suffix(b" ")?;
        let (time, rest) = line[at + 1..].split_at_checked(TIME)?;
        let is_time = time[2] == b'/' && time[6] == b'/';
        let rest = rest.strip_prefix(b"] \"").filter(|_| is_time)?;
        // What clients send as a request is anything, quotes included, so its end is the quote that
        // is followed by a status and a size.
        let end = memchr::memchr_iter(b'"', rest).find(|at| is_status_and_size(&rest[at + 1..]))?;
        Some(Line {
            before,
            time,
            request: &rest[..end],
            after: &rest[end + 2..],
        })
    })
}

/// The bytes of a time: `12/May/2024:00:00:17 +0000`.
const TIME: usize = 26;

/// The virtual host, if there is one, and the client, of what is before the time.
fn host_and_client(before: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = before.split(|byte| *byte == b' ');
    let (first, second) = (words.next()?, words.next()?);
    let more = words.next().is_some();
    if first.is_empty() || !more {
        return None;
    }
    // A host is no address, and has one, or a port, behind it. Most lines have no host, and show it
    // by their number of words.
    let is_host = words.next().is_some()
        && key::address(first).is_none()
        && (key::address(second).is_some() || has_port(first));
    match is_host && !second.is_empty() {
        true => Some((first, second)),
        false => Some((&before[..0], first)),
    }
}

fn has_port(host: &[u8]) -> bool {
    let port = host.rsplit(|byte| *byte == b':').next().unwrap_or_default();
    port.len() < host.len() && !port.is_empty() && port.iter().all(u8::is_ascii_digit)
}

/// What stands between the client and the time.
fn ident_and_user<'a>(before: &'a [u8], client: &[u8]) -> [&'a [u8]; 2] {
    let (_, end) = span(before, client);
    let rest = before[end..].strip_prefix(b" ").unwrap_or_default();
    match memchr::memchr(b' ', rest) {
        Some(at) => [&rest[..at], &rest[at + 1..]],
        None => [rest, &before[before.len()..]],
    }
}

/// Whether `text` begins with ` STATUS SIZE`, each digits or `-`; the size may be missing at the end.
fn is_status_and_size(text: &[u8]) -> bool {
    let is_number =
        |word: &[u8]| word == b"-" || !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let mut words = text.split(|byte| *byte == b' ');
    words.next().is_some_and(<[u8]>::is_empty)
        && words
            .next()
            .is_some_and(|status| status.len() == 3 && is_number(status))
        && words.next().is_none_or(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COMMON: &str =
        r#"10.0.0.1 - - [12/May/2024:00:00:17 +0000] "GET /p1 HTTP/1.1" 200 594982"#;

    fn fields(line: &str) -> Option<Vec<String>> {
        let mut spans = Vec::new();
        split(line.as_bytes(), true, &mut spans).then(|| {
            assert_eq!(spans.len(), NAMES.len());
            let text = |(from, to): &(usize, usize)| &line.as_bytes()[*from..*to];
            spans
                .iter()
                .map(|span| String::from_utf8_lossy(text(span)).into_owned())
                .collect()
        })
    }

    #[test]
    fn the_client_and_the_time_of_all_kinds_of_lines() {
        for line in [
            COMMON.to_string(),
            format!(r#"{COMMON} "-" "curl/8 \"quoted\"""#),
            COMMON.replace("594982", "-"),
            COMMON.replace(" 594982", ""),
            COMMON.replace("- -", "ident user"),
            COMMON.replace("- -", "- John [the 1st] \"Doe\""),
            COMMON.replace("- - ", "-  "),
            COMMON.replace("GET /p1 HTTP/1.1", r#"\x16\x03 \" un"escaped "#),
            COMMON.replace("GET /p1 HTTP/1.1", "\u{16}\u{3}\u{1}"),
            COMMON.replace("GET /p1 HTTP/1.1", ""),
            COMMON.replace("\"GET /p1 HTTP/1.1\" 200 594982", "\"\" 400 0"),
            COMMON.replace("\"GET /p1 HTTP/1.1\" 200 594982", "\"-\" 408 -"),
            // A virtual host before the client.
            format!("example.org:80 {COMMON}"),
            format!("example.org {COMMON}"),
        ] {
            let fields = fields(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                fields[..2],
                ["10.0.0.1", "12/May/2024:00:00:17 +0000"],
                "{line}"
            );
        }
        let line = COMMON.replace("10.0.0.1", "2001:db8::7");
        assert_eq!(fields(&line).unwrap()[0], "2001:db8::7");
        let host = COMMON.replace("10.0.0.1", "client.example");
        assert_eq!(fields(&host).unwrap()[0], "client.example");
        let hosts = format!("example.org:80 {host}");
        assert_eq!(fields(&hosts).unwrap()[0], "client.example");
        let user = COMMON.replace("- -", "- a b");
        assert_eq!(
            fields(&user.replace("10.0.0.1", "client.example")).unwrap()[0],
            "client.example"
        );
    }

    #[test]
    fn fields_by_their_names() {
        let line = format!(
            r#"a.example:443 {} "http://r" "agent x" "9.9.9.9, 8.8.8.8""#,
            COMMON.replace("- -", "id a user")
        );
        let expected = [
            "10.0.0.1",
            "12/May/2024:00:00:17 +0000",
            "200",
            "GET /p1 HTTP/1.1",
            "GET",
            "/p1",
            "594982",
            "a.example:443",
            "id",
            "a user",
            "http://r",
            "agent x",
            "9.9.9.9, 8.8.8.8",
        ];
        assert_eq!(fields(&line).unwrap(), expected);
    }

    #[test]
    fn garbage_is_rejected() {
        for line in [
            String::new(),
            "garbage".into(),
            COMMON.replace("10.0.0.1", ""),
            COMMON.replace("- - ", "- "),
            COMMON.replace(['[', ']'], ""),
            COMMON.replace('"', ""),
            COMMON.replace(" 200", " OK"),
            COMMON[..60].into(),
        ] {
            assert_eq!(fields(&line), None, "{line}");
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
            let mut spans = Vec::new();
            let _ = (split(&line, true, &mut spans), looks_like(&line));
            let mut broken = COMMON.as_bytes().to_vec();
            broken[at] = byte;
            let _ = (split(&broken, true, &mut spans), looks_like(&broken));
            let _ = split(&broken[..at], false, &mut spans);
        }
    }
}
