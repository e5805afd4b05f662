//! The first screen: where, which limiter for which need, one picture, one table.

use windowpane_lab_contestants::registry::ORACLE;
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_ground::figures::{bytes, millions, percent, thousands, time};
use windowpane_lab_measure::rows::ContestantRow;
use windowpane_lab_measure::state::{LIMIT, State};

use super::advice::advice;
use super::{Block, Cell, Chart, Column, Row, Section, Table, interval, plain};
use crate::DEFAULT;
use crate::cells::Cell as Measured;
use crate::charts::scatter::{self, Point};
use crate::charts::svg::Whose;
use crate::choose::{self, WORKLOAD};
use crate::on_threads;
use crate::run::Run;

pub(super) fn first(run: &Run) -> Section {
    let mut blocks = vec![Block::Text(where_measured(run)), Block::List(advice(run))];
    if let Some(chart) = picture(run) {
        blocks.push(Block::Chart(chart));
    }
    blocks.push(Block::Table(glance(run)));
    blocks.push(Block::Text(format!(
        "Limit {} on one key. The drawn line is the 95 % interval of the median. Sorted by exactness, then by \
         decisions a second with {}. Served: the range over traffics, beside an exact log. An exhibit shows a mistake.",
        thousands(LIMIT),
        on_threads(contended(run))
    )));
    blocks.push(Block::Data(vec![
        "throughput.csv",
        "keyed.csv",
        "memory.csv",
        "accuracy.csv",
    ]));
    Section {
        id: "first",
        heading: "",
        blocks,
    }
}

/// Returns what was measured where, and what is known against it, in one line.
pub(crate) fn where_measured(run: &Run) -> String {
    let environment = &run.environment;
    let limiters = run.limiters().count();
    let stores = run.keyed_contestants.len();
    let doubts = choose::run_doubts(run);
    let doubts = match doubts.as_slice() {
        [] => String::new(),
        doubts => format!(" But {}.", plain(&doubts.join("; "))),
    };
    format!(
        "{limiters} limiters and {stores} stores of many keys on {}, {} cores, {}, {}: {} rounds{} ({}), {}, revision `{}`.{doubts}",
        plain(&environment.cpu),
        environment.cores,
        match environment.hypervisor.as_str() {
            "none" => "no hypervisor".into(),
            name => format!("a virtual machine ({})", plain(name)),
        },
        plain(&environment.kernel),
        environment.rounds,
        match environment.launches {
            0 | 1 => String::new(),
            launches => format!(" in {launches} launches"),
        },
        environment.mode,
        environment.began.get(..10).unwrap_or("undated"),
        environment.git_revision.get(..12).unwrap_or("unknown"),
    )
}

/// The most threads that each have a core.
pub(super) fn contended(run: &Run) -> usize {
    let on_cores = |threads: &usize| !run.is_oversubscribed(*threads);
    run.threads()
        .into_iter()
        .filter(on_cores)
        .max()
        .unwrap_or(1)
}

/// The least and the most that a limiter served beside the exact log, as shares, over traffics whose
/// requests did not depend on its answers.
pub(super) fn served(run: &Run, who: &str) -> Option<(f64, f64)> {
    let traffics = run.traffics().into_iter();
    let open = traffics.filter(|row| row.is_traffic() && row.retries == 0 && row.requests >= 1_000);
    let shares: Vec<f64> = open
        .filter_map(|row| served_on(run, who, &row.traffic))
        .collect();
    let least = shares.iter().copied().reduce(f64::min)?;
    Some((least, shares.iter().copied().reduce(f64::max)?))
}

/// What a limiter served of a traffic beside the exact log: 0.01 is 1 % more.
pub(super) fn served_on(run: &Run, who: &str, traffic: &str) -> Option<f64> {
    let own = run.accuracy_of(who, traffic)?;
    if let Some(served) = own.served() {
        return Some(served - 1.0);
    }
    // Runs that did not ask the exact log have its row.
    let exact = run.accuracy_of(ORACLE, traffic)?;
    let is_same = own.requests == exact.requests && exact.allowed > 0;
    is_same.then(|| own.allowed as f64 / exact.allowed as f64 - 1.0)
}

/// A share with its sign: `+3.4 %`.
pub(super) fn signed(share: f64) -> String {
    match share {
        0.0 => "0 %".into(),
        s if s.abs() < 0.000_5 => "~0 %".into(),
        s => format!(
            "{}{:.1} %",
            if s > 0.0 { "+" } else { "−" },
            (s * 100.0).abs()
        ),
    }
}

fn picture(run: &Run) -> Option<Chart> {
    let threads = contended(run);
    let point = |who: &ContestantRow| {
        let name = &who.contestant;
        let rate = run.rate(name, State::Allowed, threads)?.median;
        let (least, most) = served(run, name)?;
        Some(Point {
            name: name.clone(),
            whose: Whose::of(&who.origin),
            cost: threads as f64 * 1e9 / rate,
            served: (100.0 * least, 100.0 * most),
            bytes: run.bytes(name, LIMIT, "full")?,
        })
    };
    let points: Vec<Point> = run.limiters().filter_map(point).collect();
    let x_title = format!(
        "ns of thread time a decision, {} on one key",
        on_threads(threads)
    );
    (!points.is_empty()).then(|| Chart {
        file: "limiters.svg",
        about: format!(
            "Cost under contention ({}) against what is served beside an exact log; larger marks take more memory; filled: ours",
            on_threads(threads)
        ),
        svg: scatter::draw(&x_title, &points),
    })
}

