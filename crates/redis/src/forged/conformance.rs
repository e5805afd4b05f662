//! The cases with right answers.

#[path = "../../../core/tests/conformance/mod.rs"]
mod cases;

use windowpane_core::{Cost, Decision, Detailed, Nanos, Quotas, RateLimiter, RequestError};

use super::{Forged, Server};
use crate::algorithm::{Algorithm, Log, TwoCounter};

use std::sync::Mutex;

/// A forged key as the cases take a limiter.
struct Keyed<A>(Mutex<Forged<A>>);

impl<A: Algorithm> RateLimiter for Keyed<A> {
    fn quotas(&self) -> Quotas {
        self.0.lock().unwrap().plan.quotas.clone()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.decide_detailed_at(now, cost).map(|d| d.decision())
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        let forged = self.0.lock().unwrap();
        let answer = forged.decide(now, cost)?;
        forged.check_more(now, &answer);
        Ok(answer.detailed)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        Ok(self.0.lock().unwrap().peek(now, cost)?.detailed)
    }

    fn reset(&self) {
        self.0.lock().unwrap().forget();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        let quotas = self.quotas();
        let peeked = self.peek_at(now, Cost::ONE).unwrap();
        let whole = quotas.iter().zip(peeked.remaining_per_quota());
        whole.into_iter().all(|(q, left)| q.limit() == left + 1)
    }
}

fn build<A: Algorithm>(server: &Server) -> impl Fn(Quotas) -> Keyed<A> {
    let keys = std::cell::Cell::new(0);
    move |quotas| {
        keys.set(keys.get() + 1);
        Keyed(Mutex::new(Forged::new(
            server,
            &keys.get().to_string(),
            quotas,
        )))
    }
}

#[test]
fn the_log_answers_every_case() {
    let Some(server) = Server::start() else {
        return;
    };
    let clamped = cases::exact();
    let clamped = clamped.iter().filter(|case| case.on_regression == "clamp");
    let mut run = 0;
    for case in clamped {
        case.check(build::<Log>(&server));
        run += 1;
    }
    assert!(run >= 20, "{run} cases: all but those that reject");
    for case in cases::counter() {
        case.check_exact(build::<Log>(&server));
    }
}

#[test]
fn the_two_counters_answer_every_case() {
    let Some(server) = Server::start() else {
        return;
    };
    for case in cases::counter() {
        case.check_counter(build::<TwoCounter>(&server));
    }
}
