//! Stores of many keys: decisions a second and memory.

use std::fmt::Write as _;

use windowpane_lab_ground::figures::{millions, percent, thousands, times};
use windowpane_lab_ground::spread::{
    Difference, ROUNDS_THAT_TELL, Spread, by_round, compare_paired, noise,
};
use windowpane_lab_measure::keyed::LIMITS;
use windowpane_lab_measure::plan::KEYED_REFERENCE;
use windowpane_lab_measure::rows::{KeyedMemoryRow, KeyedRow, Side};

use super::super::charts;
use super::super::run::Run;
use super::super::verdict::{code, on_threads};
use super::text::{capital, data, image, left_aligned, spread, strings, table, table_of, words};

/// The file of decisions a second.
const KEYED: &str = "keyed.csv";
/// The file of bytes.
const MEMORY: &str = "keyed-memory.csv";

/// The most keys whose memory is counted.
pub(super) const MOST_KEYS: u64 = 50_000;

/// Whom everybody is compared with.
const RIVAL: &str = "governor";

/// What was aimed at, against governor keyed with its default hasher, keys of text: who, on which
/// workload, with how many threads, and how many times as fast.
const AIMS: [(&str, &str, usize, f64); 8] = [
    ("store/gcra", "one hot key, allowed", 1, 1.15),
    ("store/gcra", "one hot key, denied", 1, 1.15),
    ("store/gcra", "10,000 keys, allowed", 1, 1.15),
    ("store/gcra", "10,000 keys, denied", 1, 1.15),
    ("flat/gcra", "one hot key, denied", 2, 3.0),
    ("flat/gcra", "10,000 keys, allowed", 2, 2.0),
    ("flat/gcra", "10,000 keys, denied", 2, 2.0),
    ("flat/gcra", "a million keys, denied", 1, 1.5),
];

/// One table of the section: workload, keys, threads.
#[derive(Clone, Copy, PartialEq)]
struct Cell<'a> {
    workload: &'a str,
    key: &'a str,
    threads: usize,
}

impl Cell<'_> {
    fn holds(&self, row: &KeyedRow) -> bool {
        row.workload == self.workload && row.key == self.key && row.threads == self.threads
    }
}

fn rates(run: &Run, cell: Cell, who: &str, side: Side) -> Vec<(u32, f64)> {
    let rows = run
        .keyed
        .iter()
        .filter(|row| cell.holds(row) && row.contestant == who && row.side == side && row.share_ok);
    let mut rates: Vec<(u32, f64)> = rows.map(|row| (row.round, row.per_second)).collect();
    rates.sort_by_key(|(round, _)| *round);
    rates
}

fn noise_of(run: &Run, cell: Cell) -> f64 {
    let one = rates(run, cell, KEYED_REFERENCE, Side::One);
    let again = rates(run, cell, KEYED_REFERENCE, Side::Again);
    // A ratio is a pair whose second is 1.
    let pairs = by_round(&one, &again)
        .into_iter()
        .map(|(_, ratio)| (ratio, 1.0));
    noise(&pairs.collect::<Vec<_>>()).unwrap_or(f64::INFINITY)
}

/// The ratio to a rival, round by round.
fn ratios(run: &Run, cell: Cell, who: &str) -> Option<Spread> {
    let rival = rates(run, cell, RIVAL, Side::One);
    let ours = rates(run, cell, who, Side::One);
    Spread::of(by_round(&ours, &rival).into_iter().map(|(_, ratio)| ratio))
}

pub(crate) fn keyed(run: &Run) -> String {
    if run.keyed.is_empty() {
        return super::attack::attack(run);
    }
    let mut text = String::from(
        "## Many keys\n\nA store of limiters, one a key. All on the shared clock where they let it be set; keys are made before anything is timed, \
         and each worker's order of keys is drawn before, the same for everyone. Known keys are known before the barrier. \
         The ratio is to `governor` with its default hasher, round by round: a difference is shown if its 95 % interval and the noise of \
         `flat/gcra` against itself in the same table exclude equality.\n\n",
    );
    text += &who(run);
    text += &aims(run);
    for cell in cells(run) {
        text += &of_cell(run, cell);
    }
    text + &memory(run) + &super::attack::attack(run)
}

