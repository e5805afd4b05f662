//! A strict parser of structured fields (RFC 9651, section 4.2), as far as lists of strings with
//! parameters go. It shares nothing with what writes them.

use std::collections::BTreeMap;

use http::Response;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Integer(i64),
    String(String),
}

/// One member of a list: a string and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub parameters: BTreeMap<String, Item>,
}

impl Member {
    pub fn integer(&self, parameter: &str) -> Option<i64> {
        match self.parameters.get(parameter)? {
            Item::Integer(number) => Some(*number),
            other => panic!("{parameter} is {other:?}"),
        }
    }

    pub fn string(&self, parameter: &str) -> Option<&str> {
        match self.parameters.get(parameter)? {
            Item::String(text) => Some(text),
            other => panic!("{parameter} is {other:?}"),
        }
    }
}

/// The members of a header, all its lines joined as the RFC says; none if it is missing.
pub fn members<B>(response: &Response<B>, header: &str) -> Vec<Member> {
    let lines = response.headers().get_all(header).iter();
    let lines: Vec<&str> = lines.map(|line| line.to_str().unwrap()).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let text = lines.join(", ");
    parse(&text).unwrap_or_else(|| panic!("{header} is no list: {text}"))
}

pub fn parse(text: &str) -> Option<Vec<Member>> {
    let mut input = Input(text.trim_matches(' ').as_bytes());
    let mut list = Vec::new();
    loop {
        list.push(input.member()?);
        input.blanks();
        if input.0.is_empty() {
            return Some(list);
        }
        input.expect(b',')?;
        input.blanks();
        if input.0.is_empty() {
            return None; // a trailing comma
        }
    }
}

struct Input<'t>(&'t [u8]);

impl Input<'_> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.next();
        }
    }

    fn member(&mut self) -> Option<Member> {
        let Item::String(name) = self.item()? else {
            return None;
        };
        let mut parameters = BTreeMap::new();
        while self.peek() == Some(b';') {
            self.next();
            while self.peek() == Some(b' ') {
                self.next();
            }
            let key = self.key()?;
            self.expect(b'=')?;
            let value = self.item()?;
            assert!(
                parameters.insert(key, value).is_none(),
                "a parameter stands twice"
            );
        }
        Some(Member { name, parameters })
    }

    fn key(&mut self) -> Option<String> {
        let mut key = String::new();
        matches!(self.peek()?, b'a'..=b'z' | b'*').then_some(())?;
        while let Some(byte @ (b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*')) = self.peek()
        {
            key.push(byte.into());
            self.next();
        }
        Some(key)
    }

    fn item(&mut self) -> Option<Item> {
        match self.peek()? {
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.integer(),
            _ => None,
        }
    }

    fn string(&mut self) -> Option<Item> {
        self.expect(b'"')?;
        let mut text = String::new();
        loop {
            match self.next()? {
                b'"' => return Some(Item::String(text)),
                b'\\' => match self.next()? {
                    byte @ (b'"' | b'\\') => text.push(byte.into()),
                    _ => return None,
                },
                byte @ 0x20..=0x7e => text.push(byte.into()),
                _ => return None,
            }
        }
    }

    fn integer(&mut self) -> Option<Item> {
        let mut digits = String::new();
        if self.peek() == Some(b'-') {
            self.next();
            digits.push('-');
        }
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            digits.push(byte.into());
            self.next();
        }
        if digits.trim_start_matches('-').len() > 15 || self.peek() == Some(b'.') {
            return None;
        }
        Some(Item::Integer(digits.parse().ok()?))
    }
}
