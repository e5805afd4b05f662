//! The subjects after the first screen: each one chart, one table, two sentences.

use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_ground::figures::{bytes, thousands, time};
use windowpane_lab_measure::rows::StalledRow;
use windowpane_lab_measure::state::State;

use super::answers::{accuracy, tails};
use super::first::{contended, named, speed};
use super::{Block, Cell, Chart, Column, Row, Section, Table, losses, plain};
use crate::cells::Cell as Measured;
use crate::charts::dots::{Dot, Dots};
use crate::charts::svg::Whose;
use crate::choose::in_bytes;
use crate::on_threads;
use crate::run::Run;

pub(super) fn sections(run: &Run) -> Vec<Section> {
    vec![
        stalled(run),
        throughput(run),
        keys(run),
        losses::slower(run),
        memory(run),
        accuracy(run),
        tails(run),
        about(run),
    ]
}

pub(super) fn section(id: &'static str, heading: &'static str, blocks: Vec<Block>) -> Section {
    Section {
        id,
        heading,
        blocks,
    }
}

/// The rows of a chart that have dots.
pub(super) type Rows = Vec<(String, Whose, Vec<Dot>)>;

pub(super) fn chart(file: &'static str, about: &str, dots: Dots) -> Block {
    Block::Chart(Chart {
        file,
        about: about.into(),
        svg: dots.draw(),
    })
}

pub(super) fn table(label: &str, columns: Vec<Column>, rows: Vec<Row>) -> Block {
    Block::Table(Table {
        label: label.into(),
        columns,
        rows,
    })
}

pub(super) fn row(is_exact: Option<bool>, cells: Vec<Cell>) -> Row {
    Row { is_exact, cells }
}

fn count(value: u64) -> Cell {
    Cell::figure(Some(value as f64), |value| thousands(value as u64))
}

pub(super) fn nanos(value: u64) -> Cell {
    Cell::figure(Some(value as f64), time)
}

fn stalled(run: &Run) -> Section {
    let of = |who: &str, state: State| {
        let mut rows = run.stalled.iter().filter(|row| row.cannot.is_empty());
        rows.find(|row| row.contestant == who && row.state == state.word())
    };
    let states = [State::Allowed, State::Denied];
    let (mut dots, mut rows): (Rows, Vec<Row>) = (Vec::new(), Vec::new());
    for who in run.limiters() {
        let name = &who.contestant;
        let found = states.map(|state| of(name, state));
        if found.iter().all(Option::is_none) {
            continue;
        }
        let each = found.iter().enumerate();
        let marks = each.filter_map(|(panel, row)| Some((panel, (*row)?.meanwhile)));
        let mark = |(panel, meanwhile): (usize, u64)| Dot {
            panel,
            series: 0,
            value: meanwhile as f64,
        };
        dots.push((
            name.clone(),
            Whose::of(&who.origin),
            marks.map(mark).collect(),
        ));
        let lock = TABLE
            .entry(name)
            .map_or("—", |entry| if entry.lock_free { "no" } else { "yes" });
        let figure =
            |row: Option<&StalledRow>, of: fn(&StalledRow) -> u64, write: fn(u64) -> Cell| {
                row.map_or_else(|| Cell::words("—"), |row| write(of(row)))
            };
        rows.push(row(
            Some(who.exact),
            vec![
                Cell::words(named(name)),
                Cell::words(lock),
                figure(found[0], |row| row.meanwhile, count),
                figure(found[1], |row| row.meanwhile, count),
                figure(found[0], |row| row.max, nanos),
            ],
        ));
    }
    let Some(stall) = run.stalled.first() else {
        return section("stalled", "A stalled thread", Vec::new());
    };
    let sentence = format!(
        "One thread is stopped for {} where it reads the clock in a decision, {} times, while {} more decide. \
         Where it holds a lock meanwhile, the others stand still; 0 stands at the left edge.",
        time(stall.stall_ns as f64),
        stall.stalls,
        stall.threads
    );
    let columns = vec![
        Column::new("limiter"),
        Column::new("lock"),
        Column {
            state: Some("allowed"),
            ..Column::new("decided meanwhile, allowed")
        },
        Column {
            state: Some("denied"),
            ..Column::new("decided meanwhile, denied")
        },
        Column {
            state: Some("allowed"),
            ..Column::new("longest, allowed")
        },
    ];
    section(
        "stalled",
        "A stalled thread",
        vec![
            Block::Text(sentence),
            chart(
                "stalled.svg",
                "Decisions of the other threads while one is stopped",
                Dots {
                    axis: "decisions of the others while one thread is stopped".into(),
                    panels: states.map(|state| state.word().into()).to_vec(),
                    series: vec![String::new()],
                    rows: dots,
                    both_ways: false,
                },
            ),
            table("A stalled thread", columns, rows),
            Block::Data(vec!["stalled.csv"]),
        ],
    )
}

