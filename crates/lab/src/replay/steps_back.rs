//! Requests whose time is before another one's.

use serde::Serialize;
use windowpane_core::Nanos;
use windowpane_lab_input::Request;

/// Requests whose time is before the latest, counted.
#[derive(Default)]
pub(super) struct StepsBack(Option<StepsBackSummary>);

/// Requests whose time is before the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StepsBackSummary {
    /// How many.
    pub requests: u64,
    /// How far the furthest is before the latest, in nanoseconds.
    pub furthest_ns: u64,
    /// The line of the first.
    pub first_line: u64,
    /// The number of the input that has it, counting from 1.
    pub first_input: u64,
}

impl StepsBack {
    /// Counts a request that is before `latest`.
    #[cold]
    pub(super) fn count(&mut self, request: &Request, latest: Nanos) {
        let step = latest - request.time;
        let counted = self.0.get_or_insert(StepsBackSummary {
            requests: 0,
            furthest_ns: 0,
            first_line: request.line,
            first_input: u64::from(request.input) + 1,
        });
        counted.requests += 1;
        counted.furthest_ns = counted.furthest_ns.max(step);
    }

    /// Returns the counts; `None` if there is no such request.
    pub(super) fn summary(&self) -> Option<StepsBackSummary> {
        self.0
    }
}
