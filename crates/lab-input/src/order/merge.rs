//! Several inputs as one, by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use windowpane_core::Nanos;

use crate::error::InputError;
use crate::held::{Held, Sink};
use crate::source::{Ledger, Source};

/// Inputs whose next requests are compared: the earliest comes first, of equals the one whose input
/// comes first.
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// By input: its next request.
    heads: Vec<Held>,
    next: BinaryHeap<Reverse<(Nanos, usize)>>,
    is_begun: bool,
}

impl Merge {
    pub(crate) fn new(sources: Vec<Source>) -> Merge {
        Merge {
            heads: sources.iter().map(|_| Held::new()).collect(),
            sources,
            next: BinaryHeap::new(),
            is_begun: false,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.sources.iter().map(Source::bytes).sum()
    }

    /// Gives the next request to `sink`; false if there is none. O(log inputs).
    pub(crate) fn read(
        &mut self,
        ledger: &mut Ledger,
        sink: &mut impl Sink,
    ) -> Result<bool, InputError> {
        // One input needs no copy.
        if let [only] = &mut self.sources[..] {
            return only.read(ledger, sink);
        }
        if !self.is_begun {
            self.is_begun = true;
            for nth in 0..self.sources.len() {
                self.advance(nth, ledger)?;
            }
        }
        let Some(Reverse((_, nth))) = self.next.pop() else {
            return Ok(false);
        };
        let head = &self.heads[nth];
        sink.push(head.place, &head.fields());
        self.advance(nth, ledger)?;
        Ok(true)
    }

    fn advance(&mut self, nth: usize, ledger: &mut Ledger) -> Result<(), InputError> {
        if self.sources[nth].read(ledger, &mut self.heads[nth])? {
            self.next.push(Reverse((self.heads[nth].time, nth)));
        }
        Ok(())
    }
}
