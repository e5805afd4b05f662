//! The scripts on a clock that tests set, beside the limiters whose rules they run.
//!
//! This is compiled for tests alone: what ships has no way to give a script a time.

mod conformance;
mod gcra;
mod log;
#[path = "../../tests/support/server.rs"]
mod server;
mod two_counter;

use std::cell::RefCell;
use std::marker::PhantomData;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use windowpane_core::{
    Answer, Cost, Decision, Denial, Detailed, Nanos, Quota, Quotas, RequestError,
};

use crate::algorithm::{Algorithm, Plan, Settles};
use crate::script::{self, Script};

pub(crate) use server::Server;

const CLOCK: &str = include_str!("clock.lua");

/// One key of an algorithm, decided at times that the test gives, in nanoseconds.
pub(crate) struct Forged<A> {
    connection: RefCell<redis::Connection>,
    key: String,
    plan: Plan,
    script: Script,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> Forged<A> {
    /// A key that has accepted nothing.
    pub(crate) fn new(server: &Server, key: &str, quotas: impl Into<Quotas>) -> Forged<A> {
        let body = match A::NAME {
            "log" => script::LOG,
            "two-counter" => script::TWO_COUNTER,
            _ => script::GCRA,
        };
        let forged = Forged {
            connection: RefCell::new(server.connection()),
            key: format!("{}:{{{key}}}", A::NAME),
            plan: A::plan(quotas.into()).unwrap(),
            script: script::on_clock(CLOCK, body),
            algorithm: PhantomData,
        };
        forged.forget();
        forged
    }

    /// Forgets all, as if the key had expired.
    pub(crate) fn forget(&self) {
        let mut connection = self.connection.borrow_mut();
        let delete: redis::RedisResult<i64> =
            redis::cmd("DEL").arg(&self.key).query(&mut *connection);
        delete.unwrap();
    }

    /// From now on with other quotas.
    pub(crate) fn change(&mut self, quotas: impl Into<Quotas>) {
        self.plan = A::plan(quotas.into()).unwrap();
    }

    /// The key as it is stored; empty if there is none.
    pub(crate) fn dump(&self) -> Vec<u8> {
        let mut connection = self.connection.borrow_mut();
        let dump: Option<Vec<u8>> = redis::cmd("DUMP")
            .arg(&self.key)
            .query(&mut *connection)
            .unwrap();
        dump.unwrap_or_default()
    }

    /// The number of entries of the log that may count.
    pub(crate) fn length(&self) -> u64 {
        let mut connection = self.connection.borrow_mut();
        let mut get = redis::cmd("GET");
        let log: Vec<u8> = get.arg(&self.key).query(&mut *connection).unwrap();
        let number = |at: usize| f64::from_le_bytes(log[at..at + 8].try_into().unwrap()) as usize;
        let tail = log.len() - number(log.len() - 8);
        (number(tail + 8) - number(tail + 16)) as u64
    }

    fn run(&self, peek: bool, now: Nanos, cost: Cost) -> Result<Answer, RequestError> {
        assert_eq!(now % 1_000, 0, "whole microseconds");
        self.plan.quotas.check_cost(cost)?;
        let mut command = redis::cmd("EVAL");
        command.arg(self.script.text()).arg(1).arg(&self.key);
        self.plan.add_arguments(&mut command, cost, peek);
        command.arg(now / 1_000);
        let reply: redis::Value = command.query(&mut *self.connection.borrow_mut()).unwrap();
        let answer = crate::reply::answer(&reply, &self.plan.quotas);
        Ok(answer.unwrap_or_else(|| panic!("no answer: {reply:?}")))
    }

    pub(crate) fn acquire(&self, now: Nanos, cost: Cost) -> Result<Answer, RequestError> {
        self.run(false, now, cost)
    }

    pub(crate) fn peek(&self, now: Nanos, cost: Cost) -> Result<Answer, RequestError> {
        self.run(true, now, cost)
    }

    /// Peeks, checks that this changed nothing, and decides.
    pub(crate) fn decide(&self, now: Nanos, cost: Cost) -> Result<Answer, RequestError> {
        let before = self.dump();
        let peeked = self.peek(now, cost);
        assert!(self.dump() == before, "peek changes nothing");
        let answer = self.acquire(now, cost);
        assert_eq!(peeked, answer, "peek answers as acquire does");
        let allowed = answer.as_ref().is_ok_and(|a| a.detailed.is_allowed());
        if !allowed {
            assert!(self.dump() == before, "a denial changes nothing");
        }
        answer
    }

    /// Holds `more_after` against the rule itself: a microsecond earlier no more
    /// remains, and then it does. `None` only where nothing more can remain.
    pub(crate) fn check_more(&self, now: Nanos, answer: &Answer) {
        let remaining = |at| {
            let answer = self.peek(at, Cost::ONE).unwrap();
            match answer.detailed.is_allowed() {
                // What is left after it, and itself.
                true => answer.detailed.remaining() + self.plan.quotas[0].charge(Cost::ONE),
                false => answer.detailed.remaining(),
            }
        };
        let before = answer.detailed.remaining();
        // None only where all is free, or nothing ever is.
        let quotas = &self.plan.quotas;
        let limits: Vec<u64> = quotas.iter().map(Quota::limit).collect();
        let is_final = before == quotas.largest_cost(&limits);
        assert_eq!(
            answer.more_after.is_none(),
            is_final,
            "{before} of {quotas}"
        );
        if let Some(wait) = answer.more_after {
            assert!(wait > 0);
            assert!(remaining(now + wait) > before, "more after {wait}");
            assert!(remaining(now + wait - 1_000) <= before, "no sooner");
        }
    }
}

impl<A: Settles> Forged<A> {
    pub(crate) fn settle(&self, at: Nanos, estimate: Cost, actual: u64) {
        let mut command = redis::cmd("EVAL");
        command.arg(A::settle().text()).arg(1).arg(&self.key);
        command.arg(at / 1_000).arg(estimate.get()).arg(actual);
        let found: i64 = command.query(&mut *self.connection.borrow_mut()).unwrap();
        assert!((0..=1).contains(&found));
    }
}

/// Runs `holds` on 400 stories, the shortest that fails told.
pub(crate) fn for_all<S: Strategy>(stories: S, holds: impl Fn(&S::Value)) {
    for_some(400, stories, holds);
}

/// The same, on `cases` stories.
pub(crate) fn for_some<S: Strategy>(cases: u32, stories: S, holds: impl Fn(&S::Value)) {
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    });
    runner
        .run(&stories, |story| {
            holds(&story);
            Ok(())
        })
        .unwrap();
}

