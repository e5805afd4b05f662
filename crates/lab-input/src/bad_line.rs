//! Lines that are no requests.

use std::fmt;

use crate::excerpt::excerpt;

/// What was expected of a line, and what stood there instead where it helps to see it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unexpected<'a> {
    pub(crate) kind: BadKind,
    pub(crate) expected: String,
    pub(crate) found: Option<&'a [u8]>,
}

impl Unexpected<'_> {
    pub(crate) fn at(self, line: u64) -> BadLine {
        BadLine {
            line,
            kind: self.kind,
            expected: self.expected,
            found: self
                .found
                .map(|found| excerpt(&String::from_utf8_lossy(found))),
        }
    }
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BadKind {
    /// It is not of the format.
    Format,
    /// It has other fields than the header names.
    Fields,
    /// A quote is never closed.
    Quote,
    /// It is too long.
    Length,
    /// Its time is not one.
    Time,
    /// Its cost is not one.
    Cost,
    /// Its key is not one.
    Key,
}

impl BadKind {
    /// A few words for it.
    pub fn name(self) -> &'static str {
        match self {
            BadKind::Format => "not of the format",
            BadKind::Fields => "other fields than the header",
            BadKind::Quote => "an open quote",
            BadKind::Length => "too long",
            BadKind::Time => "a time that is none",
            BadKind::Cost => "a cost that is none",
            BadKind::Key => "a key that is none",
        }
    }
}

/// A line that is not a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The line's number in the input, counting from 1.
    pub line: u64,
    /// What is wrong.
    pub kind: BadKind,
    /// What was expected.
    pub expected: String,
    /// What stood there instead, shortened, where it helps to see it.
    pub found: Option<String>,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)?;
        match &self.found {
            Some(found) => write!(f, ", found `{found}`"),
            None => Ok(()),
        }
    }
}
