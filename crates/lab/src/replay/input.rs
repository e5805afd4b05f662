//! What is counted of the input itself.

use std::net::Ipv6Addr;

use windowpane_core::Nanos;
use windowpane_lab_input::{InputError, Keys, Order, ReadSummary, Request};

use super::steps_back::StepsBack;
use super::summary::InputSummary;

/// What is counted of the input itself.
pub(crate) struct InputCounts {
    pub(crate) requests: u64,
    pub(crate) earliest: Nanos,
    pub(crate) latest: Nanos,
    /// Requests before the latest time of all.
    steps_back: StepsBack,
}

impl Default for InputCounts {
    fn default() -> InputCounts {
        InputCounts {
            requests: 0,
            earliest: Nanos::MAX,
            latest: 0,
            steps_back: StepsBack::default(),
        }
    }
}

impl InputCounts {
    pub(crate) fn count(&mut self, request: &Request) {
        self.requests += 1;
        self.earliest = self.earliest.min(request.time);
        match request.time < self.latest {
            true => self.steps_back.count(request, self.latest),
            false => self.latest = request.time,
        }
    }

    /// Returns the summary; an error if there are no requests.
    pub(crate) fn summary(
        &self,
        names: Vec<String>,
        order: Order,
        keys: &Keys,
        read: ReadSummary,
    ) -> Result<InputSummary, InputError> {
        let name = match &names[..] {
            [first, others @ ..] if !others.is_empty() => {
                format!("{first} and {} more", others.len())
            }
            names => names.concat(),
        };
        if self.requests == 0 {
            return Err(nothing(name, &read));
        }
        Ok(InputSummary {
            name,
            names,
            format: match read.formats[..] {
                [only] => only,
                _ => "several",
            },
            order: match order {
                Order::AsGiven => "as given",
                Order::Reordered(_) => "reordered",
                Order::Sorted => "sorted",
            },
            requests: self.requests,
            keys: keys.len() as u64,
            ipv6: networks(keys),
            bad_lines: read.bad.lines,
            earliest_ns: self.earliest,
            latest_ns: self.latest,
            steps_back: self.steps_back.summary(),
            left_out: read.left_out,
            bad: read.bad,
        })
    }
}

/// Counts the keys that are IPv6 addresses, and the networks of 64 bits that they are in.
fn networks(keys: &Keys) -> (u64, u64) {
    let network = |number: usize| {
        let text = std::str::from_utf8(keys.name(number as u32)).ok()?;
        // Most keys have no colon, and are not parsed.
        let address: Ipv6Addr = text.contains(':').then(|| text.parse().ok())??;
        Some((address.to_bits() >> 64) as u64)
    };
    let mut networks: Vec<u64> = (0..keys.len()).filter_map(network).collect();
    let addresses = networks.len() as u64;
    networks.sort_unstable();
    networks.dedup();
    (addresses, networks.len() as u64)
}

/// The error of inputs without a request.
fn nothing(input: String, read: &ReadSummary) -> InputError {
    let found = match (read.bad.lines, &read.formats[..]) {
        (0, _) if read.left_out > 0 => {
            format!("none that the filters take, of {}", read.left_out)
        }
        (0, ["csv"]) => "a header alone".into(),
        (0, _) => "nothing".into(),
        (bad, _) => format!("nothing but bad lines ({bad})"),
    };
    InputError::Empty { input, found }
}