/// The tables of a run, in their order.
fn cells(run: &Run) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell> = Vec::new();
    for row in &run.keyed {
        let cell = Cell {
            workload: &row.workload,
            key: &row.key,
            threads: row.threads,
        };
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let place = |cell: &Cell| {
        let first = run.keyed.iter().filter(|row| row.workload == cell.workload);
        let keys = first.map(|row| row.keys).min().unwrap_or(0);
        (
            keys,
            cell.workload.to_string(),
            cell.key.to_string(),
            cell.threads,
        )
    };
    cells.sort_by_key(place);
    cells
}

fn who(run: &Run) -> String {
    let rows: Vec<Vec<String>> = run
        .keyed_contestants
        .iter()
        .map(|who| {
            let cannot = match who.cannot.as_str() {
                "" => "—",
                cannot => cannot,
            };
            let about = [who.about.as_str(), who.hasher.as_str(), cannot].map(String::from);
            let mut row = vec![code(&who.contestant), who.origin.clone()];
            row.extend(about);
            row
        })
        .collect();
    let header = strings(["store", "whose", "what", "hasher", "cannot"]);
    left_aligned(&header, &rows) + &data(&["keyed-contestants.csv"])
}

fn aims(run: &Run) -> String {
    let rows: Vec<Vec<String>> = AIMS
        .iter()
        .map(|&(who, workload, threads, aim)| {
            let cell = Cell {
                workload,
                key: "String",
                threads,
            };
            let ratio = ratios(run, cell, who);
            let met = match ratio {
                None => "not measured",
                Some(ratio) if ratio.rounds < ROUNDS_THAT_TELL => "not told: too few rounds",
                Some(ratio) if ratio.median >= aim => "met",
                Some(_) => "not met",
            };
            vec![
                code(who),
                workload.to_string(),
                on_threads(threads),
                met.into(),
                times(aim),
                ratio.map_or("—".into(), |ratio| spread(ratio, times)),
            ]
        })
        .collect();
    let header = strings([
        "store",
        "workload",
        "threads",
        "aim",
        "aimed at",
        "÷ governor",
    ]);
    format!(
        "### Aims\n\nKeys of text, the same clock, the median of the rounds' ratios (minimum–maximum).\n\n{}{}",
        table_of(4, &header, &rows),
        data(&[KEYED])
    )
}

fn of_cell(run: &Run, cell: Cell) -> String {
    let Some(first) = run.keyed.iter().find(|row| cell.holds(row)) else {
        return String::new();
    };
    let oversubscribed = match first.oversubscribed {
        true => format!(" on {} cores: oversubscribed", run.environment.cores),
        false => String::new(),
    };
    let noise = noise_of(run, cell);
    let told = match noise.is_finite() {
        true => percent(noise),
        false => "not measured".into(),
    };
    let mut text = format!(
        "### {}, {} keys, {}{oversubscribed}\n\n{}. {} for each. Noise: {told}.\n\n",
        capital(&words(cell.workload)),
        cell.key,
        on_threads(cell.threads),
        capital(&words(&first.about)),
        code(&first.quota),
    );
    let rival = rates(run, cell, RIVAL, Side::One);
    let mut measured = Vec::new();
    let mut cannot = String::new();
    for who in &run.keyed_contestants {
        let name = &who.contestant;
        let rates = rates(run, cell, name, Side::One);
        match Spread::of(rates.iter().map(|(_, rate)| *rate)) {
            Some(rate) => {
                let against = match compare_paired(&rates, &rival, noise) {
                    _ if name == RIVAL => "1".into(),
                    None => "—".into(),
                    Some(Difference::NotShown(ratio)) => {
                        format!("{}: no difference shown", times(ratio))
                    }
                    Some(Difference::Shown(ratio)) => times(ratio),
                };
                let row = vec![
                    code(name),
                    spread(rate, millions),
                    format!("{:.1}", 1e9 / rate.median * cell.threads as f64),
                    against,
                ];
                measured.push((rate.median, row));
            }
            None => {
                let mut rows = run.keyed.iter();
                let of_who = rows.find(|row| cell.holds(row) && row.contestant == *name);
                let why = match of_who {
                    Some(row) if !row.cannot.is_empty() => {
                        format!("cannot: {}", words(&row.cannot))
                    }
                    Some(row) => format!(
                        "counts for nothing: {} were allowed",
                        percent(row.allowed_share)
                    ),
                    None => continue,
                };
                let _ = writeln!(cannot, "- {} {why}.", code(name));
            }
        }
    }
    measured.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rows: Vec<Vec<String>> = measured.into_iter().map(|(_, row)| row).collect();
    text += &table(
        &strings(["store", "M/s", "ns of a thread", "÷ governor"]),
        &rows,
    );
    text += &data(&[KEYED]);
    if !cannot.is_empty() {
        text += &cannot;
        text += "\n";
    }
    text
}

