//! The first screen: where, which limiter for which need, one picture, one table.

use windowpane_core::Quotas;
use windowpane_lab_contestants::registry::ORACLE;
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_ground::comparison::{Comparison, Outcome};
use windowpane_lab_ground::figures::{bytes, digits, millions, percent, thousands, time};
use windowpane_lab_measure::rows::ContestantRow;
use windowpane_lab_measure::state::{LIMIT, State};

use super::{Block, Cell, Chart, Column, Item, Row, Section, Table, interval, plain};
use crate::DEFAULT;
use crate::cells::Cell as Measured;
use crate::charts::scatter::{self, Point};
use crate::charts::svg::Whose;
use crate::choose::{self, Accuracy, Choice, Need, WORKLOAD, in_bytes};
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

/// A need of the recommendation, and with what its answer is compared.
struct Advice {
    /// The row of WHICH.md, an id.
    id: &'static str,
    need: &'static str,
    quotas: &'static str,
    change: fn(Need) -> Need,
    beside: &'static str,
    why: &'static str,
}

const ADVICE: [Advice; 6] = [
    Advice {
        id: "exact",
        need: "A hard bound in every window",
        quotas: "1000/60s",
        change: |need| need,
        beside: "mutex-log",
        why: "exact, no lock; in a `KeyedLimiter` for many keys",
    },
    Advice {
        id: "log",
        need: "Token budgets, quotas of requests, limits far above the use",
        quotas: "500000/60s",
        change: |need| Need {
            cost: 2_000,
            ..need
        },
        beside: "cas-ring",
        why: "exact, one entry a request; contended, `mutex-log-parking-lot`",
    },
    Advice {
        id: "never-above",
        need: "Never above the limit, denials may come 1/60 of the window early",
        quotas: "1000000/1h",
        change: |need| Need {
            accuracy: Accuracy::NeverAbove,
            ..need
        },
        beside: "cas-ring",
        why: "no lock; memory does not grow with the limit",
    },
    Advice {
        id: "estimate",
        need: "The least memory, and up to twice the limit at worst is fine",
        quotas: "1000/60s",
        change: |need| Need {
            accuracy: Accuracy::AtMost(1.0),
            keys: 1_000_000,
            ..need
        },
        beside: "cas-ring",
        why: "an estimate, a word a key in a `FlatTable`",
    },
    Advice {
        id: "smooth",
        need: "A smooth rate with bursts, no bound on a window",
        quotas: "100/1s",
        change: |need| Need {
            accuracy: Accuracy::Smooth,
            ..need
        },
        beside: "governor",
        why: "the rule of `governor`; in a `FlatTable` for many keys",
    },
    Advice {
        id: "machines",
        need: "Several machines share the limit",
        quotas: "1000/60s",
        change: |need| Need {
            machines: 2,
            ..need
        },
        beside: "redis/two-counter",
        why: "exact, on one Redis or Valkey; `redis/two-counter` for little memory, `redis/gcra` for a smooth rate",
    },
];

/// Returns the recommendation, a sentence a need, from the same ranking as `lab choose`.
pub(crate) fn advice(run: &Run) -> Vec<Item> {
    let threads = contended(run);
    let sentence = |advice: &Advice| {
        let quotas = Quotas::parse(advice.quotas).ok()?;
        let need = (advice.change)(Need {
            threads,
            ..Need::of(quotas)
        });
        let choice = choose::choose(run, &need);
        let first = choice.ranking.first()?;
        Some(Item {
            id: format!("advice-{}", advice.id),
            lead: format!("{}:", advice.need),
            text: format!(
                "`{}`, {}.{}",
                first.limiter,
                advice.why,
                beside(run, &choice, advice)
            ),
        })
    };
    ADVICE.iter().filter_map(sentence).collect()
}

/// How the first of a choice compares with another that holds the need.
fn beside(run: &Run, choice: &Choice, advice: &Advice) -> String {
    let need = &choice.need;
    let first = &choice.ranking[0];
    let Some(other) = choice
        .ranking
        .iter()
        .find(|one| one.limiter == advice.beside)
    else {
        return String::new();
    };
    let name = |one: &choose::Candidate| one.store.clone().unwrap_or_else(|| one.limiter.clone());
    let cell = choose::cell(run, need, need.threads);
    let mut words = Vec::new();
    // At other costs than 1 no speed was measured.
    if need.machines == 1 && need.cost == 1 {
        let compared = run.compared(&name(first), &name(other), cell, choice.ranking.len());
        let (Measured::OneKey(_, threads) | Measured::Keys(_, threads)) = cell;
        if compared.ratio.is_finite() {
            let keys = if need.keys > 1 { ", 10,000 keys" } else { "" };
            words.push(format!(
                "{}, {}{keys}",
                ratio(&compared),
                on_threads(threads)
            ));
        }
    }
    if let (Some(own), Some(theirs)) = (first.figures.bytes, other.figures.bytes) {
        words.push(format!("{} instead of {}", in_bytes(own), in_bytes(theirs)));
    }
    match words.is_empty() {
        true => String::new(),
        false => format!(" Beside `{}`: {}.", name(other), words.join(", ")),
    }
}

/// A comparison in words: the ratio, its interval, and what it shows.
pub(crate) fn ratio(compared: &Comparison) -> String {
    let shown = format!("{} × as fast", digits(compared.ratio));
    let interval = format!("{} to {}", digits(compared.low), digits(compared.high));
    match compared.outcome {
        Outcome::Faster | Outcome::Slower => format!("{shown} ({interval})"),
        Outcome::Equal => format!("equal within 5 % ({interval})"),
        Outcome::CannotTell => format!(
            "{shown} ({interval}: cannot tell, {} × would have shown)",
            digits(compared.smallest)
        ),
        // Said once, in the first line.
        Outcome::NotCompared => shown,
    }
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
