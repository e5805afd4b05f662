//! A model of clients that come again after a denial.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;
use windowpane_core::{Cost, Nanos};

use super::run::Answer;

/// What a client does that was denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RetryModel {
    /// Nothing but what the input holds.
    #[default]
    None,
    /// It sends the request again when `retry_after` has passed.
    Honour,
    /// It sends the request again each second.
    Hammer,
}

/// How often a request is sent again at most.
const MOST_TRIES: u32 = 10;
/// The pause of a client that hammers.
const PAUSE: Nanos = 1_000_000_000;

/// The requests that were sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RetryCounts {
    /// The model.
    pub model: RetryModel,
    /// How many were sent again, each time counted.
    pub sent: u64,
    /// How many were allowed at last.
    pub allowed: u64,
    /// How many were denied ten times more, or had no wait that helps.
    pub given_up: u64,
}

/// A request, of the input or sent again, and its answer.
pub(super) struct Asked {
    pub(super) key: u32,
    pub(super) time: Nanos,
    pub(super) cost: Cost,
    pub(super) answer: Answer,
}

/// A request that will be sent again, by time, then in the order of denials: time, order, key, cost,
/// tries.
type Waiting = (Nanos, u64, u32, Cost, u32);

/// Requests that will be sent again.
pub(super) struct Retries {
    waiting: BinaryHeap<Reverse<Waiting>>,
    denials: u64,
    pub(super) counts: RetryCounts,
    /// All requests of the latest batch, and those sent again before them.
    pub(super) asked: Vec<Asked>,
}

impl Retries {
    /// `None` if the model is that nothing is sent again.
    pub(super) fn new(model: RetryModel) -> Option<Retries> {
        (model != RetryModel::None).then(|| Retries {
            waiting: BinaryHeap::new(),
            denials: 0,
            counts: RetryCounts {
                model,
                sent: 0,
                allowed: 0,
                given_up: 0,
            },
            asked: Vec::new(),
        })
    }

    /// Sends what is due until `time` again; `decide` decides.
    pub(super) fn send_until(
        &mut self,
        time: Nanos,
        decide: &mut impl FnMut(u32, Nanos, Cost) -> Answer,
    ) {
        while let Some(Reverse((at, _, key, cost, tries))) = self.waiting.peek().copied()
            && at <= time
        {
            self.waiting.pop();
            self.counts.sent += 1;
            let answer = decide(key, at, cost);
            match answer {
                Answer::Allow { .. } => self.counts.allowed += 1,
                Answer::Deny { .. } => {}
                Answer::Error => self.counts.given_up += 1,
            }
            self.answered(key, at, cost, answer, tries);
        }
    }

    /// Records an answer; a denied request waits to be sent again.
    pub(super) fn answered(
        &mut self,
        key: u32,
        time: Nanos,
        cost: Cost,
        answer: Answer,
        tries: u32,
    ) {
        self.asked.push(Asked {
            key,
            time,
            cost,
            answer,
        });
        let Answer::Deny { retry_after, .. } = answer else {
            return;
        };
        let wait = match self.counts.model {
            RetryModel::Hammer => Some(PAUSE),
            _ => retry_after,
        };
        let at = wait.and_then(|wait| time.checked_add(wait));
        match at.filter(|_| tries < MOST_TRIES) {
            Some(at) => {
                let again = (at, self.denials, key, cost, tries + 1);
                self.waiting.push(Reverse(again));
                self.denials += 1;
            }
            None => self.counts.given_up += 1,
        }
    }
}
