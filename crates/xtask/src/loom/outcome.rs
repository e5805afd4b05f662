//! What came of one test, and of all.

use std::collections::BTreeMap;
use std::fmt;

use crate::explored::Ran;

/// What came of one test, and what it reported.
pub(super) struct Outcome {
    pub(super) ran: Ran,
    report: Option<Report>,
}

/// The line that a model prints: see `windowpane_loom_tests::holds` and `finds`.
struct Report {
    /// `holds` or `finds`.
    what: String,
    limiter: String,
    schedules: u64,
    /// The whole line's columns.
    columns: Vec<String>,
}

impl Report {
    fn parse(line: &str) -> Option<Report> {
        let columns: Vec<String> = line
            .strip_prefix("loom: ")?
            .split(" | ")
            .map(Into::into)
            .collect();
        let schedules = columns.get(4)?.split(' ').next()?.parse().ok()?;
        Some(Report {
            what: columns[0].clone(),
            limiter: columns[1].clone(),
            schedules,
            columns,
        })
    }
}

impl Outcome {
    pub(super) fn new(ran: Ran) -> Outcome {
        let report = ran.output.lines().find_map(Report::parse);
        Outcome { ran, report }
    }

    /// The calls and the steps that a model printed below its line.
    pub(super) fn steps(&self) -> String {
        let lines = self.ran.output.lines();
        let below = lines
            .skip_while(|line| !line.starts_with("loom: finds"))
            .skip(1);
        let told = below.take_while(|line| !line.is_empty());
        told.map(|line| format!("    {line}\n")).collect()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.ran.passed { "ok    " } else { "FAILED" };
        match self.report.as_ref().map(|report| &report.columns[..]) {
            Some([what, limiter, model, bound, schedules, outcomes, time]) => write!(
                f,
                "{word} {what} {limiter:38} {model:34} {bound:21} {schedules:>16} {outcomes:>16} {time:>8}"
            ),
            _ => write!(f, "{word} {}", self.ran.name),
        }
    }
}

/// One line for each limiter: how many models it holds under and in how many schedules; then how
/// many mutants were found.
pub(super) fn summary(outcomes: &[Outcome]) -> String {
    let passed = outcomes.iter().filter(|outcome| outcome.ran.passed);
    let (mut holds, mut found, mut other) = (BTreeMap::new(), 0, 0);
    for outcome in passed {
        match &outcome.report {
            Some(report) if report.what == "holds" => {
                let (models, schedules): &mut (u64, u64) =
                    holds.entry(&report.limiter).or_default();
                *models += 1;
                *schedules += report.schedules;
            }
            Some(_) => found += 1,
            None => other += 1,
        }
    }
    let mut text = String::new();
    for (limiter, (models, schedules)) in holds {
        text += &format!("{limiter:22} holds under {models:2} models in {schedules} schedules\n");
    }
    text + &format!(
        "{found} times a model found the bug of a mutant; {other} tests of the checker itself passed"
    )
}
