//! When clients were denied: of those denied most, within a bound.
//!
//! Who is denied most is known at the end alone, so many more are kept than are shown. When there
//! are too many, the half that was denied least is forgotten. One that comes back after that is
//! counted anew: its timeline then holds fewer denials than the summary, and the page says so.

use std::collections::HashMap;

use windowpane_core::Nanos;

use super::timeline::{Timeline, rung_of};

/// Clients that are kept.
const MOST: usize = 2_000;
/// Steps of a client's timeline.
const STEPS: usize = 60;

/// The denials of one client: requests that at least one limiter denied.
pub(super) struct Denials {
    pub(super) count: u64,
    pub(super) when: Timeline<u64>,
}

/// Clients that were denied.
#[derive(Default)]
pub(super) struct Clients {
    by_key: HashMap<Vec<u8>, Denials>,
}

impl Clients {
    /// Counts a denial. Amortized O(1) look-ups.
    pub(super) fn denied(&mut self, key: &[u8], time: Nanos) {
        if !self.by_key.contains_key(key) {
            if self.by_key.len() >= MOST {
                self.forget_half();
            }
            let new = Denials {
                count: 0,
                when: Timeline::new(STEPS),
            };
            self.by_key.insert(key.to_vec(), new);
        }
        if let Some(denials) = self.by_key.get_mut(key) {
            denials.count += 1;
            *denials.when.at(time) += 1;
        }
    }

    fn forget_half(&mut self) {
        let mut counts: Vec<u64> = self.by_key.values().map(|denials| denials.count).collect();
        let middle = counts.len() / 2;
        let (_, median, _) = counts.select_nth_unstable(middle);
        let median = *median;
        // Of equals as many as there is room for, so that at least half goes.
        let mut room = middle
            - self
                .by_key
                .values()
                .filter(|of| of.count > median)
                .count()
                .min(middle);
        self.by_key.retain(|_, denials| {
            let stays = denials.count > median || (denials.count == median && room > 0);
            if stays && denials.count == median {
                room -= 1;
            }
            stays
        });
    }

    /// What is kept of a client. Bytes that are no UTF-8 are told as the summary tells them.
    pub(super) fn get(&self, name: &str) -> Option<&Denials> {
        self.by_key.get(name.as_bytes()).or_else(|| {
            let mut all = self.by_key.iter();
            let found = all.find(|(key, _)| String::from_utf8_lossy(key) == name);
            found.map(|(_, denials)| denials)
        })
    }

    /// Gives all timelines the same steps, of which as many cover the whole input's span.
    pub(super) fn align(&mut self, span: u64) {
        let rungs = self.by_key.values().map(|denials| denials.when.rung());
        let widest = rungs.chain([rung_of(span, STEPS)]).max().unwrap_or(0);
        for denials in self.by_key.values_mut() {
            denials.when.widen(widest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_denied_most_is_kept_among_many_and_no_more_than_the_bound() {
        let mut clients = Clients::default();
        for nth in 0..50_000_u64 {
            clients.denied(b"worst", nth);
            clients.denied(nth.to_string().as_bytes(), nth);
            assert!(clients.by_key.len() <= MOST);
        }
        let worst = clients.get("worst").unwrap();
        assert_eq!(worst.count, 50_000);
        assert_eq!(
            worst.when.steps().map(|(_, count)| count).sum::<u64>(),
            50_000
        );
    }

    #[test]
    fn aligned_timelines_have_steps_of_one_width() {
        let mut clients = Clients::default();
        clients.denied(b"a", 5);
        clients.denied(b"b", 0);
        clients.denied(b"b", 1_000_000_000_000);
        clients.denied(b"\xff", 7);
        clients.align(0);
        let width = |name: &str| clients.get(name).unwrap().when.width();
        assert!(width("a") > 1);
        assert_eq!(width("a"), width("b"));
        assert_eq!(clients.get("\u{fffd}").unwrap().count, 1);
    }
}
