//! Rows of speed and latency. A difference is shown if the bootstrap's 95 % interval of the ratio
//! of medians excludes equality and the ratio is above the noise of both runs.
//!
//! The noise of throughput and of many keys is what their reference shows against itself. Latency
//! and the speed on a traffic have no such pair: there it is what the row shows against itself from
//! one round to the next.

use std::collections::BTreeMap;

use windowpane_lab_ground::latency::{Latency, ResponseTime, ServiceTime};
use windowpane_lab_ground::spread::{Difference, Spread, compare_runs, noise};
use windowpane_lab_measure::plan::{KEYED_REFERENCE, REFERENCE};
use windowpane_lab_measure::rows::{LatencyRow, Side};
use windowpane_lab_measure::state::State;

use super::super::run::Run;
use super::{Kind, Row, Verdict};
use crate::on_threads;

/// A percentile's name, and where a row has it.
type Percentile = (&'static str, fn(&LatencyRow) -> u64);

/// The percentiles that are compared: beyond them the rounds hold too few samples.
const PERCENTILES: [Percentile; 3] = [
    ("p50", |row| row.p50),
    ("p99", |row| row.p99),
    ("p99.9", |row| row.p99_9),
];

/// Where a row stands: what is measured of whom. Its order is that of the tables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    kind: Kind,
    /// Orders the cells of a kind: the state's or the keys' number, threads, load.
    order: (usize, usize, u32),
    cell: String,
    quantity: &'static str,
    contestant: String,
}

/// What one run measured there.
#[derive(Clone, Debug, Default)]
struct Measured {
    /// Round and value: decisions a second, or nanoseconds.
    values: Vec<(u32, f64)>,
    /// The reference's other half of each A/A pair.
    again: Vec<(u32, f64)>,
    /// What must be the same for a comparison: the quota, the pace of the clock.
    terms: String,
    /// Whether there are rows that count for nothing.
    dropped: bool,
}

type Of = BTreeMap<Place, Measured>;

impl Place {
    /// State and threads of a row of throughput.
    pub(super) fn of_throughput(&self) -> Option<(State, usize)> {
        let state = State::ALL.get(self.order.0)?;
        (self.kind == Kind::Throughput).then_some((*state, self.order.1))
    }
}

/// The timed rows of two runs.
pub(super) fn rows(before: &Run, after: &Run) -> Vec<Row> {
    let placed = placed(before, after);
    placed.into_iter().map(|(_, row)| row).collect()
}

/// The timed rows of two runs and where they stand.
pub(super) fn placed(before: &Run, after: &Run) -> Vec<(Place, Row)> {
    let (a, b) = (measured(before), measured(after));
    let noises = [noises(before, &a), noises(after, &b)];
    let step = before
        .environment
        .clock_step_ns
        .max(after.environment.clock_step_ns) as f64;
    let places = a
        .keys()
        .chain(b.keys().filter(|place| !a.contains_key(place)));
    let mut places: Vec<&Place> = places.collect();
    places.sort_unstable();
    let row = |place: &Place| {
        let noise = noises.iter().map(|noises| {
            let of_cell = noises.get(&cell_of(place));
            of_cell.copied().unwrap_or(f64::INFINITY)
        });
        let noise = noise.fold(0.0, f64::max);
        let row = one(place, a.get(place), b.get(place), noise, step);
        (place.clone(), row)
    };
    places.into_iter().map(row).collect()
}

fn one(place: &Place, a: Option<&Measured>, b: Option<&Measured>, noise: f64, step: f64) -> Row {
    let values = |of: Option<&Measured>| -> Vec<f64> {
        let values = of.into_iter().flat_map(|measured| &measured.values);
        values.map(|(_, value)| *value).collect()
    };
    let median = |values: &[f64]| Some(Spread::of(values.iter().copied())?.median);
    let (of_a, of_b) = (values(a), values(b));
    let (before, after) = (median(&of_a), median(&of_b));
    let mut row = Row {
        kind: place.kind,
        contestant: place.contestant.clone(),
        cell: place.cell.clone(),
        quantity: place.quantity,
        before,
        after,
        ratio: None,
        noise: noise.is_finite().then_some(noise),
        verdict: Verdict::NoDifferenceShown,
    };
    if let Some(why) = why_not(a, b) {
        row.verdict = Verdict::CannotBeCompared(why);
        return row;
    }
    let (Some(before), Some(after)) = (before, after) else {
        return row;
    };
    let is_time = place.quantity != RATE;
    // Times are multiples of the clock's step: one step more or less is no difference.
    let resolution = match is_time {
        true => step / before.min(after).max(1.0),
        false => 0.0,
    };
    let Some(difference) = compare_runs(&of_b, &of_a, noise.max(resolution)) else {
        return row;
    };
    row.ratio = Some(difference.ratio()).filter(|ratio| ratio.is_finite());
    row.verdict = match difference {
        Difference::NotShown(_) => Verdict::NoDifferenceShown,
        Difference::Shown(ratio) if (ratio > 1.0) != is_time => Verdict::Faster,
        Difference::Shown(_) => Verdict::Slower,
    };
    row
}

/// Why two rows cannot be compared.
fn why_not(a: Option<&Measured>, b: Option<&Measured>) -> Option<String> {
    let (Some(a), Some(b)) = (a, b) else {
        return Some(match a {
            None => "not measured in the first run".into(),
            Some(_) => "not measured in the second run".into(),
        });
    };
    for (which, of) in [("first", a), ("second", b)] {
        if of.values.is_empty() {
            return Some(match of.dropped {
                true => format!("counts for nothing in the {which} run: another share was allowed"),
                false => format!("no figure in the {which} run"),
            });
        }
    }
    (a.terms != b.terms).then(|| format!("{} in the first run, {} in the second", a.terms, b.terms))
}