/// A limiter's name, marked if it is the default or shows a mistake.
pub(crate) fn named(who: &str) -> String {
    let is_exhibit = TABLE
        .entry(who)
        .is_some_and(|entry| entry.exhibit.is_some());
    match () {
        () if who == DEFAULT => format!("`{who}` (default)"),
        () if is_exhibit => format!("`{who}` (exhibit)"),
        () => format!("`{who}`"),
    }
}

/// The store of an entry whose figures stand in the table: the first that was measured.
fn store(run: &Run, who: &str) -> Option<&'static str> {
    let stores = TABLE
        .entry(who)?
        .many_keys
        .iter()
        .map(|store| store.info().name);
    stores.into_iter().find(|store| {
        run.keyed_contestants
            .iter()
            .any(|row| row.contestant == *store)
    })
}

/// A cell of speed: the time with one thread, millions a second with more; both speeds where there
/// are two.
pub(super) fn speed(run: &Run, who: &str, cell: Measured) -> Cell {
    let (Measured::OneKey(_, threads) | Measured::Keys(_, threads)) = cell;
    let write = |rate: f64| match threads {
        1 => time(1e9 / rate),
        _ => millions(rate),
    };
    let sorted = |rate: f64| if threads == 1 { 1e9 / rate } else { rate / 1e6 };
    match run.speed(who, cell) {
        None => Cell::words("—"),
        Some(speed) => Cell {
            text: match speed.modes {
                None => write(speed.rates.median),
                Some(two) => format!(
                    "{} ({}), {} ({})",
                    write(two.low),
                    percent(two.share_low),
                    write(two.high),
                    percent(1.0 - two.share_low)
                ),
            },
            sort: Some(sorted(speed.rates.median)),
            bar: None,
        },
    }
}

/// The table: a row a limiter, the exact ones first, then the faster under contention.
pub(crate) fn glance(run: &Run) -> Table {
    let threads = contended(run);
    let unit = |threads: usize| {
        if threads == 1 {
            String::new()
        } else {
            ", M/s".into()
        }
    };
    let mut cells: Vec<(Column, Measured)> = Vec::new();
    for state in [State::Allowed, State::Denied] {
        for threads in if threads > 1 {
            vec![1, threads]
        } else {
            vec![1]
        } {
            let column = Column {
                title: format!("{}, {}{}", state.word(), on_threads(threads), unit(threads)),
                state: Some(state.word()),
                threads: Some(threads),
                keys: Some("one"),
            };
            cells.push((column, Measured::OneKey(state, threads)));
        }
    }
    let mut columns = vec![Column::new("limiter"), Column::new("exact")];
    columns.extend(cells.iter().map(|(column, _)| column.clone()));
    columns.push(Column {
        title: "10,000 keys, allowed".into(),
        state: Some("allowed"),
        threads: Some(1),
        keys: Some("many"),
    });
    columns.extend(["one key, full", "served", "worst overshoot"].map(Column::new));
    let mut rows: Vec<(bool, f64, Row)> = Vec::new();
    for who in run.limiters() {
        let name = &who.contestant;
        let mut row = vec![
            Cell::words(named(name)),
            Cell::words(if who.exact { "yes" } else { "no" }),
        ];
        for (_, cell) in &cells {
            row.push(Cell {
                bar: bar(run, name, *cell),
                ..speed(run, name, *cell)
            });
        }
        row.push(store(run, name).map_or_else(
            || Cell::words("—"),
            |store| speed(run, store, Measured::Keys(WORKLOAD, 1)),
        ));
        let own_bytes = run.bytes(name, LIMIT, "full");
        row.push(Cell {
            sort: own_bytes.map(|bytes| bytes as f64),
            ..Cell::words(own_bytes.map_or("—".into(), bytes))
        });
        let served = served(run, name);
        row.push(Cell {
            sort: served.map(|(least, most)| most.max(-least)),
            ..Cell::words(match served {
                None => "—".into(),
                Some((least, most)) if least == most => signed(least),
                Some((least, most)) => format!("{} to {}", signed(least), signed(most)),
            })
        });
        let worst = run.worst(name).map(|row| row.worst_overshoot_share);
        row.push(Cell::figure(worst, percent));
        let rate = run
            .rate(name, State::Allowed, threads)
            .map_or(0.0, |rate| rate.median);
        let row = Row {
            is_exact: Some(who.exact),
            cells: row,
        };
        rows.push((!who.exact, -rate, row));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Table {
        label: "Limiters at a glance".into(),
        columns,
        rows: rows.into_iter().map(|(.., row)| row).collect(),
    }
}

/// The interval of a cell along its column, from 0 to the highest rate of the column.
fn bar(run: &Run, who: &str, cell: Measured) -> Option<[f64; 3]> {
    let rates = |who: &str| -> Vec<f64> {
        let series = run.series(who, cell);
        series.one.into_iter().map(|(_, rate)| rate).collect()
    };
    let highest = run
        .limiters()
        .flat_map(|one| rates(&one.contestant))
        .fold(0.0, f64::max);
    let of = interval(rates(who))?;
    Some([of.min, of.median, of.max].map(|rate| rate / highest))
}
