//! A limiter with the bug that the checker must find: it looks, and takes afterwards.

use std::sync::Mutex;

use windowpane_core::{Cost, Decision, Detailed, Nanos, Quotas, RateLimiter, RequestError};
use windowpane_mutex_log::MutexLog;

/// A log that is right when it is called in order: a request that fits is looked at under one lock
/// and charged under another. In between, another thread may take the same permits.
pub(crate) struct CheckThenTake {
    quotas: Quotas,
    accepted: Mutex<Vec<(Nanos, Cost)>>,
}

impl CheckThenTake {
    pub(crate) fn new(quotas: &Quotas) -> CheckThenTake {
        CheckThenTake {
            quotas: quotas.clone(),
            accepted: Mutex::new(Vec::new()),
        }
    }

    fn log(&self) -> MutexLog {
        let log: MutexLog = MutexLog::new(self.quotas.clone());
        for (at, cost) in self.accepted.lock().unwrap().iter() {
            let _ = log.decide_at(*at, *cost);
        }
        log
    }
}

impl RateLimiter for CheckThenTake {
    fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        Ok(self.decide_detailed_at(now, cost)?.decision())
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        let answer = self.log().peek_at(now, cost)?;
        // A look, and only then the charge.
        std::thread::yield_now();
        if answer.is_allowed() {
            self.accepted.lock().unwrap().push((now, cost));
        }
        Ok(answer)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.log().peek_at(now, cost)
    }

    fn reset(&self) {
        self.accepted.lock().unwrap().clear();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.log().is_idle_at(now)
    }
}
