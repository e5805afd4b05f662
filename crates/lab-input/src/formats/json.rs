//! JSON lines: the fields that are asked for, by names whose dots lead into objects.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of a line as text.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    text: Vec<u8>,
    spans: Vec<super::Span>,
}

impl Cells {
    /// A field; empty if it is missing or null.
    pub(crate) fn field(&self, index: usize) -> &[u8] {
        let (from, to) = self.spans[index];
        &self.text[from..to]
    }

    fn set(&mut self, index: usize, value: &str) {
        let from = self.text.len();
        match value.as_bytes() {
            [b'"', ..] => {
                let text = serde_json::from_str::<String>(value).unwrap_or_default();
                self.text.extend_from_slice(text.as_bytes());
            }
            // As a header that came several times.
            [b'[', ..] => {
                let texts = serde_json::from_str::<Vec<Cow<'_, str>>>(value).unwrap_or_default();
                self.text.extend_from_slice(texts.join(", ").as_bytes());
            }
            b"null" => {}
            other => self.text.extend_from_slice(other),
        }
        self.spans[index] = (from, self.text.len());
    }
}

/// Reads the fields of these names from a line.
///
/// # Errors
/// If the line is not one object.
pub(crate) fn read(line: &[u8], names: &[String], cells: &mut Cells) -> serde_json::Result<()> {
    cells.text.clear();
    cells.spans.clear();
    cells.spans.resize(names.len(), (0, 0));
    let paths: Vec<(usize, &str)> = names.iter().map(String::as_str).enumerate().collect();
    let mut json = serde_json::Deserializer::from_slice(line);
    let object = Object {
        paths: &paths,
        cells,
    };
    object.deserialize(&mut json)?;
    json.end()
}

/// An object, in which the paths begin.
struct Object<'a> {
    paths: &'a [(usize, &'a str)],
    cells: &'a mut Cells,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(rests) = map.next_key_seed(Key { paths: self.paths })? {
            if rests.is_empty() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value: &RawValue = map.next_value()?;
            let mut inner = Vec::new();
            for (index, rest) in rests {
                match rest {
                    "" => self.cells.set(index, value.get()),
                    rest => inner.push((index, rest)),
                }
            }
            if !inner.is_empty() && value.get().starts_with('{') {
                let object = Object {
                    paths: &inner,
                    cells: self.cells,
                };
                let mut json = serde_json::Deserializer::from_str(value.get());
                // It is sound JSON: it was read once.
                let _ = object.deserialize(&mut json);
            }
        }
        Ok(())
    }
}

/// A name in an object: which paths begin with it, and what is left of them.
struct Key<'a> {
    paths: &'a [(usize, &'a str)],
}

impl<'de, 'a> DeserializeSeed<'de> for Key<'a> {
    type Value = Vec<(usize, &'a str)>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Key<'a> {
    type Value = Vec<(usize, &'a str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let rest = |(index, path): &(usize, &'a str)| {
            let rest = path.strip_prefix(name)?;
            match rest.is_empty() {
                true => Some((*index, rest)),
                false => Some((*index, rest.strip_prefix('.')?)),
            }
        };
        Ok(self.paths.iter().filter_map(rest).collect())
    }
}

/// Whether a line is an object; its names, with dots, are added to `names`.
pub(crate) fn collect_names(line: &[u8], names: &mut BTreeSet<String>) -> bool {
    fn add(
        prefix: &str,
        object: &serde_json::Map<String, serde_json::Value>,
        names: &mut BTreeSet<String>,
    ) {
        for (name, value) in object {
            let name = format!("{prefix}{name}");
            if let serde_json::Value::Object(object) = value {
                add(&format!("{name}."), object, names);
            }
            names.insert(name);
        }
    }
    match serde_json::from_slice(line) {
        Ok(serde_json::Value::Object(object)) => {
            add("", &object, names);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, names: &[&str]) -> Option<Vec<String>> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut cells = Cells::default();
        read(line.as_bytes(), &names, &mut cells).ok()?;
        let text = |index| String::from_utf8(cells.field(index).to_vec()).unwrap();
        Some((0..names.len()).map(text).collect())
    }

    #[test]
    fn dotted_names_lead_into_objects_and_numbers_keep_their_digits() {
        let line = r#"{"ts":1700000000.1234567,"request":{"remote_ip":"10.0.0.1","headers":{"X":["a","b"]}},"a.b":"é\"","n":null,"t":true} "#;
        let names = [
            "ts",
            "request.remote_ip",
            "request.headers.X",
            "a.b",
            "n",
            "t",
            "request.no",
        ];
        assert_eq!(
            fields(line, &names).unwrap(),
            [
                "1700000000.1234567",
                "10.0.0.1",
                "a, b",
                "é\"",
                "",
                "true",
                ""
            ]
        );
        for bad in ["", "[]", "{", "{} {}", r#"{"a":1"#, "7"] {
            assert_eq!(fields(bad, &["a"]), None, "{bad}");
        }
        let mut found = BTreeSet::new();
        assert!(collect_names(line.as_bytes(), &mut found));
        assert!(found.contains("request.remote_ip") && found.contains("request.headers.X"));
        assert!(!collect_names(b"[1]", &mut found));
    }
}
