//! Access logs of Application Load Balancers.

use super::{Span, Words, method_and_path, span};

/// The fields in their order, as far as they matter, and what is made of the request.
pub(crate) const NAMES: &[&str] = &[
    "type",
    "time",
    "elb",
    "client",
    "target",
    "request_processing_time",
    "target_processing_time",
    "response_processing_time",
    "status",
    "target_status",
    "received",
    "sent",
    "request",
    "agent",
    "ssl_cipher",
    "ssl_protocol",
    "target_group",
    "trace",
    "domain",
    "method",
    "path",
];

const REQUEST: usize = 12;
const TYPES: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];

/// Takes a line apart; false if it is not one.
pub(crate) fn split(line: &[u8], spans: &mut Vec<Span>) -> bool {
    spans.clear();
    let (last, words) = (NAMES.len() - 2, Words(line));
    spans.extend(words.take(last).map(|word| span(line, word)));
    let field = |nth: usize| spans.get(nth).map(|(from, to)| &line[*from..*to]);
    let (Some(kind), Some(request), true) = (field(0), field(REQUEST), spans.len() > REQUEST)
    else {
        return false;
    };
    let (method, path) = method_and_path(request);
    let is_one = TYPES.contains(&kind) && field(1).is_some_and(|time| time.ends_with(b"Z"));
    spans.resize(last, (0, 0));
    spans.extend([span(line, method), span(line, path)]);
    is_one
}

#[cfg(test)]
pub(crate) const LINE: &str = r#"h2 2018-07-02T22:23:00.186641Z app/lb/50dc 10.0.0.1:2817 10.0.1.1:80 0.0 0.0 0.0 200 200 5 257 "GET https://a.example:443/x?y=1 HTTP/2.0" "curl/7.46.0" ECDHE TLSv1.2 arn:x "Root=1-58" "a.example" "arn:y" 1 2018-07-02T22:22:48.364000Z "forward" "-" "-" "10.0.1.1:80" "200" "-" "-""#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_by_their_names() {
        let mut spans = Vec::new();
        assert!(split(LINE.as_bytes(), &mut spans));
        let field = |name: &str| {
            let (from, to) = spans[NAMES.iter().position(|n| *n == name).unwrap()];
            &LINE[from..to]
        };
        for (name, expected) in [
            ("time", "2018-07-02T22:23:00.186641Z"),
            ("client", "10.0.0.1:2817"),
            ("status", "200"),
            ("method", "GET"),
            ("path", "https://a.example:443/x?y=1"),
            ("agent", "curl/7.46.0"),
            ("domain", "a.example"),
        ] {
            assert_eq!(field(name), expected);
        }
        let lines = ["", "h2 x", "\"", &LINE[..80], &LINE.replace("h2 ", "ftp ")];
        assert!(lines.iter().all(|line| !split(line.as_bytes(), &mut spans)));
    }
}
