//! Requests that are kept for a while, to be merged, reordered or sorted.

use windowpane_core::{Cost, Nanos};

use crate::input::Fields;

/// Where a request stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The input's number, counting from 0.
    pub(crate) input: u32,
    /// The line's number in it, counting from 1.
    pub(crate) line: u64,
}

/// Takes requests one by one.
pub(crate) trait Sink {
    /// Takes a request.
    fn push(&mut self, place: Place, fields: &Fields<'_>);
}

/// One request with a text of its own, which is used again for the next.
pub(crate) struct Held {
    pub(crate) place: Place,
    pub(crate) time: Nanos,
    cost: Cost,
    denied: Option<bool>,
    /// The time and the key as they stood.
    text: Vec<u8>,
    time_end: usize,
}

impl Held {
    pub(crate) fn new() -> Held {
        Held {
            place: Place::default(),
            time: 0,
            cost: Cost::ONE,
            denied: None,
            text: Vec::new(),
            time_end: 0,
        }
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        let (time_text, key) = self.text.split_at(self.time_end);
        Fields {
            time: self.time,
            time_text,
            key,
            cost: self.cost,
            denied: self.denied,
        }
    }
}

impl Sink for Held {
    fn push(&mut self, place: Place, fields: &Fields<'_>) {
        self.place = place;
        self.time = fields.time;
        self.cost = fields.cost;
        self.denied = fields.denied;
        self.text.clear();
        self.text.extend_from_slice(fields.time_text);
        self.time_end = self.text.len();
        self.text.extend_from_slice(fields.key);
    }
}