/// Holds what a script answered at `now` against the limiter's answer, whose nanoseconds are the
/// script's microseconds: both, unless both are the same error.
pub(crate) fn agreed(
    now: Nanos,
    expected: Result<Detailed, RequestError>,
    answer: Result<Answer, RequestError>,
) -> Option<(Detailed, Answer)> {
    let (expected, answer) = match (expected, answer) {
        (Ok(expected), Ok(answer)) => (expected, answer),
        (expected, answer) => {
            assert_eq!(expected.err(), answer.err(), "at {now}");
            return None;
        }
    };
    let (e, a) = (expected.decision(), answer.detailed.decision());
    assert_eq!(e.is_allowed(), a.is_allowed(), "at {now}");
    if let Decision::Allowed { at } = e {
        assert_eq!(a, Decision::Allowed { at: at * FACTOR }, "at {now}");
    }
    let wait = |denied: Denial, factor| {
        (
            denied.quota(),
            denied.retry_after_nanos().map(|w| w * factor),
        )
    };
    assert_eq!(
        e.denied().map(|denied| wait(denied, FACTOR)),
        a.denied().map(|denied| wait(denied, 1)),
        "at {now}"
    );
    assert_eq!(
        expected.remaining_per_quota(),
        answer.detailed.remaining_per_quota(),
        "at {now}"
    );
    assert_eq!(
        expected.remaining(),
        answer.detailed.remaining(),
        "at {now}"
    );
    Some((expected, answer))
}

/// Quotas that are `factor` times as long: what the oracle counts in nanoseconds the scripts count
/// in microseconds.
pub(crate) fn stretched(quotas: &Quotas, factor: u64) -> Quotas {
    let stretch = |q: &Quota| Quota::from_nanos(q.limit(), q.window() * factor, q.unit()).unwrap();
    Quotas::new(quotas.iter().map(stretch)).unwrap()
}

/// The oracle counts in nanoseconds, the scripts in microseconds.
pub(crate) const FACTOR: u64 = 1_000;
