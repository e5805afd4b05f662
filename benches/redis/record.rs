//! What was measured: printed as tables, written as files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use windowpane_lab::measure::environment::Environment;
use windowpane_lab::measure::folder;
use windowpane_lab::measure::latency::{LABELS, Percentiles, histogram};
use windowpane_lab::report::spread::Spread;

use crate::contestants::{NAMES, ONE, commands_of, limits, nothing_beside};
use crate::load::{Cell, Measured, State};
use crate::memory::Filled;
use crate::processor::Spent;

/// Which measurement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    state: &'static str,
    keys: usize,
    in_flight: usize,
    /// The place of the contestant in every table.
    place: usize,
}

impl Key {
    pub(crate) fn new(name: &str, cell: Cell) -> Key {
        Key {
            state: cell.state.word(),
            keys: cell.keys,
            in_flight: cell.in_flight,
            place: NAMES.iter().position(|n| *n == name).expect("a contestant"),
        }
    }

    fn name(&self) -> &'static str {
        NAMES[self.place]
    }

    /// What filters look for.
    pub(crate) fn path(&self) -> String {
        format!(
            "redis/{}/{} keys/{} in flight/{}",
            self.state,
            self.keys,
            self.in_flight,
            self.name()
        )
    }
}

/// The least share that is allowed where all is called so.
const LEAST_ALLOWED: f64 = 0.99;

/// All rounds of one measurement.
struct Rounds {
    /// Which rounds they are, from 1: one in which it could not be measured is not there.
    numbers: Vec<u32>,
    per_second: Vec<f64>,
    allowed: Vec<f64>,
    spent: Vec<Spent>,
    window: Duration,
    times: hdrhistogram::Histogram<u64>,
}

/// What a run measured.
pub(crate) struct Results {
    server: String,
    rounds: u32,
    measure: Duration,
    cells: BTreeMap<Key, Rounds>,
    cannot: BTreeMap<Key, String>,
    pub(crate) memory: Vec<Filled>,
}

/// Of rounds, of which there is at least one.
fn spread(values: &[f64]) -> Spread {
    Spread::of(values.iter().copied()).expect("a cell has a round")
}

fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(head);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

impl Results {
    /// `info` is what the server says of itself.
    pub(crate) fn new(info: &str, rounds: u32, measure: Duration) -> Results {
        let line = |name: &str| {
            let value = info.lines().find_map(|line| line.strip_prefix(name));
            value.unwrap_or("?").trim().to_owned()
        };
        let name = match info.contains("valkey_version:") {
            true => format!("valkey {}", line("valkey_version:")),
            false => format!("redis {}", line("redis_version:")),
        };
        Results {
            server: name,
            rounds,
            measure,
            cells: BTreeMap::new(),
            cannot: BTreeMap::new(),
            memory: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, key: Key, round: u32, window: Duration, measured: &Measured) {
        let rounds = self.cells.entry(key).or_insert_with(|| Rounds {
            numbers: Vec::new(),
            per_second: Vec::new(),
            allowed: Vec::new(),
            spent: Vec::new(),
            window,
            times: histogram(),
        });
        rounds.numbers.push(round);
        rounds.per_second.push(measured.per_second);
        rounds.allowed.push(measured.allowed);
        rounds.spent.push(measured.spent);
        rounds.times.add(&measured.times).expect("the same bounds");
    }

    pub(crate) fn cannot(&mut self, key: Key, why: &anyhow::Error) {
        self.cannot.insert(key, format!("{why:#}"));
    }

    /// The rate of `key` as a share of that of `name`, a script that does nothing.
    fn beside(&self, key: &Key, name: &str) -> Option<f64> {
        let place = NAMES.iter().position(|n| *n == name)?;
        let nothing = Key {
            place,
            ..key.clone()
        };
        let rate = |key| Some(spread(&self.cells.get(key)?.per_second).median);
        Some(rate(key)? / rate(&nothing)?)
    }

    /// Everything as Markdown.
    fn text(&self) -> String {
        let mut text = format!(
            "# On a store\n\n{}; {} rounds of {} ms, interleaved; the client on one thread. Service time: a closed \
             loop. The shares are of the rates of two scripts as long as the contestant's that do nothing but \
             INCR: once, and as often as it calls a command when it allows. Limit 100; `allowed` is the share that was.\n",
            self.server,
            self.rounds,
            self.measure.as_millis()
        );
        let micros = |rounds: &Rounds, of: fn(&Spent) -> f64| {
            let spent: Vec<f64> = rounds.spent.iter().map(of).collect();
            format!("{:.2}", spread(&spent).median)
        };
        let share = |share: Option<f64>| share.map_or_else(String::new, |s| format!("{s:.2}"));
        let mut last = None;
        let mut current: Option<Table> = None;
        let close = |text: &mut String, table: Option<Table>| {
            if let Some(table) = table {
                text.push_str(&format!("{table}\n"));
            }
        };
        for (key, rounds) in &self.cells {
            let group = (key.state, key.keys, key.in_flight);
            if last != Some(group) {
                close(&mut text, current.take());
                text.push_str(&format!(
                    "\n## {}, {} key{}, {} in flight, 100 in {:?}\n\n",
                    key.state,
                    key.keys,
                    if key.keys == 1 { "" } else { "s" },
                    key.in_flight,
                    rounds.window
                ));
                let mut head = vec![
                    "",
                    "a second, median",
                    "least",
                    "most",
                    "of one INCR",
                    "of as many",
                    "of the same",
                    "allowed",
                    "client us",
                    "server us",
                    "script us",
                ];
                head.extend(LABELS);
                current = Some(table(&head));
                last = Some(group);
            }
            let mut row = vec![
                key.name().to_owned(),
                format!("{:.0}", spread(&rounds.per_second).median),
                format!("{:.0}", spread(&rounds.per_second).min),
                format!("{:.0}", spread(&rounds.per_second).max),
                share(self.beside(key, ONE)),
                share(nothing_beside(key.name()).and_then(|name| self.beside(key, name))),
                share(commands_of(key.name()).and_then(|name| self.beside(key, name))),
                format!("{:.1} %", 100.0 * spread(&rounds.allowed).median),
                micros(rounds, |s| s.client),
                micros(rounds, |s| s.server),
                micros(rounds, |s| s.script),
            ];
            let time = |nanos: u64| format!("{:.1} us", nanos as f64 / 1_000.0);
            row.extend(Percentiles::of(&rounds.times).values().map(time));
            if let Some(table) = &mut current {
                table.add_row(row);
            }
        }
        close(&mut text, current);
        if !self.cannot.is_empty() {
            text.push_str("\n## What could not be measured\n\n");
            for (key, why) in &self.cannot {
                text.push_str(&format!(
                    "- {}: {}\n",
                    key.path(),
                    why.lines().next().unwrap_or(why)
                ));
            }
        }
        text + &self.memory_text()
    }

    fn memory_text(&self) -> String {
        if self.memory.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "\n## Memory of one key\n\n`MEMORY USAGE key SAMPLES 0`, {}, the key filled to its limit with cost 1.\n\n",
            self.server
        );
        let mut table = table(&["", "limit", "bytes", "bytes an entry", "50,000 keys, MB"]);
        for filled in &self.memory {
            table.add_row([
                filled.contestant.to_owned(),
                filled.limit.to_string(),
                filled.bytes.to_string(),
                format!("{:.1}", filled.bytes as f64 / filled.limit as f64),
                format!("{:.1}", filled.bytes as f64 * 50_000.0 / 1e6),
            ]);
        }
        text.push_str(&format!("{table}\n"));
        text
    }