/// The charts of memory by limit, one a number of keys, on the same axes.
fn pictures(run: &Run) -> String {
    let mut text: String = charts::keyed_memory_keys(run)
        .into_iter()
        .map(|keys| {
            image(
                &charts::keyed_memory_title(keys),
                &charts::keyed_memory_file(keys),
            )
        })
        .collect();
    if !text.is_empty() {
        text += &data(&[MEMORY]);
    }
    text
}

/// The noise of each table, where it was measured.
pub(super) fn noises(run: &Run) -> Vec<f64> {
    let noises = cells(run).into_iter().map(|cell| noise_of(run, cell));
    noises.filter(|noise| noise.is_finite()).collect()
}

fn memory(run: &Run) -> String {
    let Some(most) = run.keyed_memory.iter().map(|row| row.keys).max() else {
        return String::new();
    };
    let of = |who: &str, keys: u64, limit: u64, fill: &str| {
        let mut rows = run.keyed_memory.iter();
        rows.find(|row: &&KeyedMemoryRow| {
            row.contestant == who && row.keys == keys && row.limit == limit && row.fill == fill
        })
    };
    let each = |row: Option<&KeyedMemoryRow>| match row {
        Some(row) if !row.cannot.is_empty() => "not tried".into(),
        Some(row) => row
            .bytes
            .map_or("—".into(), |bytes| thousands(bytes / row.keys)),
        None => "—".into(),
    };
    let mut header = strings(["store"]);
    header.extend(LIMITS.map(|limit| format!("{} once / full", thousands(limit))));
    let mut text = format!(
        "### Memory of {} keys\n\nBytes a key, counted by the allocator: keys of one word, asked once and full, by limit. Text keys take their own bytes beside. \
         The flat table is made for twice as many entries as keys, 16 bytes each, whatever the limit.\n\n",
        thousands(most)
    );
    let rows: Vec<Vec<String>> = run
        .keyed_contestants
        .iter()
        .map(|who| {
            let name = &who.contestant;
            let mut row = vec![code(name)];
            row.extend(LIMITS.map(|limit| {
                let of_fill = |fill| each(of(name, most, limit, fill));
                format!("{} / {}", of_fill("one request a key"), of_fill("full"))
            }));
            row
        })
        .collect();
    text += &table(&header, &rows);
    text += &data(&[MEMORY]);
    text += &pictures(run);
    let rows: Vec<Vec<String>> = run
        .keyed_contestants
        .iter()
        .filter_map(|who| {
            let row = of(&who.contestant, MOST_KEYS, 1_000, "full")?;
            let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
            let told = match row.bytes {
                Some(bytes) => mib(bytes),
                None => row.cannot.clone(),
            };
            Some(vec![code(&who.contestant), told])
        })
        .collect();
    if !rows.is_empty() {
        text += "#### 50,000 keys at a limit of 1,000, all full\n\n";
        text += &table(&strings(["store", "MiB in all"]), &rows);
        text += &data(&[MEMORY]);
    }
    text
}
