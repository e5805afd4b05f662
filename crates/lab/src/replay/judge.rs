//! The oracle as the judge of another limiter: an exact log for each key, fed with what that
//! limiter accepted.

use serde::Serialize;
use windowpane_core::{Cost, Nanos, Quotas, RateLimiter};
use windowpane_lab_input::Request;
use windowpane_mutex_log::MutexLog;

use super::retries::Asked;
use super::run::Answer;

/// What of one quota was used in the worst of all windows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overshoot {
    /// The quota.
    pub quota: String,
    /// What was accepted in a window.
    pub used: u64,
    /// What the quota allows in it.
    pub limit: u64,
    /// How much of the limit was accepted beyond it: 0.5 for 15 of 10.
    pub share: f64,
}

/// Judges one run.
pub(super) struct Judge {
    quotas: Quotas,
    /// By the key's number.
    logs: Vec<Option<MutexLog>>,
    pub(super) false_allows: u64,
    pub(super) false_denies: u64,
    /// The index of a quota, and what was used of it.
    worst: Option<(usize, u64)>,
}

impl Judge {
    pub(super) fn new(quotas: &Quotas) -> Judge {
        Judge {
            quotas: quotas.clone(),
            logs: Vec::new(),
            false_allows: 0,
            false_denies: 0,
            worst: None,
        }
    }

    /// Judges the answers to a batch, in which `keys` keys are known.
    ///
    /// # Panics
    /// If there are fewer answers than requests.
    pub(super) fn judge(&mut self, requests: &[Request], answers: &[Answer], keys: usize) {
        self.logs.resize_with(keys.max(self.logs.len()), || None);
        for (request, answer) in requests.iter().zip(answers) {
            self.judge_one(request.key, request.time, request.cost, *answer);
        }
    }

    /// Judges requests of known keys, those among them that were sent again.
    pub(super) fn judge_asked(&mut self, asked: &[Asked], keys: usize) {
        self.logs.resize_with(keys.max(self.logs.len()), || None);
        for of in asked {
            self.judge_one(of.key, of.time, of.cost, of.answer);
        }
    }

    #[inline]
    fn judge_one(&mut self, key: u32, time: Nanos, cost: Cost, answer: Answer) {
        let allowed = match answer {
            // There is no decision to judge.
            Answer::Error => return,
            Answer::Allow { .. } => true,
            Answer::Deny { .. } => false,
        };
        let log = self.logs[key as usize].get_or_insert_with(|| MutexLog::new(self.quotas.clone()));
        let right = log
            .peek_at(time, cost)
            .is_ok_and(|detailed| detailed.is_allowed());
        match (allowed, right) {
            (true, false) => self.false_allows += 1,
            (false, true) => self.false_denies += 1,
            _ => {}
        }
        if allowed {
            let used = log.record_at(time, cost);
            for (index, &used) in used.iter().enumerate() {
                self.worst = self.worse(index, used);
            }
        }
    }

    /// The worse of the worst so far and `used` of a quota: the larger share of the limit.
    fn worse(&self, index: usize, used: u64) -> Option<(usize, u64)> {
        // A limit of 0 is never used.
        let share_of = |(index, used): (usize, u64)| {
            (u128::from(used), u128::from(self.quotas[index].limit()))
        };
        match self.worst {
            None => Some((index, used)),
            Some(worst) => {
                let (a, of_a) = share_of(worst);
                let (b, of_b) = share_of((index, used));
                Some(if b * of_a > a * of_b {
                    (index, used)
                } else {
                    worst
                })
            }
        }
    }

    /// The worst overshoot; `None` if no window held more than its quota allows.
    pub(super) fn overshoot(&self) -> Option<Overshoot> {
        let (index, used) = self.worst?;
        let quota = self.quotas[index];
        let beyond = used
            .checked_sub(quota.limit())
            .filter(|beyond| *beyond > 0)?;
        Some(Overshoot {
            quota: quota.to_string(),
            used,
            limit: quota.limit(),
            share: beyond as f64 / quota.limit() as f64,
        })
    }
}
