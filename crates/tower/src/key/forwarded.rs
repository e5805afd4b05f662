//! The hops in forwarding headers, nearest first. All of them may be forged.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};

/// The most hops that are read: chains of trusted proxies are short.
const MAX_HOPS: usize = 64;

/// The most bytes of a header that are read, the nearest hops first.
pub(super) const MAX_BYTES: usize = 8 * 1024;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// What a proxy says it received the request from; `None` where that is no address: obfuscated,
/// `unknown`, or nothing that can be read.
pub(super) type Hop = Option<IpAddr>;

/// The hops of `X-Forwarded-For`, from right to left over all its lines.
pub(super) fn x_forwarded_for(headers: &HeaderMap) -> impl Iterator<Item = Hop> + '_ {
    let mut left = MAX_BYTES;
    headers
        .get_all(X_FORWARDED_FOR)
        .iter()
        .rev()
        .flat_map(move |line| {
            let line = line.as_bytes();
            // The part of the line that is read; an element cut by its edge is not read.
            let seen = line.len().min(left);
            left -= seen;
            let cut = seen < line.len();
            let mut elements = line[line.len() - seen..]
                .rsplit(|byte| *byte == b',')
                .peekable();
            std::iter::from_fn(move || {
                let element = elements.next()?;
                let whole = !cut || elements.peek().is_some();
                Some((element, whole))
            })
        })
        .map(|(element, whole)| {
            let element = element.trim_ascii();
            if !whole {
                Some(None)
            } else if element.is_empty() {
                // Lists may have empty elements, which mean nothing.
                None
            } else {
                Some(std::str::from_utf8(unquoted(element)).ok().and_then(node))
            }
        })
        .take(MAX_HOPS)
        .flatten()
}

/// The address in a header of one; `None` if it is missing, names none, or is there twice.
pub(super) fn single(headers: &HeaderMap, name: &str) -> Hop {
    let mut lines = headers.get_all(name).iter();
    let line = lines.next()?.as_bytes();
    if lines.next().is_some() || line.len() > MAX_BYTES {
        return None;
    }
    std::str::from_utf8(unquoted(line.trim_ascii()))
        .ok()
        .and_then(node)
}

/// Returns the text between two quotation marks; some proxies quote the elements of
/// `X-Forwarded-For`. An element with one mark alone is returned as it is, and is no address.
fn unquoted(element: &[u8]) -> &[u8] {
    let inner = element
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    inner.unwrap_or(element)
}

/// The hops of `Forwarded` (RFC 7239), from right to left over all its lines.
///
/// A line that does not follow the grammar is one hop without an address: a client could have
/// opened a quotation in it that swallows what a proxy appended.
pub(super) fn forwarded(headers: &HeaderMap) -> impl Iterator<Item = Hop> + '_ {
    let mut left = MAX_BYTES;
    headers
        .get_all(header::FORWARDED)
        .iter()
        .rev()
        .flat_map(move |line| {
            let line = line.as_bytes();
            let hops = match left.checked_sub(line.len()) {
                Some(rest) => {
                    left = rest;
                    forwarded_line(line)
                }
                None => {
                    left = 0;
                    None
                }
            };
            hops.unwrap_or_else(|| vec![None]).into_iter().rev()
        })
        .take(MAX_HOPS)
}

/// The hops of one line in its order, or `None` if it does not follow the grammar.
fn forwarded_line(line: &[u8]) -> Option<Vec<Hop>> {
    let mut hops = Vec::new();
    let mut rest = line.trim_ascii();
    while !rest.is_empty() {
        // One element: pairs up to the next comma. Lists may have empty ones, which mean nothing.
        let mut named = None;
        let mut empty = true;
        loop {
            rest = rest.trim_ascii_start();
            match rest.first() {
                None | Some(b',' | b';') => {}
                Some(_) => {
                    let (name, value, after) = pair(rest)?;
                    if name.eq_ignore_ascii_case(b"for") && named.replace(value).is_some() {
                        return None;
                    }
                    rest = after.trim_ascii_start();
                    empty = false;
                }
            }
            match rest.split_first() {
                Some((b';', after)) => rest = after,
                Some((b',', after)) => {
                    rest = after.trim_ascii_start();
                    break;
                }
                None => break,
                Some(_) => return None,
            }
        }
        if !empty {
            hops.push(named.and_then(|value| node(&value)));
        }
    }
    Some(hops)
}

/// `name=value` at the start of `text`: the name, the value without quotes, what follows.
fn pair(text: &[u8]) -> Option<(&[u8], String, &[u8])> {
    let end = text.iter().position(|byte| !is_token(*byte))?;
    let (name, rest) = text.split_at(end);
    let rest = rest.strip_prefix(b"=")?;
    if name.is_empty() {
        return None;
    }
    if let Some(mut rest) = rest.strip_prefix(b"\"") {
        let mut value = String::new();
        loop {
            let (byte, after) = rest.split_first()?;
            rest = after;
            let byte = match byte {
                b'"' => return Some((name, value, rest)),
                b'\\' => {
                    let (byte, after) = rest.split_first()?;
                    rest = after;
                    byte
                }
                byte => byte,
            };
            // Only addresses are wanted, and those are ASCII; other bytes stay recognisably wrong.
            value.push(char::from(*byte));
        }
    }
    // Some proxies leave out the quotes that an address with a colon needs; nothing else is read
    // into that.
    let is_value = |byte: &u8| is_token(*byte) || matches!(byte, b':' | b'[' | b']');
    let end = rest.iter().take_while(|byte| is_value(byte)).count();
    let (value, rest) = rest.split_at(end);
    match value {
        [] => None,
        value => Some((name, value.iter().copied().map(char::from).collect(), rest)),
    }
}

