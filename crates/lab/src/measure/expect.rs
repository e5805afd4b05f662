//! A benchmark is also a test: what must come out, whoever is measured.

use std::process::ExitCode;

use super::recording::Recording;
use super::state::State;
use super::traffic;
use crate::contestants::Origin;

/// Something that came out otherwise than expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Who.
    pub contestant: String,
    /// Whether it is one of ours, which is a failure; a rival's is only told.
    pub ours: bool,
    /// What came out, and what was expected.
    pub what: String,
}

/// Checks a run: states are what their names say, exact limiters decide as the oracle does, the
/// two-window counter is wrong exactly where the textbook says, memory keeps to its formula.
pub fn findings(recording: &Recording) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ours = |name: &str| {
        let who = recording
            .contestants
            .iter()
            .find(|who| who.contestant == name);
        who.is_some_and(|who| who.origin == Origin::Ours.word())
    };
    let mut found = |contestant: &str, what: String| {
        findings.push(Finding {
            contestant: contestant.into(),
            ours: ours(contestant),
            what,
        });
    };
    // How much of *mixed* is denied hangs on how evenly the machine runs: that is no fault of who
    // is measured, and the report leaves such rows out.
    let wrong_share = |state: &str, share_ok: bool| !share_ok && state != State::Mixed.word();
    for row in &recording.throughput {
        if !row.cannot.is_empty() || wrong_share(&row.state, row.share_ok) {
            let cell = format!("throughput, {}, {} threads", row.state, row.threads);
            found(
                &row.contestant,
                share(&cell, row.allowed_share, &row.cannot),
            );
        }
    }
    for row in &recording.latency {
        if !row.cannot.is_empty() || wrong_share(&row.state, row.share_ok) {
            let cell = format!("{}, {}, {} threads", row.kind, row.state, row.threads);
            found(
                &row.contestant,
                share(&cell, row.allowed_share, &row.cannot),
            );
        }
    }
    for row in &recording.accuracy {
        let exact = recording
            .contestants
            .iter()
            .any(|who| who.contestant == row.contestant && who.exact);
        let wrong = row.false_allows + row.false_denies;
        if exact && (wrong > 0 || !row.cannot.is_empty()) {
            found(
                &row.contestant,
                format!(
                    "*{}*: {wrong} decisions differ from the oracle's {}",
                    row.traffic, row.cannot
                ),
            );
        }
    }
    for row in &recording.accuracy {
        if ONE_SIDED.contains(&row.contestant.as_str()) && row.false_allows > 0 {
            let what = format!(
                "*{}*: {} falsely allowed, never expected",
                row.traffic, row.false_allows
            );
            found(&row.contestant, what);
        }
    }
    for row in &recording.memory {
        if let (Some(bytes), Some(at_most)) = (row.bytes, row.at_most)
            && bytes > at_most
        {
            found(
                &row.contestant,
                format!(
                    "{bytes} bytes at a limit of {}, {}: its formula allows {at_most}",
                    row.limit, row.fill
                ),
            );
        }
    }
    for (traffic, expected) in textbook() {
        for row in recording
            .accuracy
            .iter()
            .filter(|row| row.traffic == traffic)
        {
            let came_out = [row.allowed, row.false_allows, row.false_denies];
            if COUNTERS.contains(&row.contestant.as_str()) && came_out != expected {
                found(
                    &row.contestant,
                    format!(
                        "*{traffic}*: allowed, false allows and false denies are {came_out:?}, not {expected:?}"
                    ),
                );
            }
        }
    }
    findings
}

fn share(cell: &str, allowed: f64, cannot: &str) -> String {
    match cannot {
        "" => format!("{cell}: a share of {allowed:.3} was allowed"),
        cannot => format!("{cell}: cannot: {cannot}"),
    }
}

/// Approximate limiters that may deny too much, never allow.
const ONE_SIDED: [&str; 1] = ["bucket-ring"];

/// Limiters by the two-window rule.
const COUNTERS: [&str; 2] = ["packed-counter", "rate-net-counter"];

/// What that rule makes of the textbook bursts: allowed, of these falsely, and falsely denied.
fn textbook() -> [(String, [u64; 3]); 2] {
    [
        (traffic::burst_across_the_boundary().name, [15, 5, 0]),
        (traffic::burst_at_the_start().name, [10, 0, 1]),
    ]
}

/// Prints the findings; failure if one is of ours.
pub fn told(recording: &Recording) -> ExitCode {
    let findings = findings(recording);
    for finding in &findings {
        let whose = if finding.ours { "FAILED" } else { "finding" };
        println!("{whose}: {}: {}", finding.contestant, finding.what);
    }
    let failed = findings.iter().filter(|finding| finding.ours).count();
    println!(
        "{} measurements, {} judgements of accuracy, {} counts of memory: {failed} failed, {} findings about rivals",
        recording.throughput.len() + recording.latency.len(),
        recording.accuracy.len(),
        recording.memory.len(),
        findings.len() - failed
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
