//! Accuracy and tails: what is answered, and how late.

use windowpane_lab_ground::figures::{digits, percent};
use windowpane_lab_ground::latency::ResponseTime;
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::folder::HISTOGRAMS;
use windowpane_lab_measure::rows::{AccuracyRow, LatencyRow};
use windowpane_lab_measure::state::State;

use super::first::{contended, named, served_on, signed};
use super::sections::{Rows, chart, nanos, row, section, table};
use super::{Block, Cell, Column, Row, Section, plain};
use crate::charts::dots::{Dot, Dots};
use crate::charts::svg::Whose;
use crate::on_threads;
use crate::run::Run;

pub(super) fn accuracy(run: &Run) -> Section {
    let approximate: Vec<_> = run.limiters().filter(|who| !who.exact).collect();
    let traffics: Vec<_> = run
        .traffics()
        .into_iter()
        .filter(|row| row.is_traffic())
        .collect();
    let mut dots: Rows = Vec::new();
    for who in &approximate {
        let open = traffics
            .iter()
            .filter(|row| row.retries == 0 && row.requests >= 1_000);
        let shares = open.filter_map(|row| served_on(run, &who.contestant, &row.traffic));
        let marks: Vec<Dot> = shares
            .map(|share| Dot {
                panel: 0,
                series: 0,
                value: 100.0 * share,
            })
            .collect();
        if !marks.is_empty() {
            dots.push((who.contestant.clone(), Whose::of(&who.origin), marks));
        }
    }
    if dots.is_empty() {
        return section("accuracy", "Accuracy", Vec::new());
    }
    let measured = approximate
        .iter()
        .filter(|who| dots.iter().any(|(name, ..)| *name == who.contestant));
    let measured: Vec<&str> = measured.map(|who| who.contestant.as_str()).collect();
    let mut columns = vec![Column::new("traffic"), Column::new("quota")];
    columns.extend(measured.iter().map(|name| Column::new(format!("`{name}`"))));
    let rows = traffics.iter().map(|traffic| {
        let mut cells = vec![
            Cell::words(plain(&traffic.traffic)),
            Cell::words(format!("`{}`", traffic.quota)),
        ];
        let of = |name: &&str| Cell::figure(served_on(run, name, &traffic.traffic), signed);
        cells.extend(measured.iter().map(of));
        row(None, cells)
    });
    let worst = measured.iter().map(|name| {
        let own = || {
            run.accuracy
                .iter()
                .filter(|row| row.contestant == **name && row.cannot.is_empty())
        };
        let most = |rows: &mut dyn Iterator<Item = f64>| rows.reduce(f64::max);
        let named_traffic = most(
            &mut own()
                .filter(|row| row.is_traffic())
                .map(|row| row.worst_overshoot_share),
        );
        let search = most(
            &mut own()
                .filter(|row| !row.input.is_empty())
                .map(|row| row.worst_overshoot_share),
        );
        let a_second = |of: fn(&AccuracyRow) -> Option<f64>| {
            most(&mut own().filter(|row| row.has_shares()).filter_map(of))
        };
        row(
            Some(false),
            vec![
                Cell::words(named(name)),
                Cell::figure(named_traffic, percent),
                Cell::figure(search, percent),
                Cell::figure(
                    a_second(AccuracyRow::false_allows_per_client_second),
                    digits,
                ),
                Cell::figure(
                    a_second(AccuracyRow::false_denies_per_client_second),
                    digits,
                ),
            ],
        )
    });
    let worst_columns = [
        "limiter",
        "worst overshoot on named traffic",
        "worst found by search",
        "most false allows a client-second",
        "most false denials a client-second",
    ];
    section(
        "accuracy",
        "Accuracy",
        vec![
            Block::Text(
                "Each dot is a traffic: how much more or less was served than by an exact log that saw the same \
                 requests. The exact limiters decided as the log does and have no row."
                    .into(),
            ),
            chart(
                "accuracy.svg",
                "What approximate limiters serve beside an exact log, by traffic",
                Dots {
                    axis: "served beside an exact log, %".into(),
                    panels: vec![String::new()],
                    series: vec![String::new()],
                    rows: dots,
                    both_ways: true,
                },
            ),
            table("Worst of each", worst_columns.map(Column::new).to_vec(), worst.collect()),
            Block::Folded(
                "Served beside an exact log, limiter by traffic",
                vec![
                    table("Accuracy", columns, rows.collect()),
                    Block::Text("Where clients retry, what they send depends on the answers.".into()),
                ],
            ),
            Block::Data(vec!["accuracy.csv"]),
        ],
    )
}