fn throughput(run: &Run) -> Section {
    let threads = run.threads();
    let mut dots: Rows = Vec::new();
    for who in &run.contestants {
        let mut marks = Vec::new();
        for (panel, state) in State::ALL.into_iter().enumerate() {
            for (series, threads) in threads.iter().enumerate() {
                if let Some(rate) = run.rate(&who.contestant, state, *threads) {
                    marks.push(Dot {
                        panel,
                        series,
                        value: rate.median / 1e6,
                    });
                }
            }
        }
        if !marks.is_empty() {
            dots.push((who.contestant.clone(), Whose::of(&who.origin), marks));
        }
    }
    let cells: Vec<(State, usize)> = State::ALL
        .into_iter()
        .flat_map(|state| threads.iter().map(move |threads| (state, *threads)))
        .collect();
    let mut columns = vec![Column::new("limiter")];
    columns.extend(cells.iter().map(|(state, threads)| Column {
        title: format!("{}, {threads}", state.word()),
        state: Some(state.word()),
        threads: Some(*threads),
        keys: Some("one"),
    }));
    let rows = run.contestants.iter().map(|who| {
        let of = |(state, threads): &(State, usize)| {
            speed(run, &who.contestant, Measured::OneKey(*state, *threads))
        };
        let name = vec![Cell::words(named(&who.contestant))];
        let is_limiter = who.origin != "floor";
        row(
            is_limiter.then_some(who.exact),
            name.into_iter().chain(cells.iter().map(of)).collect(),
        )
    });
    if dots.is_empty() {
        return section("throughput", "Throughput", Vec::new());
    }
    let cores = run.environment.cores;
    section(
        "throughput",
        "Throughput",
        vec![
            Block::Text(format!(
                "All threads decide on one key. With more than {cores} threads, threads wait for a core, which \
                 shows what a preempted lock holder costs; `clock-only` reads the clock and decides nothing."
            )),
            chart(
                "throughput.svg",
                "Million decisions a second of all threads, by state",
                Dots {
                    axis: "million decisions a second of all threads".into(),
                    panels: State::ALL.map(|state| state.word().into()).to_vec(),
                    series: threads.iter().map(|threads| on_threads(*threads)).collect(),
                    rows: dots,
                    both_ways: false,
                },
            ),
            Block::Folded(
                "All cells: the time of a decision with 1 thread, million decisions a second with more",
                vec![table("Throughput", columns, rows.collect())],
            ),
            Block::Data(vec!["throughput.csv", "summary.csv"]),
        ],
    )
}

