//! Who is ruled out, and in which order the others are.

use std::cmp::Ordering;

use serde::Serialize;
use windowpane_core::{Cost, Unit};
use windowpane_lab_contestants::Contestant;
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_ground::clock::{BenchClock, LabClock, Pace};
use windowpane_lab_ground::figures::{bytes, percent};
use windowpane_lab_measure::rows::ContestantRow;
use windowpane_lab_measure::state::State;
use windowpane_lab_report::Run;

use super::memory::{Source, bytes_a_key};
use super::need::Need;
use super::reason::{how, in_bytes, keys, reason};

/// The figures behind a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Nanoseconds of an allowed decision with one thread: the median of the run's rounds.
    pub ns_allowed_1_thread: Option<f64>,
    /// The same of a denied one.
    pub ns_denied_1_thread: Option<f64>,
    /// Allowed decisions a second of all [`Choice::threads`](super::Choice::threads) on one key.
    pub allowed_per_second: Option<f64>,
    /// Denied decisions a second.
    pub denied_per_second: Option<f64>,
    /// Bytes of one limiter for one key, its quotas used up; `None` if neither the run tells them nor
    /// they can be counted.
    pub bytes_per_key: Option<u64>,
    /// How that was found.
    pub bytes_source: Source,
    /// Bytes of all keys' limiters, without the map that holds them.
    pub bytes: Option<u64>,
    /// The most that any window held above the limit, as a share of it, on any traffic of the run.
    pub worst_overshoot: Option<f64>,
    /// The traffic of that; absent if none was above.
    pub worst_overshoot_on: Option<String>,
    /// The largest share of requests of one traffic that were wrongly denied.
    pub worst_false_denies: Option<f64>,
}

/// A limiter that fits, and why it stands where it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// From 1.
    pub place: usize,
    /// Its name.
    pub limiter: String,
    /// `ours` or `rival`.
    pub origin: String,
    /// Whether it decides as the log of accepted requests would.
    pub exact: bool,
    /// Whether no window can ever hold more than the quota.
    pub keeps_quota: bool,
    /// Why it stands here.
    pub reason: String,
    /// The figures behind that.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A limiter that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuledOut {
    /// Its name.
    pub limiter: String,
    /// Why, one reason each.
    pub reasons: Vec<String>,
}

/// Those that fit, the best first, and those that do not.
pub(super) fn rank(
    run: &Run,
    need: &Need,
    threads: usize,
    live_bytes: fn() -> u64,
) -> (Vec<Place>, Vec<RuledOut>) {
    let everyone = TABLE.contestants();
    let (mut fit, mut ruled_out) = (Vec::new(), Vec::new());
    for who in run.limiters() {
        let contestant = everyone
            .iter()
            .find(|one| one.info().name == who.contestant);
        let judged = match contestant {
            Some(contestant) => judge(run, need, threads, who, *contestant, live_bytes),
            None => Err(vec!["this build of `lab` does not know it".into()]),
        };
        match judged {
            Ok(place) => fit.push(place),
            Err(reasons) => ruled_out.push(RuledOut {
                limiter: who.contestant.clone(),
                reasons,
            }),
        }
    }
    for contestant in &everyone {
        let name = contestant.info().name;
        if run.contestant(name).is_none() {
            ruled_out.push(RuledOut {
                limiter: name.into(),
                reasons: vec!["the run has not measured it".into()],
            });
        }
    }
    (placed(run, need, threads, fit), ruled_out)
}

