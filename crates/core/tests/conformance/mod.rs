//! Cases with right answers, and how a limiter is held against them. Included by the tests of the
//! algorithm crates, and by those of the laboratory.

#![allow(dead_code, unreachable_pub)]

use std::collections::HashMap;

use serde::Deserialize;
use windowpane_core::{Cost, Detailed, Quota, Quotas, RateLimiter, Unit};

/// The cases of the exact limiters.
pub fn exact() -> Vec<ExactCase> {
    let file: File<ExactCase> = serde_json::from_str(include_str!("exact.json")).unwrap();
    assert!(file.cases.len() > 20, "the cases are there");
    file.cases
}

/// The cases of the two-counter limiter.
pub fn counter() -> Vec<CounterCase> {
    let file: File<CounterCase> = serde_json::from_str(include_str!("counter.json")).unwrap();
    assert_eq!(file.cases.len(), 2, "the cases are there");
    file.cases
}

#[derive(Deserialize)]
struct File<C> {
    cases: Vec<C>,
}

#[derive(Deserialize)]
pub struct ExactCase {
    pub name: String,
    pub on_regression: String,
    pub unit: String,
    pub quotas: Vec<QuotaSpec>,
    pub requests: Vec<Request>,
    pub expect: Vec<String>,
    pub retry_after: Vec<Option<u64>>,
    pub remaining: Vec<Option<u64>>,
}

#[derive(Deserialize)]
pub struct QuotaSpec {
    pub limit: u64,
    pub window: u64,
}

#[derive(Deserialize)]
pub struct Request {
    pub t: u64,
    pub key: String,
    #[serde(default = "one")]
    pub cost: u64,
}

fn one() -> u64 {
    1
}

#[derive(Deserialize)]
pub struct CounterCase {
    pub name: String,
    pub unit: String,
    pub limit: u64,
    pub window: u64,
    pub times: Vec<u64>,
    pub exact: Vec<String>,
    pub counter: Vec<String>,
    pub counter_retry_after: Vec<u64>,
}

/// The length of a case's unit in nanoseconds.
pub fn nanos(unit: &str) -> u64 {
    match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        other => panic!("unknown unit {other}"),
    }
}

fn quota(limit: u64, window: u64) -> Quota {
    Quota::from_nanos(limit, window, Unit::Permits).unwrap()
}

/// A decision in the words of the cases, its wait, and what remains.
fn words<E>(answer: &Result<Detailed, E>) -> (&'static str, Option<u64>, Option<u64>) {
    match answer {
        Err(_) => ("error", None, None),
        Ok(detailed) => match detailed.decision().denied() {
            None => ("allow", Some(0), Some(detailed.remaining())),
            Some(denied) => (
                "deny",
                denied.retry_after_nanos(),
                Some(detailed.remaining()),
            ),
        },
    }
}

impl ExactCase {
    /// Runs the case on limiters from `build`, one a key; each request is peeked at before.
    pub fn check<L: RateLimiter>(&self, build: impl Fn(Quotas) -> L) {
        let unit = nanos(&self.unit);
        let quotas = self.quotas.iter().map(|q| quota(q.limit, q.window * unit));
        let quotas = Quotas::new(quotas).unwrap();
        let mut limiters = HashMap::new();
        for (i, request) in self.requests.iter().enumerate() {
            let limiter = limiters
                .entry(&request.key)
                .or_insert_with(|| build(quotas.clone()));
            let cost = Cost::new(request.cost).unwrap();
            let peeked = limiter.peek_at(request.t * unit, cost);
            let answer = limiter.decide_detailed_at(request.t * unit, cost);
            let (decision, wait, left) = words(&answer);
            let place = format!("{}, request {i}", self.name);
            assert_eq!(decision, self.expect[i], "{place}");
            let expected_wait = self.retry_after[i].map(|wait| wait * unit);
            assert_eq!(wait, expected_wait, "{place}: retry_after");
            assert_eq!(left, self.remaining[i], "{place}: remaining");
            assert_eq!(peeked, answer, "{place}: peek answers as acquire does");
        }
    }
}

impl CounterCase {
    /// Runs the case on a two-counter limiter.
    pub fn check_counter<L: RateLimiter>(&self, build: impl Fn(Quotas) -> L) {
        let waits: Vec<u64> = self.counter_retry_after.clone();
        self.check(build, &self.counter, Some(&waits));
    }

    /// Runs the case on an exact limiter.
    pub fn check_exact<L: RateLimiter>(&self, build: impl Fn(Quotas) -> L) {
        self.check(build, &self.exact, None);
    }

    fn check<L: RateLimiter>(
        &self,
        build: impl Fn(Quotas) -> L,
        expected: &[String],
        waits: Option<&[u64]>,
    ) {
        let unit = nanos(&self.unit);
        let limiter = build(quota(self.limit, self.window * unit).into());
        for (i, t) in self.times.iter().enumerate() {
            let answer = limiter.decide_detailed_at(t * unit, Cost::ONE);
            let (decision, wait, _) = words(&answer);
            assert_eq!(decision, expected[i], "{}, request {i}", self.name);
            if let Some(waits) = waits {
                let place = format!("{}, request {i}: retry_after", self.name);
                assert_eq!(wait, Some(waits[i] * unit), "{place}");
            }
        }
    }
}
