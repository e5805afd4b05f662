//! Who was denied: each client's first, last and longest block, and denials by hour.

use std::collections::HashMap;

use serde::Serialize;
use windowpane_core::Nanos;
use windowpane_lab_input::{Keys, Request};

use super::report::timeline::Timeline;

/// Hours that are kept apart: those of a year. A longer input has wider steps.
const HOURS: usize = 8_784;

/// Denials in a step of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Denials {
    /// When the step begins, in nanoseconds since the input's zero.
    pub from_ns: Nanos,
    /// How long it is: an hour, or more if the input is longer than a year.
    pub width_ns: u64,
    /// Requests denied in it.
    pub denied: u64,
}

/// A client that one algorithm denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedClient {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The client's key.
    pub key: Vec<u8>,
    /// Its requests.
    pub requests: u64,
    /// How many of them were denied.
    pub denied: u64,
    /// The time of the first denial.
    pub first: Nanos,
    /// The time of the last denial.
    pub last: Nanos,
    /// The longest block: from a denial to when a request would be allowed, with none allowed in between.
    pub longest: Nanos,
}

/// When one client was denied.
struct Blocks {
    first: Nanos,
    last: Nanos,
    /// The first denial since the client was last allowed.
    since: Option<Nanos>,
    longest: Nanos,
}

/// Who an algorithm denied, and when.
pub(super) struct Who {
    blocks: HashMap<u32, Blocks>,
    hours: Timeline<u64>,
}

impl Default for Who {
    fn default() -> Who {
        Who {
            blocks: HashMap::new(),
            hours: Timeline::by_hours(HOURS),
        }
    }
}

impl Who {
    /// Counts a denial.
    pub(super) fn denied(&mut self, request: &Request, retry_after: Option<Nanos>) {
        let time = request.time;
        *self.hours.at(time) += 1;
        let blocks = self.blocks.entry(request.key).or_insert(Blocks {
            first: time,
            last: time,
            since: None,
            longest: 0,
        });
        let since = *blocks.since.get_or_insert(time);
        blocks.first = blocks.first.min(time);
        blocks.last = blocks.last.max(time);
        let until = time.saturating_add(retry_after.unwrap_or(0));
        blocks.longest = blocks.longest.max(until.saturating_sub(since));
    }

    /// Ends the block of a client that was denied before and is allowed now.
    pub(super) fn allowed(&mut self, request: &Request) {
        if let Some(blocks) = self.blocks.get_mut(&request.key) {
            blocks.since = None;
        }
    }

    /// The longest block of any client.
    pub(super) fn longest(&self) -> Nanos {
        let longest = self.blocks.values().map(|blocks| blocks.longest);
        longest.max().unwrap_or(0)
    }

    /// Denials by hour; hours without one are left out.
    pub(super) fn by_hour(&self) -> Vec<Denials> {
        let width_ns = self.hours.width();
        let steps = self.hours.steps();
        let denials = steps.map(|(from_ns, denied)| Denials {
            from_ns,
            width_ns,
            denied: *denied,
        });
        denials.collect()
    }

    /// The clients that were denied, the most often first.
    pub(super) fn clients<'a>(
        &'a self,
        algorithm: &'static str,
        keys: &'a Keys,
        requests: &'a [u64],
        denied: &'a [u64],
    ) -> Vec<DeniedClient> {
        let client = |(key, blocks): (&u32, &Blocks)| DeniedClient {
            algorithm,
            key: keys.name(*key).to_vec(),
            requests: requests[*key as usize],
            denied: denied[*key as usize],
            first: blocks.first,
            last: blocks.last,
            longest: blocks.longest,
        };
        let mut clients: Vec<DeniedClient> = self.blocks.iter().map(client).collect();
        clients.sort_by(|a, b| b.denied.cmp(&a.denied).then_with(|| a.key.cmp(&b.key)));
        clients
    }
}
