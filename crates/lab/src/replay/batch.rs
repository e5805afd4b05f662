//! Requests that are read together, looked up together and decided together.
//!
//! A limiter decides a whole batch between two readings of the clock, so that reading it does not
//! distort the time of a decision; and a processor that does one thing at a time for many requests
//! waits for the memory of several at once.

use std::ops::Range;

use windowpane_core::{Cost, Nanos};

use super::input::Fields;
use super::keys::Keys;

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
#[derive(Default)]
pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    /// The times and the keys as they stood, by turns.
    text: Vec<u8>,
    /// Of the keys.
    hashes: Vec<u64>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.text.clear();
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

    /// Finds the keys' numbers.
    pub(super) fn find_keys(&mut self, keys: &mut Keys) {
        let text = &self.text;
        let key =
            |request: &Request| &text[request.time_text.end as usize..request.key_end as usize];
        self.hashes.clear();
        self.hashes
            .extend(self.requests.iter().map(|request| keys.hash(key(request))));
        for (request, hash) in self.requests.iter_mut().zip(&self.hashes) {
            request.key = keys.number(*hash, key(request));
        }
    }

    /// The time of a request as it stood.
    pub(super) fn time_text(&self, request: &Request) -> &[u8] {
        &self.text[request.time_text.start as usize..request.time_text.end as usize]
    }
}
