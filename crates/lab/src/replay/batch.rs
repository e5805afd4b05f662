//! Requests that are read together, looked up together and decided together.
//!
//! A limiter decides a whole batch between two readings of the clock, so that reading it does not
//! distort the time of a decision; and a processor that does one thing at a time for many requests
//! waits for the memory of several at once.

use std::ops::Range;

use windowpane_core::{Cost, Nanos};

use super::input::Fields;
use super::keys::Keys;
use super::lines::LONGEST_LINE;

/// The requests of a batch.
const REQUESTS: usize = 1_024;
/// The bytes kept of them, beyond which a batch is full: keys can be long.
const BYTES: usize = 1 << 20;

/// One request.
pub(super) struct Request {
    /// The line's number in the input.
    pub(super) line: u64,
    pub(super) time: Nanos,
    pub(super) cost: Cost,
    /// The key's number.
    pub(super) key: u32,
    time_text: Range<u32>,
    key_end: u32,
}

/// A batch.
pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    /// Whether the input has ended with it.
    pub(super) is_last: bool,
    /// How many bytes of the input were read before it was full.
    pub(super) bytes: u64,
    /// How many bad lines were skipped until then.
    pub(super) bad_lines: u64,
    /// How many keys were known when it was full.
    pub(super) keys: usize,
    /// The times and the keys as they stood, by turns.
    text: Vec<u8>,
    /// Of the keys.
    hashes: Vec<u64>,
}

impl Batch {
    /// An empty batch. It has room for the fullest there can be: what is never touched costs nothing.
    pub(super) fn new() -> Batch {
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

    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.text.clear();
        self.hashes.clear();
        self.is_last = false;
    }

    pub(super) fn is_full(&self) -> bool {
        self.requests.len() >= REQUESTS || self.text.len() >= BYTES
    }

    /// Adds a request, whose key is still to be found.
    pub(super) fn push(&mut self, line: u64, fields: &Fields<'_>) {
        // A line is at most as long as BYTES, so that all places fit 32 bits.
        let start = self.text.len() as u32;
        self.text.extend_from_slice(fields.time_text);
        let time_end = self.text.len() as u32;
        self.text.extend_from_slice(fields.key);
        self.requests.push(Request {
            line,
            time: fields.time,
            cost: fields.cost,
            key: 0,
            time_text: start..time_end,
            key_end: self.text.len() as u32,
        });
    }

    /// Finds the numbers of the keys. They are all hashed first, since what is looked up one after the
    /// other, with nothing in between, is waited for together.
    pub(super) fn find_keys(&mut self, keys: &mut Keys) {
        let hash = |request| keys.hash(key(&self.text, request));
        self.hashes.extend(self.requests.iter().map(hash));
        for (request, hash) in self.requests.iter_mut().zip(&self.hashes) {
            request.key = keys.number(*hash, key(&self.text, request));
        }
        self.keys = keys.len();
    }

    /// The key of a request.
    pub(super) fn key(&self, request: &Request) -> &[u8] {
        key(&self.text, request)
    }

    /// The time of a request as it stood.
    pub(super) fn time_text(&self, request: &Request) -> &[u8] {
        &self.text[request.time_text.start as usize..request.time_text.end as usize]
    }
}

/// The key of a request in its batch's text.
fn key<'a>(text: &'a [u8], request: &Request) -> &'a [u8] {
    &text[request.time_text.end as usize..request.key_end as usize]
}
