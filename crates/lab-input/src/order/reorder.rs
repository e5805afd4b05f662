//! Requests that come late, put in order within a window of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use windowpane_core::Nanos;

use super::Merge;
use crate::error::InputError;
use crate::held::{Held, Sink};
use crate::source::Ledger;

/// Holds requests until none that is earlier can come, if none comes later than the window.
///
/// Memory: the requests of one window of time.
pub(crate) struct Reorder {
    source: Merge,
    window: Nanos,
    /// The latest time read.
    latest: Nanos,
    ended: bool,
    /// By time, then in the order they were read; and where each is held.
    waiting: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    held: Vec<Held>,
    free: Vec<usize>,
    read: u64,
}

impl Reorder {
    pub(crate) fn new(source: Merge, window: Nanos) -> Reorder {
        Reorder {
            source,
            window,
            latest: 0,
            ended: false,
            waiting: BinaryHeap::new(),
            held: Vec::new(),
            free: Vec::new(),
            read: 0,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    /// Gives the next request to `sink`; false if there is none.
    pub(crate) fn read(
        &mut self,
        ledger: &mut Ledger,
        sink: &mut impl Sink,
    ) -> Result<bool, InputError> {
        loop {
            if let Some(Reverse((time, _, slot))) = self.waiting.peek()
                && (self.ended || self.latest - time >= self.window)
            {
                let slot = *slot;
                self.waiting.pop();
                sink.push(self.held[slot].place, &self.held[slot].fields());
                self.free.push(slot);
                return Ok(true);
            }
            if self.ended {
                return Ok(false);
            }
            let slot = self.free.pop().unwrap_or_else(|| {
                self.held.push(Held::new());
                self.held.len() - 1
            });
            if !self.source.read(ledger, &mut self.held[slot])? {
                self.ended = true;
                continue;
            }
            let time = self.held[slot].time;
            self.latest = self.latest.max(time);
            self.waiting.push(Reverse((time, self.read, slot)));
            self.read += 1;
        }
    }
}
