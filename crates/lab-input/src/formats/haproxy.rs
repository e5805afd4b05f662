//! HAProxy's HTTP log, with what a syslog writes before it or not.

use super::{Span, method_and_path, span};

pub(crate) const NAMES: &[&str] = &[
    "client", "time", "frontend", "backend", "timers", "status", "size", "request", "method",
    "path",
];

/// Takes a line apart; false if it is not one.
pub(crate) fn split(line: &[u8], spans: &mut Vec<Span>) -> bool {
    spans.clear();
    let fields = fields(line);
    spans.extend(fields.iter().flatten().map(|field| span(line, field)));
    fields.is_some()
}

fn fields(line: &[u8]) -> Option<[&[u8]; 10]> {
    let at = memchr::memchr_iter(b'[', line).find(|at| {
        // `[06/Feb/2009:12:14:14.655]`, not the `[14389]` of a process.
        line.get(at + 3) == Some(&b'/') && line.get(at + 21) == Some(&b'.')
    })?;
    let before = line[..at].trim_ascii_end();
    let client = before.rsplit(|byte| *byte == b' ').next()?;
    // There is always a port, and no brackets around IPv6.
    let client = &client[..memchr::memrchr(b':', client)?];
    let rest = &line[at + 1..];
    let (time, rest) = rest.split_at(memchr::memchr(b']', rest)?);
    let mut words = rest[1..]
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let [frontend, backend, timers, status, size] = [(); 5].map(|()| words.next());
    let status = status?;
    let is_number = !status.is_empty() && status.iter().all(u8::is_ascii_digit);
    // A request that is too long has lost its closing quote.
    let quote = memchr::memchr(b'"', rest)?;
    let request = &rest[quote + 1..];
    let request = &request[..memchr::memrchr(b'"', request).unwrap_or(request.len())];
    let (method, path) = method_and_path(request);
    let fields = [
        client, time, frontend?, backend?, timers?, status, size?, request, method, path,
    ];
    ((is_number || status == b"-1") && !client.is_empty()).then_some(fields)
}

#[cfg(test)]
pub(crate) const LINE: &str = r#"Feb  6 12:14:14 localhost haproxy[14389]: 10.0.0.1:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1""#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_by_their_names_with_a_prefix_and_without() {
        let mut spans = Vec::new();
        let bare = &LINE[LINE.find("10.0.0.1").unwrap()..];
        for line in [LINE, bare, LINE.strip_suffix('"').unwrap()] {
            assert!(split(line.as_bytes(), &mut spans));
            let fields: Vec<&str> = spans.iter().map(|(from, to)| &line[*from..*to]).collect();
            assert_eq!(fields[..2], ["10.0.0.1", "06/Feb/2009:12:14:14.655"]);
            assert_eq!(fields[5], "200");
            assert_eq!(fields[8..], ["GET", "/index.html"]);
        }
        for line in [
            "",
            "[",
            LINE.split('{').next().unwrap(),
            &LINE.replace('[', ""),
        ] {
            assert!(!split(line.as_bytes(), &mut spans), "{line}");
        }
    }
}
