//! `--report`: what a replay's page is made of, gathered while it runs.
//!
//! | where | what |
//! |---|---|
//! | `timeline` | counts by time, in as many steps as a chart can show, however long the input is |
//! | `clients` | when those who were denied most were denied, of a bounded number of them |
//! | `page` | the page |
//!
//! Memory is bounded whatever the length of the input and the number of its keys.

mod clients;
mod page;
pub(super) mod timeline;

use windowpane_core::Nanos;
use windowpane_lab_input::excerpt;

use self::clients::Clients;
pub(crate) use self::page::file_name;
pub(super) use self::page::instant;
use self::timeline::Timeline;
use super::error::ReplayError;
use super::run::Answer;
use super::summary::Summary;
use super::{Decided, Observer};

/// Steps of the timeline of everyone.
const STEPS: usize = 240;
/// Lines told of those on which a limiter and the oracle differ.
const LINES: usize = 20;

/// What a page tells that the summary does not: when.
#[derive(Default)]
pub struct Report {
    /// By algorithm, in the order given.
    names: Vec<&'static str>,
    timeline: Timeline<Step>,
    clients: Clients,
    /// The first lines on which one differs from the oracle.
    differ: Vec<Differs>,
    /// How many such lines there are.
    lines_that_differ: u64,
}

/// What happened in a step of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    requests: u64,
    /// By algorithm.
    denied: Vec<u64>,
    /// By algorithm: decisions unlike the oracle's own.
    differ: Vec<u64>,
}

impl timeline::Merge for Step {
    fn merge(&mut self, other: &Step) {
        self.requests += other.requests;
        add(&mut self.denied, &other.denied);
        add(&mut self.differ, &other.differ);
    }
}

fn add(to: &mut Vec<u64>, more: &[u64]) {
    to.resize(to.len().max(more.len()), 0);
    to.iter_mut().zip(more).for_each(|(to, more)| *to += more);
}

/// A line on which an algorithm and the oracle differ.
struct Differs {
    line: u64,
    time: Nanos,
    /// Fit to be shown.
    key: String,
    cost: u64,
    oracle: &'static str,
    /// By algorithm.
    answers: Vec<&'static str>,
}

impl Report {
    /// Nothing seen yet.
    pub fn new() -> Report {
        Report {
            timeline: Timeline::new(STEPS),
            ..Report::default()
        }
    }

    /// The page: one file of HTML that needs no other. `command` is how to make it again, as it is
    /// typed.
    ///
    /// # Errors
    /// If a chart cannot be drawn.
    pub fn page(&mut self, summary: &Summary, command: &str) -> anyhow::Result<String> {
        let input = &summary.input;
        self.clients.align(input.latest_ns - input.earliest_ns);
        page::document(self, summary, command)
    }
}

impl Observer for Report {
    fn decided(&mut self, decided: &Decided<'_>) -> Result<(), ReplayError> {
        if self.names.is_empty() {
            self.names.extend(decided.answers().map(|(name, _)| name));
        }
        let count = self.names.len();
        let oracle = decided.oracle();
        let step = self.timeline.at(decided.time);
        step.requests += 1;
        if step.denied.is_empty() {
            step.denied.resize(count, 0);
            step.differ.resize(count, 0);
        }
        let (mut denied, mut differs) = (false, false);
        for (nth, (_, answer)) in decided.answers().enumerate() {
            if matches!(answer, Answer::Deny { .. }) {
                step.denied[nth] += 1;
                denied = true;
            }
            if oracle.is_some_and(|oracle| !answer.agrees_with(oracle)) {
                step.differ[nth] += 1;
                differs = true;
            }
        }
        if denied {
            self.clients.denied(decided.key, decided.time);
        }
        if differs {
            self.lines_that_differ += 1;
            if self.differ.len() < LINES {
                self.differ.push(Differs {
                    line: decided.line,
                    time: decided.time,
                    key: excerpt(&String::from_utf8_lossy(decided.key)),
                    cost: decided.cost.get(),
                    oracle: oracle.map_or("", Answer::name),
                    answers: decided.answers().map(|(_, answer)| answer.name()).collect(),
                });
            }
        }
        Ok(())
    }
}
