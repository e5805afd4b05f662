//! Rows that need no rounds: the same code gives the same figure, so that it is equal or changed.

use std::collections::BTreeMap;

use windowpane_lab_ground::figures::{bytes, thousands};
use windowpane_lab_measure::rows::{AccuracyRow, StalledRow};

use super::super::run::Run;
use super::{Kind, Row, Verdict};
use crate::on_threads;

/// The exact rows of two runs.
pub(super) fn rows(before: &Run, after: &Run) -> Vec<Row> {
    let mut rows = stalled(before, after);
    rows.extend(memory(before, after));
    rows.extend(keyed_memory(before, after));
    rows.extend(accuracy(before, after));
    rows
}

/// Who and where, in the order of the first run and then of the second.
type Place = (String, String);

/// Every place of one of the runs with what each says there.
fn both<T: Copy>(
    before: Vec<(Place, T)>,
    after: Vec<(Place, T)>,
) -> Vec<(Place, Option<T>, Option<T>)> {
    let of_after: BTreeMap<Place, T> = after.iter().cloned().collect();
    let mut places: Vec<(Place, Option<T>, Option<T>)> = before
        .into_iter()
        .map(|(place, a)| {
            let b = of_after.get(&place).copied();
            (place, Some(a), b)
        })
        .collect();
    let known: std::collections::BTreeSet<Place> =
        places.iter().map(|(place, ..)| place.clone()).collect();
    let new = after
        .into_iter()
        .filter(|(place, _)| !known.contains(place));
    places.extend(new.map(|(place, b)| (place, None, Some(b))));
    places
}

/// Why there is nothing to compare: one of the runs has no such row.
fn missing<T>(a: Option<T>, b: Option<T>) -> Result<(T, T), Verdict> {
    match (a, b) {
        (Some(a), Some(b)) => Ok((a, b)),
        (None, _) => Err(Verdict::CannotBeCompared(
            "not measured in the first run".into(),
        )),
        (_, None) => Err(Verdict::CannotBeCompared(
            "not measured in the second run".into(),
        )),
    }
}

fn of_bytes(kind: Kind, before: Vec<(Place, u64)>, after: Vec<(Place, u64)>) -> Vec<Row> {
    let row = |((contestant, cell), a, b): (Place, Option<u64>, Option<u64>)| Row {
        before: a.map(|a| a as f64),
        after: b.map(|b| b as f64),
        ratio: a
            .zip(b)
            .filter(|(a, _)| *a > 0)
            .map(|(a, b)| b as f64 / a as f64),
        verdict: match missing(a, b) {
            Err(verdict) => verdict,
            Ok((a, b)) if a == b => Verdict::Equal,
            Ok((a, b)) => Verdict::Changed(format!("{} → {}", bytes(a), bytes(b))),
        },
        ..Row::new(kind, &contestant, &cell, "bytes")
    };
    both(before, after).into_iter().map(row).collect()
}

fn memory(before: &Run, after: &Run) -> Vec<Row> {
    let of = |run: &Run| -> Vec<(Place, u64)> {
        let rows = run.memory.iter().filter_map(|row| {
            let cell = format!("limit {}, {}", thousands(row.limit), row.fill);
            Some(((row.contestant.clone(), cell), row.bytes?))
        });
        rows.collect()
    };
    of_bytes(Kind::Memory, of(before), of(after))
}

fn keyed_memory(before: &Run, after: &Run) -> Vec<Row> {
    let of = |run: &Run| -> Vec<(Place, u64)> {
        let rows = run.keyed_memory.iter().filter_map(|row| {
            let cell = format!(
                "{} keys, limit {}, {}",
                thousands(row.keys),
                thousands(row.limit),
                row.fill
            );
            Some(((row.contestant.clone(), cell), row.bytes?))
        });
        rows.collect()
    };
    of_bytes(Kind::KeyedMemory, of(before), of(after))
}