/// Whether a token may hold the byte (RFC 9110).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The address of a node: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:80`; the port may be obfuscated. An address that is not is no address.
fn node(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (address, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            (IpAddr::V6(address.parse().ok()?), port)
        }
        None => {
            let colon = text.find(':')?;
            let (address, port) = text.split_at(colon);
            (IpAddr::V4(address.parse().ok()?), port)
        }
    };
    let is_port = |port: &str| {
        let digits = (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
        let obfuscated = port.len() > 1
            && port.starts_with('_')
            && port
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        digits || obfuscated
    };
    match port.strip_prefix(':') {
        Some(port) if is_port(port) => Some(address),
        None if port.is_empty() => Some(address),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn ip(text: &str) -> Hop {
        Some(text.parse().unwrap())
    }

    fn headers(name: &'static str, lines: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(name, HeaderValue::from_bytes(line).unwrap());
        }
        headers
    }

    #[test]
    fn nodes_are_addresses_with_or_without_a_port() {
        for (text, address) in [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:80", "192.0.2.1"),
            ("192.0.2.1:_hidden", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:DB8::1]:4711", "2001:db8::1"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ] {
            assert_eq!(node(text), ip(address), "{text}");
        }
        for text in [
            "",
            "unknown",
            "_hidden",
            "192.0.2",
            "192.0.2.256",
            "192.0.2.1:",
            "192.0.2.1:x",
            "192.0.2.1:123456",
            "010.0.0.1",
            "[192.0.2.1]",
            "[2001:db8::1",
            "2001:db8::1]",
            "[2001:db8::1]80",
            "[2001:db8::1]:",
            "fe80::1%eth0",
            "localhost",
            "1.2.3.4, 5.6.7.8",
            "192.0.2.1:_",
            "[]",
            "[]:80",
            ":80",
        ] {
            assert_eq!(node(text), None, "{text}");
        }
    }

    #[test]
    fn x_forwarded_for_is_read_from_right_to_left_over_its_lines() {
        let lines: &[&[u8]] = &[
            b"192.0.2.1, junk ,192.0.2.2",
            b",, 192.0.2.3:80 ,,\t[2001:db8::1]:1",
        ];
        let hops: Vec<Hop> = x_forwarded_for(&headers("x-forwarded-for", lines)).collect();
        let expected = [
            ip("2001:db8::1"),
            ip("192.0.2.3"),
            ip("192.0.2.2"),
            None,
            ip("192.0.2.1"),
        ];
        assert_eq!(hops, expected);
    }

    #[test]
    fn quoted_elements_of_x_forwarded_for_are_read() {
        let line: &[u8] =
            b"\"192.0.2.1\", \"[2001:db8::1]:80\",\"2001:db8::2\" ,\"\",\",192.0.2.3\"";
        let hops: Vec<Hop> = x_forwarded_for(&headers("x-forwarded-for", &[line])).collect();
        let expected = [
            None,
            None,
            None,
            ip("2001:db8::2"),
            ip("2001:db8::1"),
            ip("192.0.2.1"),
        ];
        assert_eq!(hops, expected);
    }

    #[test]
    fn a_long_x_forwarded_for_is_read_to_its_bound() {
        // An element cut by the bound is not read as a shorter address.
        let mut line = vec![b'1'; 4 * MAX_BYTES];
        line.extend_from_slice(b".2.3.4, 192.0.2.1");
        let hops: Vec<Hop> = x_forwarded_for(&headers("x-forwarded-for", &[&line])).collect();
        assert_eq!(hops, [ip("192.0.2.1"), None]);

        let line = vec![b','; 4 * MAX_BYTES];
        assert!(x_forwarded_for(&headers("x-forwarded-for", &[&line])).count() <= MAX_HOPS);

        let line = "192.0.2.1,".repeat(1000);
        let hops = headers("x-forwarded-for", &[line.as_bytes(), line.as_bytes()]);
        assert!(x_forwarded_for(&hops).count() <= MAX_HOPS);
    }

    #[test]
    fn forwarded_is_read_from_right_to_left_over_its_lines() {
        let lines: &[&[u8]] = &[
            b"for=192.0.2.1;proto=http;by=203.0.113.43, For=\"[2001:db8:cafe::17]:4711\"",
            b"for=_hidden, for=unknown, by=192.0.2.9, for=\"\\192.0.2.4\" ; host=\"a,b\\\";for=x\"",
        ];
        let hops: Vec<Hop> = forwarded(&headers("forwarded", lines)).collect();
        let expected = [
            ip("192.0.2.4"),
            None,
            None,
            None,
            ip("2001:db8:cafe::17"),
            ip("192.0.2.1"),
        ];
        assert_eq!(hops, expected);
    }

    #[test]
    fn a_forwarded_line_that_is_malformed_is_one_hop_without_an_address() {
        for line in [
            // A client opened a quotation; the proxy's element is inside or beside it.
            &b"for=\", for=192.0.2.1"[..],
            b"for=1.2.3.4;x=\", for=\"[2001:db8::1]\"",
            b"for=192.0.2.1;for=192.0.2.2",
            b"for=",
            b"for",
            b"=192.0.2.1",
            b"for=192.0.2.1 192.0.2.2",
            b"for = 192.0.2.1",
            b"for=\"192.0.2.1\\",
            b"for=192.0.2.1, \xff",
            &vec![b'a'; MAX_BYTES + 1],
        ] {
            let hops: Vec<Hop> = forwarded(&headers("forwarded", &[line])).collect();
            assert_eq!(hops, [None], "{}", String::from_utf8_lossy(line));
        }
        for line in [&b""[..], b" ", b", ,", b";"] {
            assert_eq!(forwarded(&headers("forwarded", &[line])).count(), 0);
        }
    }
}
