//! What was accepted, and whether any window holds more than was promised.

use windowpane_core::{Cost, Nanos};

use windowpane_lab_contestants::soaked::Promise;

/// Accepted requests: key, recorded time, cost.
#[derive(Default)]
pub(super) struct Accepted(Vec<(u32, Nanos, u64)>);

impl Accepted {
    pub(super) fn push(&mut self, key: u32, at: Nanos, cost: Cost) {
        self.0.push((key, at, cost.get()));
    }

    pub(super) fn extend(&mut self, other: Accepted) {
        self.0.extend(other.0);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Sums every window of every quota, given as window and limit. O(n log n).
    pub(super) fn check(
        mut self,
        quotas: impl Iterator<Item = (Nanos, u64)>,
        promise: &Promise,
    ) -> Result<(), String> {
        self.0.sort_unstable();
        for (window, limit) in quotas {
            let most = promise.times_the_limit * limit;
            for of_key in self.0.chunk_by(|a, b| a.0 == b.0) {
                let (mut held, mut first) = (0, 0);
                for &(key, at, cost) in of_key {
                    held += cost;
                    // The window is half open: what was accepted `window` ago has left it.
                    while of_key[first].1 + window <= at {
                        held -= of_key[first].2;
                        first += 1;
                    }
                    if held > most {
                        return Err(format!(
                            "{held} permits of key {key} within {window} ns up to {at} ns, \
                             where at most {most} are promised"
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Promise = Promise::NEVER_ABOVE;

    fn accepted(requests: &[(u32, Nanos, u64)]) -> Accepted {
        Accepted(requests.to_vec())
    }

    #[test]
    fn one_permit_too_many_in_a_window_is_found() {
        let full = [(1, 5, 2), (1, 14, 1), (2, 5, 3)];
        assert_eq!(accepted(&full).check([(10, 3)].into_iter(), &EXACT), Ok(()));
        let one_more = [(1, 14, 1), (1, 5, 2), (2, 5, 3), (1, 14, 1)];
        let found = accepted(&one_more).check([(10, 3)].into_iter(), &EXACT);
        assert!(found.unwrap_err().contains("4 permits of key 1"));
        // At 15 the first has left.
        let later = [(1, 5, 2), (1, 14, 1), (1, 15, 2)];
        assert_eq!(
            accepted(&later).check([(10, 3)].into_iter(), &EXACT),
            Ok(())
        );
        // The second quota is looked at as well.
        let found = accepted(&later).check([(10, 3), (20, 4)].into_iter(), &EXACT);
        assert!(found.unwrap_err().contains("within 20 ns"));
    }
}
