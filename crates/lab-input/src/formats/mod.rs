//! Lines of logs, taken apart into fields of fixed names.
//!
//! | module | format |
//! |---|---|
//! | `clf` | common and combined log format, with a virtual host before it or not |
//! | `alb` | Application Load Balancers |
//! | `haproxy` | HAProxy's HTTP log |
//! | `w3c` | W3C extended: IIS, CloudFront |
//! | `json` | JSON lines |

pub(crate) mod alb;
pub(crate) mod clf;
pub(crate) mod haproxy;
pub(crate) mod json;
pub(crate) mod w3c;

/// Where a field begins and ends in its text.
pub(crate) type Span = (usize, usize);

/// The place of a part in the text that it is a part of.
pub(crate) fn span(text: &[u8], part: &[u8]) -> Span {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    (start, start + part.len())
}

/// The method and the path of a request such as `GET /path HTTP/1.1`; empty where there is none.
pub(crate) fn method_and_path(request: &[u8]) -> (&[u8], &[u8]) {
    let mut words = request.split(|byte| *byte == b' ');
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or(&request[request.len()..]);
    (method, path)
}

/// The words between blanks. One that begins with a quote ends at the quote before a blank or the end,
/// and is without its quotes.
pub(crate) struct Words<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.0.trim_ascii_start();
        if text.is_empty() {
            return None;
        }
        if let Some(quoted) = text.strip_prefix(b"\"") {
            let ends = memchr::memchr_iter(b'"', quoted);
            for end in ends {
                if quoted.get(end + 1).is_none_or(|byte| *byte == b' ') {
                    self.0 = &quoted[end + 1..];
                    return Some(&quoted[..end]);
                }
            }
        }
        let end = memchr::memchr(b' ', text).unwrap_or(text.len());
        self.0 = &text[end..];
        Some(&text[..end])
    }
}
