//! Counting one run's answers.

use windowpane_lab_input::Request;

use super::run::Answer;

/// What one run answered, counted.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) allowed: u64,
    pub(super) denied: u64,
    pub(super) errors: u64,
    /// Denials by the key's number.
    pub(super) denied_by_key: Vec<u64>,
}

impl Tally {
    /// Keys of which at least one request was denied.
    pub(super) fn keys_denied(&self) -> u64 {
        let denied = self.denied_by_key.iter().filter(|denied| **denied > 0);
        denied.count() as u64
    }

    /// Counts the answers to a batch, in which `keys` keys are known.
    pub(super) fn count(&mut self, requests: &[Request], answers: &[Answer], keys: usize) {
        self.denied_by_key
            .resize(keys.max(self.denied_by_key.len()), 0);
        for (request, answer) in requests.iter().zip(answers) {
            match answer {
                Answer::Allow { .. } => self.allowed += 1,
                Answer::Error => self.errors += 1,
                Answer::Deny { .. } => {
                    self.denied += 1;
                    self.denied_by_key[request.key as usize] += 1;
                }
            }
        }
    }
}
