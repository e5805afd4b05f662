//! Rows of speed and latency: compared by their rounds, as two contestants of one run are.
//!
//! A difference is shown if its interval, corrected for the number of rows, is beyond what needs no
//! change of the code: the A/A of the row in both runs, the drift of `clock-only`
//! between them, a step of the clock, and [`BETWEEN_RUNS`].

use std::collections::BTreeMap;

use windowpane_lab_ground::comparison::{
    self, Comparison, Outcome, RoundId, Series, compare_runs, rounds_needed,
};
use windowpane_lab_ground::latency::{Latency, ResponseTime, ServiceTime};
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::rows::{LatencyRow, Side};
use windowpane_lab_measure::state::State;

use super::super::run::Run;
use super::{Kind, Row, Verdict};
use crate::on_threads;

/// Two runs of one commit differ by up to this ratio for reasons that no round of either shows: the
/// processor's clock rate and its neighbours change from hour to hour.
const BETWEEN_RUNS: f64 = 1.02;

/// The contestant whose rate changes only if the machine does.
const FLOOR: &str = "clock-only";

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
    /// Rates: decisions a second, or the inverse of nanoseconds.
    series: Series,
    /// What must be the same for a comparison: the quota, the pace of the clock.
    terms: String,
    /// Whether there are rows that count for nothing.
    dropped: bool,
}

impl Measured {
    /// The ratio above 1 of the row to itself.
    fn of_itself(&self) -> f64 {
        let ratio = self.series.itself().map_or(1.0, |aa| aa.ratio);
        ratio.max(1.0 / ratio).max(1.0)
    }

    fn rounds(&self) -> usize {
        let ids = self.series.all().into_iter().map(|(id, _)| id);
        ids.collect::<std::collections::BTreeSet<RoundId>>().len()
    }
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
    let step = before
        .environment
        .clock_step_ns
        .max(after.environment.clock_step_ns) as f64;
    let places = a
        .keys()
        .chain(b.keys().filter(|place| !a.contains_key(place)));
    let mut places: Vec<&Place> = places.collect();
    places.sort_unstable();
    let rounds = |place: &&&Place| {
        let of = |of: &Of| of.get(place).map_or(0, Measured::rounds);
        why_not(a.get(place), b.get(place)).is_none()
            && of(&a).min(of(&b)) >= comparison::MIN_ROUNDS
    };
    let terms = Terms {
        family: places.iter().filter(rounds).count(),
        drift: drift(&a, &b),
        step,
    };
    let row = |place: &Place| {
        let row = one(place, a.get(place), b.get(place), &terms);
        (place.clone(), row)
    };
    places.into_iter().map(row).collect()
}

/// What all rows are compared by.
struct Terms {
    /// How many rows are compared.
    family: usize,
    /// The ratio above 1 of the floor's rates in the two runs, by threads.
    drift: BTreeMap<usize, f64>,
    /// Of the clock, in nanoseconds.
    step: f64,
}

/// How far the machine was from itself: the largest ratio of the floor's rates, by threads.
fn drift(a: &Of, b: &Of) -> BTreeMap<usize, f64> {
    let mut drift: BTreeMap<usize, f64> = BTreeMap::new();
    for (place, of_a) in a {
        if place.kind != Kind::Throughput || place.contestant != FLOOR {
            continue;
        }
        let Some(of_b) = b.get(place) else { continue };
        let ratio = compare_runs(&of_b.series.all(), &of_a.series.all(), 1, 1.0).ratio;
        if ratio.is_finite() {
            let most = drift.entry(place.order.1).or_insert(1.0);
            *most = most.max(ratio).max(1.0 / ratio);
        }
    }
    drift
}

fn one(place: &Place, a: Option<&Measured>, b: Option<&Measured>, terms: &Terms) -> Row {
    let is_time = place.quantity != RATE;
    let figure = |rate: f64| if is_time { 1.0 / rate } else { rate };
    let median = |of: Option<&Measured>| {
        let rates = of?.series.all().into_iter().map(|(_, rate)| figure(rate));
        Some(Spread::of(rates)?.median)
    };
    let (before, after) = (median(a), median(b));
    let row = Row {
        before,
        after,
        ..Row::new(place.kind, &place.contestant, &place.cell, place.quantity)
    };
    let cannot = |why: String| Row {
        verdict: Verdict::CannotBeCompared(why),
        ..row.clone()
    };
    if let Some(why) = why_not(a, b) {
        return cannot(why);
    }
    let (Some(a), Some(b), Some(before), Some(after)) = (a, b, before, after) else {
        return cannot("no figure in one of the runs".into());
    };
    // Times are multiples of the clock's step: one step more or less is no difference.
    let resolution = match is_time {
        true => (1.0 + terms.step / before.min(after).max(1.0)) * (1.0 + 1e-9),
        false => 1.0,
    };
    let drift = terms.drift.get(&place.order.1).copied().unwrap_or(1.0);
    let of_rows = a.of_itself().max(b.of_itself());
    let floor = BETWEEN_RUNS.max(resolution).max(drift).max(of_rows);
    let told = compare_runs(&b.series.all(), &a.series.all(), terms.family, floor);
    if told.outcome == Outcome::NotCompared {
        return cannot(format!(
            "{} rounds; {} are needed",
            told.pairs,
            rounds_needed(terms.family)
        ));
    }
    shown(row, told, is_time)
}

/// A row with what its comparison shows; a time is the inverse of a rate.
fn shown(row: Row, told: Comparison, is_time: bool) -> Row {
    let [ratio, low, high] = match is_time {
        true => [told.ratio, told.high, told.low].map(|ratio| 1.0 / ratio),
        false => [told.ratio, told.low, told.high],
    };
    Row {
        ratio: Some(ratio),
        low: Some(low),
        high: Some(high),
        smallest: Some(told.smallest),
        verdict: match told.outcome {
            Outcome::Faster => Verdict::Faster,
            Outcome::Slower => Verdict::Slower,
            Outcome::Equal => Verdict::Equal,
            Outcome::CannotTell | Outcome::NotCompared => Verdict::CannotTell,
        },
        ..row
    }
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
        if of.series.one.is_empty() {
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
        let at = id(row.launch, row.round);
        add(of, at, row.per_second, row.side, row.share_ok);
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
        let at = id(row.launch, row.round);
        add(of, at, row.per_second, row.side, true);
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
        let at = id(row.launch, row.round);
        add(of, at, row.per_second, row.side, row.share_ok);
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
            // A percentile of 0 ns is below the clock's step, and no rate.
            let rate = 1.0 / of(row).max(1) as f64;
            let at = id(0, row.round);
            add(
                all.entry(place).or_default(),
                at,
                rate,
                Side::One,
                row.share_ok,
            );
        }
    }
    all
}

const fn id(launch: u32, round: u32) -> RoundId {
    RoundId { launch, round }
}

fn add(of: &mut Measured, at: RoundId, rate: f64, side: Side, counts: bool) {
    match (counts, side) {
        (false, _) => of.dropped = true,
        (true, Side::One) => of.series.one.push((at, rate)),
        (true, Side::Again) => of.series.again.push((at, rate)),
    }
}
