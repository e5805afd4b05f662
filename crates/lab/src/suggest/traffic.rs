//! A log as it is kept to try many limits on it: by client, in the order of time.

use std::collections::HashMap;

use windowpane_core::Nanos;
use windowpane_lab_input::{Ahead, Input, InputOptions, Keys, Order, Stream};

use crate::replay::input::InputCounts;
use crate::replay::{InputSummary, ReplayError};

/// The requests of a log.
pub struct Traffic {
    /// What was read.
    pub input: InputSummary,
    keys: Keys,
    /// Where the requests of each client begin, and where the last ends.
    starts: Vec<usize>,
    times: Vec<Nanos>,
    /// Empty if every cost is 1.
    costs: Vec<u64>,
    /// By window: the most permits that each client asked for in one.
    peaks: HashMap<Nanos, Vec<u64>>,
}

/// The requests of one client, in the order of time.
#[derive(Clone, Copy)]
pub(super) struct Client<'a> {
    pub(super) times: &'a [Nanos],
    costs: &'a [u64],
}

impl Client<'_> {
    /// Each request's time and cost.
    pub(super) fn requests(&self) -> impl Iterator<Item = (Nanos, u64)> {
        let cost = |nth: usize| self.costs.get(nth).copied().unwrap_or(1);
        let times = self.times.iter().enumerate();
        times.map(move |(nth, time)| (*time, cost(nth)))
    }

    /// The most permits in any window.
    fn peak(&self, window: Nanos) -> u64 {
        let (mut sum, mut peak, mut first) = (0_u64, 0, 0);
        let cost = |nth: usize| self.costs.get(nth).copied().unwrap_or(1);
        for (nth, time) in self.times.iter().enumerate() {
            sum = sum.saturating_add(cost(nth));
            // What was accepted at `s` is gone at exactly `s + window`.
            while time - self.times[first] >= window {
                sum = sum.saturating_sub(cost(first));
                first += 1;
            }
            peak = peak.max(sum);
        }
        peak
    }
}

/// Reads inputs.
///
/// # Errors
/// [`ReplayError::Input`].
pub fn read(
    inputs: Vec<Input>,
    skip_bad: bool,
    options: &InputOptions,
) -> Result<Traffic, ReplayError> {
    // Clients are sorted one by one, which is less than to sort the log.
    let order = Order::AsGiven;
    let stream = Stream::open(inputs, order, skip_bad, options)?;
    let names = stream.names().to_vec();
    let mut counts = InputCounts::default();
    let (mut of, mut times, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    let mut ahead = Ahead::read(stream);
    let (keys, read) = loop {
        let (batch, reader) = ahead.next()?;
        ahead = reader;
        for request in &batch.requests {
            counts.count(request);
            let cost = request.cost.get();
            if cost != 1 && costs.is_empty() {
                costs.resize(times.len(), 1);
            }
            if cost != 1 || !costs.is_empty() {
                costs.push(cost);
            }
            of.push(request.key);
            times.push(request.time);
        }
        if batch.is_last {
            break ahead.end();
        }
        ahead.give_back(batch);
    };
    let input = counts.summary(names, order, &keys, read)?;
    Ok(Traffic::new(input, keys, &of, &times, &costs))
}

impl Traffic {
    /// Brings the requests of each client together: a sort by counting.
    fn new(input: InputSummary, keys: Keys, of: &[u32], times: &[Nanos], costs: &[u64]) -> Traffic {
        let mut starts = vec![0; keys.len() + 1];
        for key in of {
            starts[*key as usize + 1] += 1;
        }
        for key in 0..keys.len() {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; times.len()];
        let mut sorted_costs = vec![0; costs.len()];
        for (nth, key) in of.iter().enumerate() {
            let to = &mut next[*key as usize];
            sorted[*to] = times[nth];
            if let Some(cost) = costs.get(nth) {
                sorted_costs[*to] = *cost;
            }
            *to += 1;
        }
        let mut traffic = Traffic {
            input,
            keys,
            starts,
            times: sorted,
            costs: sorted_costs,
            peaks: HashMap::new(),
        };
        traffic.sort_clients();
        traffic
    }

    fn sort_clients(&mut self) {
        for key in 0..self.keys.len() {
            let range = self.starts[key]..self.starts[key + 1];
            let times = &mut self.times[range.clone()];
            if times.is_sorted() {
                continue;
            }
            if self.costs.is_empty() {
                times.sort_unstable();
                continue;
            }
            let costs = &mut self.costs[range];
            let mut both: Vec<(Nanos, u64)> =
                times.iter().copied().zip(costs.iter().copied()).collect();
            both.sort_by_key(|(time, _)| *time);
            for (nth, (time, cost)) in both.into_iter().enumerate() {
                (times[nth], costs[nth]) = (time, cost);
            }
        }
    }

    /// The number of clients.
    pub(super) fn clients(&self) -> usize {
        self.keys.len()
    }

    /// The number of requests.
    pub(super) fn requests(&self) -> u64 {
        self.times.len() as u64
    }

    /// A client's key.
    pub(super) fn key(&self, client: usize) -> &[u8] {
        self.keys.name(client as u32)
    }

    pub(super) fn client(&self, client: usize) -> Client<'_> {
        let range = self.starts[client]..self.starts[client + 1];
        Client {
            times: &self.times[range.clone()],
            costs: self.costs.get(range).unwrap_or_default(),
        }
    }

    /// Counts the busiest window of each client, once.
    pub(super) fn count_peaks(&mut self, window: Nanos) {
        if !self.peaks.contains_key(&window) {
            let peak = |client| self.client(client).peak(window);
            let peaks = (0..self.clients()).map(peak).collect();
            self.peaks.insert(window, peaks);
        }
    }

    /// The most permits that each client asked for in a window.
    ///
    /// # Panics
    /// If they were not counted.
    pub(super) fn peaks(&self, window: Nanos) -> &[u64] {
        &self.peaks[&window]
    }
}