/// One limiter's figures, or why it is ruled out.
fn judge(
    run: &Run,
    need: &Need,
    threads: usize,
    who: &ContestantRow,
    contestant: &dyn Contestant,
    live_bytes: fn() -> u64,
) -> Result<Place, Vec<String>> {
    let name = &who.contestant;
    // On real time, as a user would: that some let no other clock be set is no fault of theirs here.
    let clock = LabClock::Bench(BenchClock::new(Pace::REAL));
    let built = match contestant.build_for(&need.quotas, clock) {
        Ok(built) => built,
        // Nothing else can be said of what cannot be built.
        Err(cannot) => return Err(vec![format!("cannot hold the quota: {}", cannot.0)]),
    };
    let mut reasons = Vec::new();
    if need.costs {
        let two = Cost::new(2).expect("above 0");
        if let Err(cannot) = built.decide_cost(two) {
            reasons.push(format!("cannot take costs: {}", cannot.0));
        } else if who.origin == "rival" && need.quotas.iter().any(|q| q.unit() == Unit::Requests) {
            reasons.push("cannot take costs and count requests: it counts permits".into());
        }
    }
    drop(built);
    let keeps_quota = contestant.info().keeps_quota;
    let worst = run.worst(name);
    let overshoot = worst.map(|row| row.worst_overshoot_share);
    let on = worst
        .filter(|row| row.worst_overshoot > 0)
        .map(|row| row.traffic.clone());
    if need.never_over_admit && !keeps_quota {
        reasons.push(match (&on, overshoot) {
            (Some(on), Some(share)) => {
                format!(
                    "can let more through than the limit: it held {} above it ({on})",
                    percent(share)
                )
            }
            _ => "can let more through than the limit".into(),
        });
    } else if let Some(most) = need.max_overshoot {
        match (overshoot, &on) {
            // Never is never, measured or not.
            _ if keeps_quota => {}
            (None, _) => reasons.push("the run has not measured its overshoot".into()),
            (Some(share), on) if share > most => reasons.push(format!(
                "let through up to {} above the limit ({}); at most {} was asked for",
                percent(share),
                on.as_deref().unwrap_or("unknown traffic"),
                percent(most)
            )),
            _ => {}
        }
    }
    let memory = bytes_a_key(run, contestant, &need.quotas, live_bytes);
    let bytes_per_key = memory.map(|(bytes, _)| bytes);
    let bytes_source = memory.map_or(Source::Unknown, |(_, source)| source);
    let all = bytes_per_key.map(|bytes| bytes.saturating_mul(need.keys));
    match (need.memory, all, bytes_per_key) {
        (Some(most), Some(all), Some(bytes_per_key)) if all > most => reasons.push(format!(
            "takes {} for {} at {} a key{}; at most {} was asked for",
            in_bytes(all),
            keys(need.keys),
            bytes(bytes_per_key),
            how(bytes_source),
            in_bytes(most)
        )),
        (Some(most), None, _) => reasons.push(format!(
            "its memory is not known: the run does not tell it, and its clock cannot be set to count it; at most {} was asked for",
            in_bytes(most)
        )),
        _ => {}
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let time = |state| run.rate(name, state, 1).map(|rate| 1e9 / rate.median);
    let rate = |state| run.rate(name, state, threads).map(|rate| rate.median);
    Ok(Place {
        place: 0,
        limiter: name.clone(),
        origin: who.origin.clone(),
        exact: who.exact,
        keeps_quota,
        reason: String::new(),
        figures: Figures {
            ns_allowed_1_thread: time(State::Allowed),
            ns_denied_1_thread: time(State::Denied),
            allowed_per_second: rate(State::Allowed),
            denied_per_second: rate(State::Denied),
            bytes_per_key,
            bytes_source,
            bytes: all,
            worst_overshoot: overshoot,
            worst_overshoot_on: on,
            worst_false_denies: false_denies(run, name),
        },
    })
}

/// The largest share of a traffic's requests that were wrongly denied.
fn false_denies(run: &Run, name: &str) -> Option<f64> {
    let rows = run
        .accuracy
        .iter()
        .filter(|row| row.contestant == name && row.has_shares());
    rows.map(|row| row.false_denies as f64 / row.requests as f64)
        .max_by(f64::total_cmp)
}

/// What is ranked first: 0 is best.
pub(super) fn class(need: &Need, place: &Place) -> (u8, bool) {
    let accuracy = match (place.exact, place.keeps_quota) {
        // Who says how much is enough ranks what is left by speed.
        _ if need.says_accuracy() => 0,
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    let long = TABLE
        .entry(&place.limiter)
        .is_some_and(|entry| entry.info().costs_take_long);
    (accuracy, need.costs && long)
}

/// The order, and the reason for each place.
fn placed(run: &Run, need: &Need, threads: usize, mut fit: Vec<Place>) -> Vec<Place> {
    let speed = |place: &Place| place.figures.allowed_per_second.unwrap_or(0.0);
    fit.sort_by(|a, b| {
        let by_class = class(need, a).cmp(&class(need, b));
        by_class.then(speed(b).total_cmp(&speed(a)))
    });
    // Of those between which no difference is shown, the smaller comes first.
    let mut ordered: Vec<Place> = Vec::with_capacity(fit.len());
    while let Some(fastest) = fit.first() {
        let level = |place: &Place| {
            let difference =
                run.difference(&fastest.limiter, &place.limiter, State::Allowed, threads);
            class(need, place) == class(need, fastest)
                && difference.is_some_and(|difference| !difference.is_larger())
        };
        let count = 1 + fit[1..].iter().take_while(|place| level(place)).count();
        let fastest = fastest.clone();
        let mut group: Vec<Place> = fit.drain(..count).collect();
        // What is not known counts as the most.
        let size = |place: &Place| place.figures.bytes.unwrap_or(u64::MAX);
        group.sort_by(|a, b| match size(a).cmp(&size(b)) {
            Ordering::Equal => speed(b).total_cmp(&speed(a)),
            order => order,
        });
        for mut place in group {
            place.place = ordered.len() + 1;
            place.reason = reason(run, need, threads, &ordered, &place, &fastest);
            ordered.push(place);
        }
    }
    ordered
}