/// Whether the others wait for the thread that is stopped. Each of them can begin one decision
/// before it waits.
fn others(row: &StalledRow) -> &'static str {
    match row.meanwhile <= row.stalls * row.threads as u64 {
        _ if row.stalls == 0 => "no thread was caught",
        true => "the others wait",
        false => "the others go on",
    }
}

/// How long the others took was measured once in each run, and nothing tells a difference of that.
fn stalled(before: &Run, after: &Run) -> Vec<Row> {
    /// Who waits, and how long the thread was stopped.
    type Seen = (&'static str, u64);
    let of = |run: &Run| -> Vec<(Place, Seen)> {
        let measured = run.stalled.iter().filter(|row| row.cannot.is_empty());
        let rows = measured.map(|row| {
            let cell = format!("{}, {} beside", row.state, on_threads(row.threads));
            ((row.contestant.clone(), cell), (others(row), row.stall_ns))
        });
        rows.collect()
    };
    let row = |((contestant, cell), a, b): (Place, Option<Seen>, Option<Seen>)| Row {
        verdict: match missing(a, b) {
            Err(verdict) => verdict,
            Ok(((_, a), (_, b))) if a != b => {
                Verdict::CannotBeCompared("it was stopped for another time".into())
            }
            Ok(((a, _), (b, _))) if a == b => Verdict::Equal,
            Ok(((a, _), (b, _))) => Verdict::Changed(format!("{a} → {b}")),
        },
        ..Row::new(Kind::Stalled, &contestant, &cell, "who waits")
    };
    both(of(before), of(after)).into_iter().map(row).collect()
}

fn accuracy(before: &Run, after: &Run) -> Vec<Row> {
    fn of(run: &Run) -> Vec<(Place, &AccuracyRow)> {
        let measured = run.accuracy.iter().filter(|row| row.cannot.is_empty());
        // A traffic can stand there under several quotas.
        let rows = measured.map(|row| {
            let cell = format!("{} ({})", row.traffic, row.quota);
            ((row.contestant.clone(), cell), row)
        });
        rows.collect()
    }
    let same_seed = before.environment.seed == after.environment.seed;
    let row =
        |((contestant, cell), a, b): (Place, Option<&AccuracyRow>, Option<&AccuracyRow>)| Row {
            verdict: missing(a, b).map_or_else(|verdict| verdict, |(a, b)| judged(a, b, same_seed)),
            ..Row::new(Kind::Accuracy, &contestant, &cell, "decisions")
        };
    both(of(before), of(after)).into_iter().map(row).collect()
}

fn judged(a: &AccuracyRow, b: &AccuracyRow, same_seed: bool) -> Verdict {
    if !same_seed {
        return Verdict::CannotBeCompared("another seed: another traffic".into());
    }
    if a.input != b.input {
        return Verdict::Changed(format!("another worst input: {} → {}", a.input, b.input));
    }
    // Retries depend on the answers; what is sent without them does not.
    let sent = |row: &AccuracyRow| (row.clients, row.requests - row.retries.min(row.requests));
    if sent(a) != sent(b) {
        return Verdict::CannotBeCompared("another traffic of that name".into());
    }
    let figures = |row: &AccuracyRow| {
        [
            ("requests", row.requests),
            ("allowed", row.allowed),
            ("false allows", row.false_allows),
            ("false denies", row.false_denies),
            ("worst overshoot", row.worst_overshoot),
            ("nanoseconds wrongly denied", row.wrongly_denied_ns),
            ("the longest of them", row.longest_wrong_denial_ns),
        ]
    };
    // Runs of before there were servers know no times of wrong denials either.
    let known = if a.servers > 0 && b.servers > 0 { 7 } else { 5 };
    let changed: Vec<String> = figures(a)
        .into_iter()
        .zip(figures(b))
        .take(known)
        .filter(|((_, a), (_, b))| a != b)
        .map(|((name, a), (_, b))| format!("{name} {} → {}", thousands(a), thousands(b)))
        .collect();
    match changed.is_empty() {
        true => Verdict::Equal,
        false => Verdict::Changed(changed.join(", ")),
    }
}
