//! A header's value as the key.

use http::HeaderName;
use http::request::Parts;

use super::{Extract, Extracted};

/// The longest value taken for a key unless said otherwise, in bytes.
const MAX_LENGTH: usize = 256;

/// The value of a header, such as an API key: a [`String`] of printable ASCII, without the blanks
/// around it.
///
/// A value that is empty, too long (256 bytes unless said otherwise), not ASCII or given more than
/// once is a missing key.
///
/// A client can send any value, and each new value has a fresh quota. Verify it in a layer outside
/// this one, or limit by address as well.
#[derive(Clone, Debug)]
pub struct FromHeader {
    name: HeaderName,
    max_length: usize,
}

impl FromHeader {
    /// The value of the header of that name.
    pub fn new(name: HeaderName) -> FromHeader {
        FromHeader {
            name,
            max_length: MAX_LENGTH,
        }
    }

    /// The longest value taken for a key, in bytes: what a store holds for each key.
    pub fn max_length(mut self, bytes: usize) -> FromHeader {
        self.max_length = bytes;
        self
    }
}

impl Extract for FromHeader {
    type Key = String;

    fn extract(&self, request: &Parts) -> Extracted<String> {
        const EXPECTED: &str = "one key of printable ASCII in the header that carries it";
        let mut values = request.headers.get_all(&self.name).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Extracted::Missing(EXPECTED);
        };
        match value.to_str().map(str::trim) {
            Ok(key) if !key.is_empty() && key.len() <= self.max_length => {
                Extracted::Key(key.to_owned())
            }
            _ => Extracted::Missing(EXPECTED),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Request};

    use super::*;

    fn extract(values: &[&[u8]]) -> Extracted<String> {
        let mut request = Request::new(());
        for value in values {
            let value = HeaderValue::from_bytes(value).unwrap();
            request.headers_mut().append("x-api-key", value);
        }
        FromHeader::new(HeaderName::from_static("x-api-key"))
            .max_length(8)
            .extract(&request.into_parts().0)
    }

    #[test]
    fn a_key_is_one_short_printable_value() {
        assert_eq!(extract(&[b" alpha "]), Extracted::Key("alpha".into()));
        assert_eq!(extract(&[b"12345678"]), Extracted::Key("12345678".into()));
        let missing: [&[&[u8]]; 8] = [
            &[],
            &[b""],
            &[b"   "],
            &[b"123456789"],
            &[b"caf\xc3\xa9"],
            &[b"\xff"],
            &[b"alpha", b"beta"],
            &[b"alpha", b"alpha"],
        ];
        for values in missing {
            let extracted = extract(values);
            assert!(matches!(extracted, Extracted::Missing(_)), "{values:?}");
        }
    }
}