/// A percentile's name, and where a row has it.
type Percentile = (&'static str, fn(&LatencyRow) -> u64);

/// The load whose tails are shown, in percent of the capacity.
const LOAD: u32 = 50;

pub(super) fn tails(run: &Run) -> Section {
    let threads: Vec<usize> = [1, contended(run)].into();
    let threads = if threads[0] == threads[1] {
        vec![1]
    } else {
        threads
    };
    let cell = |who: &str, threads: usize| {
        run.latency_of::<ResponseTime>(who, State::Allowed, threads, Some(LOAD))
    };
    let floor = run.contestants.iter().find(|who| who.origin == "floor");
    // What the machine alone does to p99.9, over the rounds.
    let machine = |threads: usize| -> Option<Spread> {
        run.percentile(cell(&floor?.contestant, threads)?, |row| row.p99_9)
    };
    let percentiles: [Percentile; 4] = [
        ("p50", |row| row.p50),
        ("p99", |row| row.p99),
        ("p99.9", |row| row.p99_9),
        ("max", |row| row.max),
    ];
    let (mut dots, mut rows): (Rows, Vec<Row>) = (Vec::new(), Vec::new());
    for who in &run.contestants {
        let name = &who.contestant;
        let mut marks = Vec::new();
        let mut cells = vec![Cell::words(named(name))];
        for (panel, threads) in threads.iter().enumerate() {
            let found = cell(name, *threads);
            for (series, (_, of)) in percentiles.iter().enumerate() {
                cells.push(found.map_or_else(|| Cell::words("—"), |row| nanos(of(row))));
                let dot = |row| Dot {
                    panel,
                    series,
                    value: of(row) as f64,
                };
                marks.extend(found.map(dot));
            }
            let alike = found.zip(machine(*threads)).map(|(row, machine)| {
                let p99_9 = row.p99_9 as f64;
                match () {
                    () if who.origin == "floor" => "—",
                    () if p99_9 < machine.min => "below",
                    () if p99_9 <= machine.max => "alike",
                    () => "above",
                }
            });
            cells.push(Cell::words(alike.unwrap_or("—")));
        }
        if !marks.is_empty() {
            dots.push((name.clone(), Whose::of(&who.origin), marks));
            rows.push(row((who.origin != "floor").then_some(who.exact), cells));
        }
    }
    if dots.is_empty() {
        return section("tails", "Tails", Vec::new());
    }
    let mut columns = vec![Column::new("limiter")];
    for threads in &threads {
        let column = |title: String| Column {
            threads: Some(*threads),
            state: Some("allowed"),
            ..Column::new(title)
        };
        columns.extend(percentiles.map(|(title, _)| column(format!("{title}, {threads}"))));
        columns.push(column(format!("beside the machine, {threads}")));
    }
    section(
        "tails",
        "Tails",
        vec![
            Block::Text(format!(
                "Response time of allowed decisions at {LOAD} % of the capacity, from the intended start. `clock-only` is \
                 the machine alone: alike: a limiter's p99.9 is within the range of its rounds."
            )),
            chart(
                "tails.svg",
                "Percentiles of the response time, with the machine alone in the last row",
                Dots {
                    axis: "response time, ns".into(),
                    panels: threads.iter().map(|threads| on_threads(*threads)).collect(),
                    series: percentiles.map(|(title, _)| title.into()).to_vec(),
                    rows: dots,
                    both_ways: false,
                },
            ),
            Block::Folded(
                "All percentiles; the number behind each is that of threads",
                vec![table("Tails", columns, rows)],
            ),
            Block::Data(vec!["latency.csv", HISTOGRAMS]),
        ],
    )
}
