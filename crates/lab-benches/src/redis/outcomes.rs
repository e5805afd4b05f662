//! Whether the decisions that were measured are the right ones: `-- --test` ends with status 1 if not.

use windowpane_lab_ground::spread::Spread;

use super::contestants::limits;
use super::load::State;
use super::record::{Results, spread};

/// The least share that is allowed where all is called so.
pub(crate) const LEAST_ALLOWED: f64 = 0.99;

/// Nanoseconds that a denial from the deny cache may take.
pub(crate) const DENIAL_AT_MOST: f64 = 1_000.0;

impl Results {
    /// What is wrong, a sentence each. Contestants that could not be asked are told by their error.
    pub(crate) fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (key, why) in &self.cannot {
            // What others cannot is told; what ours cannot is a fault.
            if key.name() != "trypema" {
                wrong.push(format!("{}: {why}", key.path()));
            }
        }
        for (key, rounds) in self.cells.iter().filter(|(key, _)| limits(key.name())) {
            let allowed = spread(rounds, |measured| measured.allowed);
            // It counts in buckets of time, and so may deny and allow a little late.
            let strict = key.name() != "trypema";
            if key.state == State::Denied.word() && allowed.max > if strict { 0.0 } else { 0.01 } {
                wrong.push(format!(
                    "{}: {:.2} % allowed after the quota was used up, expected none",
                    key.path(),
                    100.0 * allowed.max
                ));
            }
            // The best of the rounds: on a machine that is busy for a moment calls come in heaps,
            // which a quota denies with good reason.
            if key.state == State::Allowed.word() && allowed.max < LEAST_ALLOWED {
                wrong.push(format!(
                    "{}: {:.2} % allowed of what the quota has room for, expected at least 99 %",
                    key.path(),
                    100.0 * allowed.max
                ));
            }
        }
        if let Some(denials) = &self.denials {
            let least = Spread::of(denials.nanos.iter().copied()).map_or(0.0, |s| s.min);
            if least >= DENIAL_AT_MOST {
                wrong.push(format!(
                    "a denial from the deny cache takes {least:.0} ns in the fastest batch, expected below {DENIAL_AT_MOST}"
                ));
            }
            if denials.round_trips > 0 {
                wrong.push(format!(
                    "denials from the deny cache asked the store {} times, expected none",
                    denials.round_trips
                ));
            }
        }
        wrong
    }
}
