//! A benchmark is also a test: what must come out, whoever is measured.

use std::process::ExitCode;

use windowpane_core::{Cost, Quota};
use windowpane_lab_contestants::{Contestant, Origin, Rule, Told};
use windowpane_lab_ground::clock::{BenchClock, LabClock, Pace};

use super::recording::Recording;
use super::rows::{AccuracyRow, KeyedAttackRow};
use super::state::State;
use super::traffic::Traffic;

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

/// Checks a run: states are what their names say, each limiter decides as its rule and the
/// definitions of `traffic` say, memory keeps to its formula.
pub fn findings(recording: &Recording, traffic: &[Traffic]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut keyed_found = Vec::new();
    let ours_of = |name: &str| {
        let who = recording
            .contestants
            .iter()
            .find(|who| who.contestant == name);
        who.is_some_and(|who| who.origin == Origin::Ours.word())
    };
    let rule = |name: &str| {
        let who = recording.infos.iter().find(|who| who.name == name);
        who.map_or(Rule::Other, |who| who.rule)
    };
    let mut found = |contestant: &str, what: String| {
        findings.push(Finding {
            contestant: contestant.into(),
            ours: ours_of(contestant),
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
        if ours_of(&row.contestant) && !row.cannot.is_empty() {
            found(
                &row.contestant,
                format!("*{}*: cannot: {}", row.traffic, row.cannot),
            );
        }
        for what in judged(row, rule(&row.contestant), traffic) {
            found(&row.contestant, format!("*{}*: {what}", row.traffic));
        }
    }
    for row in &recording.keyed {
        let ours = row.origin == Origin::Ours.word();
        if (ours && !row.cannot.is_empty()) || (row.cannot.is_empty() && !row.share_ok) {
            let cell = format!("{}, {}, {} threads", row.workload, row.key, row.threads);
            keyed_found.push(Finding {
                contestant: row.contestant.clone(),
                ours,
                what: share(&cell, row.allowed_share, &row.cannot),
            });
        }
    }
    keyed_found.extend(recording.keyed_attack.iter().filter_map(|row| {
        let what = withstood(row, &recording.keyed_attack)?;
        Some(Finding {
            contestant: row.contestant.clone(),
            ours: row.origin == Origin::Ours.word(),
            what: format!("{}, after {} keys: {what}", row.attack, row.asked),
        })
    }));
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
    findings.extend(keyed_found);
    findings
}

/// The most entries that one of our stores may examine in a call.
const MOST_EXAMINED: u64 = 128;

/// How an attack was not withstood, if it was not: a client over its limit got more, the cap or the
/// bound of a call's work did not hold, or memory grew after a tenth of the attack, when every store
/// with a cap is full.
fn withstood(row: &KeyedAttackRow, all: &[KeyedAttackRow]) -> Option<String> {
    let same = |other: &&KeyedAttackRow| {
        (&other.contestant, other.tidied, &other.attack)
            == (&row.contestant, row.tidied, &row.attack)
    };
    let full = all.iter().filter(same).find(|other| other.asked > 0);
    let flat = full.map_or(u64::MAX, |full| full.bytes + full.bytes / 10 + (64 << 10));
    let held = row.keys.unwrap_or(0);
    if !row.cannot.is_empty() && row.origin == Origin::Ours.word() {
        Some(format!("cannot: {}", row.cannot))
    } else if row.fresh > 0 {
        let (fresh, clients) = (row.fresh, row.clients);
        Some(format!(
            "{fresh} of {clients} clients over their limit got a fresh allowance"
        ))
    } else if row.bytes > flat {
        let bytes = row.bytes;
        Some(format!(
            "{bytes} bytes; expected at most {flat}, as a store with a cap takes"
        ))
    } else if row.origin == Origin::Ours.word() && held > row.cap {
        Some(format!("{held} keys at a cap of {}", row.cap))
    } else if row.most_examined.is_some_and(|most| most > MOST_EXAMINED) {
        let most = row.most_examined.unwrap_or(0);
        Some(format!(
            "{most} entries examined in one call; expected at most {MOST_EXAMINED}"
        ))
    } else {
        None
    }
}

/// What of a judgement is not as expected: by the definition of its traffic, and by the rule that
/// the contestant decides by, on whichever traffic.
fn judged(row: &AccuracyRow, rule: Rule, traffic: &[Traffic]) -> Vec<String> {
    if !row.cannot.is_empty() {
        // A rival that tells no wait cannot be asked to wait: no fault in a log.
        return Vec::new();
    }
    let mut what = Vec::new();
    // On several servers nobody is exact: each knows only its own part.
    let alone = row.servers <= 1;
    let wrong = row.false_allows + row.false_denies;
    let input = match row.input.as_str() {
        "" => String::new(),
        input => format!(", on {input}"),
    };
    if rule == Rule::Exact && alone && wrong > 0 {
        what.push(format!("{wrong} decisions differ from the oracle's{input}"));
    }
    if rule == Rule::OneSided && row.false_allows > 0 {
        let falsely = row.false_allows;
        what.push(format!("{falsely} falsely allowed, never expected{input}"));
    }
    let of_rule = traffic
        .iter()
        .filter(|traffic| traffic.name == row.traffic)
        .flat_map(|traffic| &traffic.expected)
        .filter(|expected| expected.rule == rule);
    for expected in of_rule {
        for (name, came_out, expected) in [
            ("allowed", row.allowed, expected.allowed),
            ("false allows", row.false_allows, expected.false_allows),
            ("false denies", row.false_denies, expected.false_denies),
            (
                "worst overshoot",
                row.worst_overshoot,
                expected.worst_overshoot,
            ),
        ] {
            if expected.is_some_and(|expected| expected != came_out) {
                let expected = expected.unwrap_or_default();
                what.push(format!("{name}: {came_out}, expected {expected}{input}"));
            }
        }
        if let Some([least, most]) = expected.wrong_share {
            let share = wrong as f64 / row.requests.max(1) as f64;
            if !(least..=most).contains(&share) {
                what.push(format!(
                    "a share of {share:.6} decided wrongly, expected {least} to {most}"
                ));
            }
        }
    }
    what
}

fn share(cell: &str, allowed: f64, cannot: &str) -> String {
    match cannot {
        "" => format!("{cell}: a share of {allowed:.3} was allowed"),
        cannot => format!("{cell}: cannot: {cannot}"),
    }
}

/// Who lets a cost above the limit pass, on the real clock: it could never fit.
pub fn costs(everyone: &[&dyn Contestant]) -> Vec<Finding> {
    let quota: Quota = "10/60s".parse().expect("a quota");
    let mut findings = Vec::new();
    for contestant in everyone {
        let info = contestant.info();
        let clock = LabClock::Bench(BenchClock::new(Pace::REAL));
        let Ok(instance) = contestant.build(quota, clock) else {
            continue;
        };
        // The floor limits nothing, and who cannot express a cost says so.
        let passes = |told: Told| told.allowed && info.origin != Origin::Floor;
        if instance.decide_cost(Cost::of::<1_000>()).is_ok_and(passes) {
            findings.push(Finding {
                contestant: info.name.into(),
                ours: info.origin == Origin::Ours,
                what: format!("a cost of 1000 passes a quota of {quota}"),
            });
        }
    }
    findings
}

/// Prints the findings of the run and `more`; failure if one is of ours.
pub fn told(recording: &Recording, traffic: &[Traffic], more: Vec<Finding>) -> ExitCode {
    let mut findings = findings(recording, traffic);
    findings.extend(more);
    for finding in &findings {
        let whose = if finding.ours { "FAILED" } else { "finding" };
        println!("{whose}: {}: {}", finding.contestant, finding.what);
    }
    let failed = findings.iter().filter(|finding| finding.ours).count();
    println!(
        "{} measurements, {} judgements of accuracy, {} counts of memory, {} of attacks: {failed} failed, {} findings about rivals",
        recording.throughput.len() + recording.latency.len() + recording.keyed.len(),
        recording.accuracy.len(),
        recording.memory.len(),
        recording.keyed_attack.len(),
        findings.len() - failed
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