    pub(crate) fn print(&self) {
        println!("{}", self.text());
    }

    /// Whether everyone of ours answered, and as the state says.
    pub(crate) fn check(&self) -> ExitCode {
        let mut code = ExitCode::SUCCESS;
        for (key, why) in &self.cannot {
            // What others cannot is told; what ours cannot is a fault.
            if key.name() != "trypema" {
                eprintln!("{}: {why}", key.path());
                code = ExitCode::FAILURE;
            }
        }
        for (key, rounds) in &self.cells {
            let nothing = !limits(key.name());
            let most = spread(&rounds.allowed).max;
            if key.state == State::Denied.word() && !nothing && most > 0.01 {
                eprintln!("{}: {most} allowed in a state of denying", key.path());
                code = ExitCode::FAILURE;
            }
            let least = spread(&rounds.allowed).min;
            if key.state == State::Allowed.word() && !nothing && least < LEAST_ALLOWED {
                // Told, and no fault: how much fits hangs on how evenly the machine runs.
                eprintln!("{}: {least} allowed in a state of allowing", key.path());
            }
        }
        code
    }

    /// Writes the run, whole, in place of the one before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, environment: &Environment) -> Result<PathBuf> {
        let place = folder::results().join("latest-redis");
        folder::replace(&place, |new| {
            folder::text(
                new,
                "README.md",
                &format!("`{}`\n\n{}", environment.command, self.text()),
            )?;
            folder::text(
                new,
                "environment.json",
                &(serde_json::to_string_pretty(environment)? + "\n"),
            )?;
            self.rates(new).context("cannot write redis.csv")?;
            self.memory_rows(new)
                .context("cannot write redis-memory.csv")
        })?;
        Ok(place)
    }

    fn rates(&self, folder: &std::path::Path) -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join("redis.csv"))?;
        let mut head = vec![
            "contestant",
            "state",
            "keys",
            "in_flight",
            "window_us",
            "round",
            "per_second",
            "allowed",
        ];
        head.extend(LABELS);
        writer.write_record(&head)?;
        for (key, rounds) in &self.cells {
            let shares = rounds.per_second.iter().zip(&rounds.allowed);
            for (round, (rate, allowed)) in rounds.numbers.iter().zip(shares) {
                let mut row = vec![
                    key.name().to_owned(),
                    key.state.to_owned(),
                    key.keys.to_string(),
                    key.in_flight.to_string(),
                    rounds.window.as_micros().to_string(),
                    round.to_string(),
                    format!("{rate:.0}"),
                    format!("{allowed:.4}"),
                ];
                // Of all rounds together: a tail needs the samples.
                row.extend(
                    Percentiles::of(&rounds.times)
                        .values()
                        .map(|n| n.to_string()),
                );
                writer.write_record(&row)?;
            }
        }
        Ok(writer.flush()?)
    }

    fn memory_rows(&self, folder: &std::path::Path) -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join("redis-memory.csv"))?;
        writer.write_record(["contestant", "limit", "bytes", "server"])?;
        for filled in &self.memory {
            writer.write_record([
                filled.contestant,
                &filled.limit.to_string(),
                &filled.bytes.to_string(),
                &self.server,
            ])?;
        }
        Ok(writer.flush()?)
    }
}
