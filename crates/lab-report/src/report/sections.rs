//! The subjects after the first screen: each one chart, one table, two sentences.

use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_ground::figures::{bytes, digits, percent, thousands, time};
use windowpane_lab_ground::latency::ResponseTime;
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::rows::{AccuracyRow, LatencyRow, StalledRow};
use windowpane_lab_measure::state::State;

use super::first::{contended, named, served_on, signed, speed};
use super::{Block, Cell, Chart, Column, Row, Section, Table, plain};
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
        memory(run),
        accuracy(run),
        tails(run),
        about(run),
    ]
}

fn section(id: &'static str, heading: &'static str, blocks: Vec<Block>) -> Section {
    Section {
        id,
        heading,
        blocks,
    }
}

/// The rows of a chart that have dots.
type Rows = Vec<(String, Whose, Vec<Dot>)>;

fn chart(file: &'static str, about: &str, dots: Dots) -> Block {
    Block::Chart(Chart {
        file,
        about: about.into(),
        svg: dots.draw(),
    })
}

fn table(label: &str, columns: Vec<Column>, rows: Vec<Row>) -> Block {
    Block::Table(Table {
        label: label.into(),
        columns,
        rows,
    })
}

fn row(is_exact: Option<bool>, cells: Vec<Cell>) -> Row {
    Row { is_exact, cells }
}

fn count(value: u64) -> Cell {
    Cell::figure(Some(value as f64), |value| thousands(value as u64))
}

fn nanos(value: u64) -> Cell {
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

fn accuracy(run: &Run) -> Section {
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

/// The load whose tails are shown, in percent of the capacity.
const LOAD: u32 = 50;

fn tails(run: &Run) -> Section {
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
    let percentiles: [(&str, fn(&LatencyRow) -> u64); 4] = [
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
            Block::Data(vec!["latency.csv", folder_histograms()]),
        ],
    )
}

fn folder_histograms() -> &'static str {
    windowpane_lab_measure::folder::HISTOGRAMS
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