fn keys(run: &Run) -> Section {
    let mut cells: Vec<(&str, usize)> = Vec::new();
    for row in &run.keyed {
        let cell = (row.workload.as_str(), row.threads);
        if row.round > 0 && row.threads <= contended(run) && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    cells.sort_unstable();
    let panels = ["10,000 keys, allowed", "10,000 keys, denied"];
    let threads: Vec<usize> = run.keyed_threads(panels[0]);
    let (mut dots, mut rows): (Rows, Vec<Row>) = (Vec::new(), Vec::new());
    for who in &run.keyed_contestants {
        let name = &who.contestant;
        let rate = |cell: Measured| run.speed(name, cell).map(|speed| speed.rates.median / 1e6);
        let mut marks = Vec::new();
        for (panel, workload) in panels.iter().enumerate() {
            for (series, threads) in threads.iter().enumerate() {
                let value = rate(Measured::Keys(workload, *threads));
                marks.extend(value.map(|value| Dot {
                    panel,
                    series,
                    value,
                }));
            }
        }
        if !marks.is_empty() {
            dots.push((name.clone(), Whose::of(&who.origin), marks));
        }
        let mut cells_of: Vec<Cell> = vec![Cell::words(format!("`{name}`"))];
        cells_of.extend(
            cells
                .iter()
                .map(|(workload, threads)| speed(run, name, Measured::Keys(workload, *threads))),
        );
        let attacked = run
            .keyed_attack
            .iter()
            .filter(|row| row.contestant == *name && row.cannot.is_empty());
        let attacked = attacked
            .filter(|row| !row.tidied)
            .max_by_key(|row| row.asked);
        cells_of.push(Cell {
            sort: attacked.map(|row| row.bytes as f64),
            ..Cell::words(attacked.map_or("—".into(), |row| in_bytes(row.bytes)))
        });
        let of_entry = TABLE.entries().find(|entry| {
            entry
                .many_keys
                .iter()
                .any(|store| store.info().name == name)
        });
        rows.push(row(of_entry.map(|entry| entry.info().is_exact()), cells_of));
    }
    let mut columns = vec![Column::new("store")];
    columns.extend(cells.iter().map(|(workload, threads)| {
        Column {
            title: format!("{}, {threads}", plain(workload)),
            state: State::ALL
                .into_iter()
                .map(State::word)
                .find(|state| workload.ends_with(state)),
            threads: Some(*threads),
            keys: Some("many"),
        }
    }));
    columns.push(Column {
        keys: Some("many"),
        ..Column::new("bytes after the attack")
    });
    if rows.is_empty() {
        return section("keys", "Many keys", Vec::new());
    }
    section(
        "keys",
        "Many keys",
        vec![
            Block::Text(
                "`store/` is the sharded map, `flat/` the flat table; `governor-ahash` has the hasher of ours, and is \
                 the one to compare with. In the attack a million new keys come, once each, at a cap of 10,000 where \
                 a store has one."
                    .into(),
            ),
            chart(
                "keys.svg",
                "Million decisions a second over 10,000 keys",
                Dots {
                    axis: "million decisions a second of all threads".into(),
                    panels: panels.map(String::from).to_vec(),
                    series: threads.iter().map(|threads| on_threads(*threads)).collect(),
                    rows: dots,
                    both_ways: false,
                },
            ),
            Block::Folded(
                "All cells: the time of a decision with 1 thread, million decisions a second with more",
                vec![table("Many keys", columns, rows)],
            ),
            Block::Data(vec!["keyed.csv", "keyed-attack.csv"]),
        ],
    )
}

fn memory(run: &Run) -> Section {
    let mut limits: Vec<u64> = run.memory.iter().map(|row| row.limit).collect();
    limits.sort_unstable();
    limits.dedup();
    let (mut dots, mut rows): (Rows, Vec<Row>) = (Vec::new(), Vec::new());
    for who in run.limiters() {
        let name = &who.contestant;
        let full = |limit: &u64| run.bytes(name, *limit, "full");
        let each = limits.iter().enumerate();
        let marks = each.filter_map(|(series, limit)| Some((series, full(limit)?)));
        let marks: Vec<Dot> = marks
            .map(|(series, bytes)| Dot {
                panel: 0,
                series,
                value: bytes as f64,
            })
            .collect();
        if marks.is_empty() {
            continue;
        }
        dots.push((name.clone(), Whose::of(&who.origin), marks));
        let figure = |bytes_of: Option<u64>| Cell {
            sort: bytes_of.map(|bytes| bytes as f64),
            ..Cell::words(bytes_of.map_or("—".into(), bytes))
        };
        let mut cells = vec![Cell::words(named(name))];
        cells.extend(limits.iter().map(|limit| figure(full(limit))));
        rows.push(row(Some(who.exact), cells));
    }
    if rows.is_empty() {
        return section("memory", "Memory", Vec::new());
    }
    let mut columns = vec![Column::new("limiter")];
    columns.extend(limits.iter().map(|limit| Column {
        keys: Some("one"),
        ..Column::new(format!("limit {}", thousands(*limit)))
    }));
    section(
        "memory",
        "Memory",
        vec![
            Block::Text(
                "Bytes of one limiter for one key with its quota used up, counted by the allocator. A ring and a log \
                 grow with the limit; buckets and words do not."
                    .into(),
            ),
            chart(
                "memory.svg",
                "Bytes of one key by limit",
                Dots {
                    axis: "bytes of one key, full".into(),
                    panels: vec![String::new()],
                    series: limits.iter().map(|limit| format!("limit {}", thousands(*limit))).collect(),
                    rows: dots,
                    both_ways: false,
                },
            ),
            Block::Folded("Bytes by limit", vec![table("Memory", columns, rows)]),
            Block::Data(vec!["memory.csv", "keyed-memory.csv"]),
        ],
    )
}

fn about(run: &Run) -> Section {
    let environment = &run.environment;
    let who = run.limiters().map(|who| {
        let cannot = match who.cannot.is_empty() {
            true => "—".into(),
            false => plain(&who.cannot),
        };
        let name = Cell::words(format!("`{}`", who.contestant));
        row(
            Some(who.exact),
            vec![name, Cell::words(plain(&who.about)), Cell::words(cannot)],
        )
    });
    section(
        "about",
        "How it was measured",
        vec![
            Block::Text(format!(
                "Rounds in an order shuffled each time; every worker has its own clock and core. {}A comparison pairs the \
                 rounds of two limiters and is corrected for the number of comparisons: faster, slower, equal within 5 %, \
                 or cannot tell. A cell of two speeds shows both, with their shares. Clock source `{}`, a step of {} ns, \
                 {}. The environment is in `environment.json`.",
                match environment.samples {
                    0 => String::new(),
                    samples => format!(
                        "Of {} samples, {} were made again because a worker lost its processor. ",
                        thousands(samples),
                        thousands(environment.samples_lost)
                    ),
                },
                plain(&environment.clock_source),
                environment.clock_step_ns,
                plain(
                    environment
                        .rustc
                        .split(';')
                        .next()
                        .unwrap_or("an unknown compiler")
                ),
            )),
            Block::Command(environment.command.clone()),
            Block::Folded(
                "The limiters, and what each cannot do",
                vec![table(
                    "Limiters",
                    ["limiter", "what it is", "cannot"]
                        .map(Column::new)
                        .to_vec(),
                    who.collect(),
                )],
            ),
            Block::Data(vec!["contestants.csv", "environment.json"]),
        ],
    )
}