const RATE: &str = "decisions/s";

/// Everything that a run timed.
fn measured(run: &Run) -> Of {
    let mut all = Of::new();
    let nth = |state: &str| {
        State::from_word(state).map_or(usize::MAX, |state| {
            State::ALL
                .iter()
                .position(|other| *other == state)
                .unwrap_or(usize::MAX)
        })
    };
    for row in &run.throughput {
        // Round 0 is the pairs before the rounds: noise, no row.
        if row.round == 0 || !row.cannot.is_empty() {
            continue;
        }
        let place = Place {
            kind: Kind::Throughput,
            order: (nth(&row.state), row.threads, 0),
            cell: format!("{}, {}", row.state, on_threads(row.threads)),
            quantity: RATE,
            contestant: row.contestant.clone(),
        };
        let of = all.entry(place).or_default();
        // Elsewhere it is real time, or as fast as the contestant needs. The pace is measured, too,
        // and no two readings are alike to the last digit.
        if row.state == State::Allowed.word() {
            of.terms = format!("a clock {:.0} times as fast", row.clock_pace);
        }
        add(of, row.round, row.per_second, row.side, row.share_ok);
    }
    for row in run.traffic.iter().filter(|row| row.cannot.is_empty()) {
        let place = Place {
            kind: Kind::Traffic,
            order: (0, 1, 0),
            cell: row.traffic.clone(),
            quantity: RATE,
            contestant: row.contestant.clone(),
        };
        let of = all.entry(place).or_default();
        add(of, row.round, row.per_second, Side::One, true);
    }
    for row in run.keyed.iter().filter(|row| row.cannot.is_empty()) {
        let place = Place {
            kind: Kind::Keyed,
            order: (row.keys as usize, row.threads, 0),
            cell: format!(
                "{}, {} keys, {}",
                row.workload,
                row.key,
                on_threads(row.threads)
            ),
            quantity: RATE,
            contestant: row.contestant.clone(),
        };
        let of = all.entry(place).or_default();
        of.terms = format!("{} for {} keys", row.quota, row.keys);
        add(of, row.round, row.per_second, row.side, row.share_ok);
    }
    for row in run.latency.iter().filter(|row| row.cannot.is_empty()) {
        let kind = match row.kind.as_str() {
            ServiceTime::LABEL => Kind::ServiceTime,
            ResponseTime::LABEL => Kind::ResponseTime,
            // The timer's own.
            _ => continue,
        };
        // Round 0 is all rounds together.
        if row.round == 0 {
            continue;
        }
        let load = row
            .load_percent
            .map_or(String::new(), |load| format!(", {load} % of capacity"));
        for (quantity, of) in PERCENTILES {
            let place = Place {
                kind,
                order: (nth(&row.state), row.threads, row.load_percent.unwrap_or(0)),
                cell: format!("{}, {}{load}", row.state, on_threads(row.threads)),
                quantity,
                contestant: row.contestant.clone(),
            };
            let value = of(row) as f64;
            add(
                all.entry(place).or_default(),
                row.round,
                value,
                Side::One,
                row.share_ok,
            );
        }
    }
    for of in all.values_mut() {
        of.values.sort_by_key(|(round, _)| *round);
        of.again.sort_by_key(|(round, _)| *round);
    }
    all
}

fn add(of: &mut Measured, round: u32, value: f64, side: Side, counts: bool) {
    match (counts, side) {
        (false, _) => of.dropped = true,
        (true, Side::One) => of.values.push((round, value)),
        (true, Side::Again) => of.again.push((round, value)),
    }
}

/// What has one noise: a cell and quantity, of everyone or of one contestant.
type Cell = (Kind, (usize, usize, u32), String, &'static str, String);

fn cell_of(place: &Place) -> Cell {
    let whose = match place.kind {
        // That of the reference is everyone's.
        Kind::Throughput | Kind::Keyed => String::new(),
        _ => place.contestant.clone(),
    };
    (
        place.kind,
        place.order,
        place.cell.clone(),
        place.quantity,
        whose,
    )
}

/// The noise of each cell of a run.
fn noises(run: &Run, all: &Of) -> BTreeMap<Cell, f64> {
    let mut pairs: BTreeMap<Cell, Vec<(f64, f64)>> = BTreeMap::new();
    for (place, of) in all {
        let mut found = match place.kind {
            // With the pairs before the rounds.
            Kind::Throughput if place.contestant == REFERENCE => {
                let state = State::ALL.get(place.order.0);
                state.map_or(Vec::new(), |state| run.pairs(*state, place.order.1))
            }
            Kind::Keyed if place.contestant == KEYED_REFERENCE => {
                let of_round = |round: u32| of.again.iter().find(|(other, _)| *other == round);
                let pair = |(round, one): &(u32, f64)| Some((*one, of_round(*round)?.1));
                of.values.iter().filter_map(pair).collect()
            }
            Kind::Throughput | Kind::Keyed => continue,
            _ => of
                .values
                .windows(2)
                .map(|two| (two[0].1, two[1].1))
                .collect(),
        };
        // A percentile of 0 ns is below the clock's step, and no ratio's half.
        found.retain(|(one, again)| *one > 0.0 && *again > 0.0);
        pairs.entry(cell_of(place)).or_default().extend(found);
    }
    let noise = |(cell, pairs): (Cell, Vec<(f64, f64)>)| Some((cell, noise(&pairs)?));
    pairs.into_iter().filter_map(noise).collect()
}
