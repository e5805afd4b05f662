//! Counting one run's answers.

use serde::Serialize;
use windowpane_core::Nanos;
use windowpane_lab_input::Request;

use super::run::Answer;
use super::steps_back::StepsBack;
use super::who::Who;

/// Decisions of a limiter beside those that the service itself made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Service {
    /// Both deny.
    pub both_deny: u64,
    /// The service denied what the limiter does not.
    pub service_alone_denies: u64,
    /// The limiter denies what the service did not.
    pub limiter_alone_denies: u64,
    /// Neither denies.
    pub neither_denies: u64,
}

impl Service {
    fn count(&mut self, service_denied: bool, answer: Answer) {
        let count = match (service_denied, matches!(answer, Answer::Deny { .. })) {
            (true, true) => &mut self.both_deny,
            (true, false) => &mut self.service_alone_denies,
            (false, true) => &mut self.limiter_alone_denies,
            (false, false) => &mut self.neither_denies,
        };
        *count += 1;
    }
}

/// What one run answered, counted.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) allowed: u64,
    pub(super) denied: u64,
    pub(super) errors: u64,
    /// Denials by the key's number.
    pub(super) denied_by_key: Vec<u64>,
    pub(super) who: Who,
    /// Where the input holds the service's own decisions.
    pub(super) service: Service,
    /// The latest time accepted, by the key's number.
    latest: Vec<Nanos>,
    /// Requests before the latest that was accepted of their key.
    pub(super) steps_back: StepsBack,
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
        self.latest.resize(keys.max(self.latest.len()), 0);
        for (request, answer) in requests.iter().zip(answers) {
            let latest = &mut self.latest[request.key as usize];
            if request.time < *latest {
                self.steps_back.count(request, *latest);
            }
            if let Some(denied) = request.denied {
                self.service.count(denied, *answer);
            }
            match answer {
                Answer::Allow { .. } => {
                    self.allowed += 1;
                    *latest = request.time.max(*latest);
                    if self.denied_by_key[request.key as usize] > 0 {
                        self.who.allowed(request);
                    }
                }
                Answer::Error => self.errors += 1,
                Answer::Deny { retry_after, .. } => {
                    self.denied += 1;
                    self.denied_by_key[request.key as usize] += 1;
                    self.who.denied(request, *retry_after);
                }
            }
        }
    }
}
