//! Requests that are read together, looked up together and decided together.
//!
//! A limiter decides a whole batch between two readings of the clock, so that reading it does not
//! distort the time of a decision; and a processor that does one thing at a time for many requests
//! waits for the memory of several at once.

use std::ops::Range;

use windowpane_core::{Cost, Nanos};

use crate::held::{Place, Sink};
use crate::input::Fields;
use crate::keys::Keys;
use crate::lines::LONGEST_LINE;

/// The requests of a batch.
const REQUESTS: usize = 1_024;
/// The bytes kept of them, beyond which a batch is full: keys can be long.
const BYTES: usize = 1 << 20;

/// One request.
pub struct Request {
    /// The input's number, counting from 0.
    pub input: u32,
    /// The line's number in the input.
    pub line: u64,
    /// The time, in nanoseconds since the input's zero.
    pub time: Nanos,
    /// The cost.
    pub cost: Cost,
    /// The key's number.
    pub key: u32,
    /// Whether the service itself denied it, where the input says so.
    pub denied: Option<bool>,
    time_text: Range<u32>,
    key_end: u32,
}

/// A batch.
pub struct Batch {
    /// The requests, in the input's order.
    pub requests: Vec<Request>,
    /// Whether the input has ended with it.
    pub is_last: bool,
    /// How many bytes of the input were read before it was full.
    pub bytes: u64,
    /// How many bad lines were skipped until then.
    pub bad_lines: u64,
    /// How many keys were known when it was full.
    pub keys: usize,
    /// The times and the keys as they stood, by turns.
    text: Vec<u8>,
    /// Of the keys.
    hashes: Vec<u64>,
}

impl Batch {
    /// An empty batch. It has room for the fullest there can be: what is never touched costs nothing.
    pub(crate) fn new() -> Batch {
        Batch {
            requests: Vec::with_capacity(REQUESTS),
            is_last: false,
            bytes: 0,
            bad_lines: 0,
            keys: 0,
            text: Vec::with_capacity(BYTES + LONGEST_LINE),
            hashes: Vec::with_capacity(REQUESTS),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.text.clear();
        self.hashes.clear();
        self.is_last = false;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.requests.len() >= REQUESTS || self.text.len() >= BYTES
    }

    /// Finds the numbers of the keys. They are all hashed first, since what is looked up one after the
    /// other, with nothing in between, is waited for together.
    pub(crate) fn find_keys(&mut self, keys: &mut Keys) {
        let hash = |request| keys.hash(key(&self.text, request));
        self.hashes.extend(self.requests.iter().map(hash));
        for (request, hash) in self.requests.iter_mut().zip(&self.hashes) {
            request.key = keys.number(*hash, key(&self.text, request));
        }
        self.keys = keys.len();
    }

    /// The key of a request.
    pub fn key(&self, request: &Request) -> &[u8] {
        key(&self.text, request)
    }

    /// The time of a request as it stood.
    pub fn time_text(&self, request: &Request) -> &[u8] {
        &self.text[request.time_text.start as usize..request.time_text.end as usize]
    }
}

impl Sink for Batch {
    /// Adds a request, whose key is still to be found.
    fn push(&mut self, place: Place, fields: &Fields<'_>) {
        // A line is at most as long as BYTES, so that all indices fit 32 bits.
        let start = self.text.len() as u32;
        self.text.extend_from_slice(fields.time_text);
        let time_end = self.text.len() as u32;
        self.text.extend_from_slice(fields.key);
        self.requests.push(Request {
            input: place.input,
            line: place.line,
            time: fields.time,
            cost: fields.cost,
            key: 0,
            denied: fields.denied,
            time_text: start..time_end,
            key_end: self.text.len() as u32,
        });
    }
}

/// The key of a request in its batch's text.
fn key<'a>(text: &'a [u8], request: &Request) -> &'a [u8] {
    &text[request.time_text.end as usize..request.key_end as usize]
}
