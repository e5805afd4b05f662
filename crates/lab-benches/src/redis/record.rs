//! What was measured, and how it is written as rows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use windowpane_lab_ground::latency::{LABELS, Percentiles};
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::folder;
use windowpane_lab_report::companions;

use super::contestants::{AGAIN, NAMES};
use super::costs::{self, Costs};
use super::denials::Denials;
use super::load::{Cell, Measured};
use super::memory::Filled;
use super::page;

/// Which measurement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) state: &'static str,
    pub(crate) keys: usize,
    pub(crate) in_flight: usize,
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

    pub(crate) fn name(&self) -> &'static str {
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

/// What one contestant did in one round of one cell.
pub(crate) struct Round {
    /// From 1: one in which it could not be measured is not there.
    pub(crate) number: u32,
    pub(crate) window: Duration,
    pub(crate) measured: Measured,
}

/// What a run measured.
pub(crate) struct Results {
    /// What served, and its version.
    pub(crate) server: String,
    pub(crate) rounds: u32,
    pub(crate) measure: Duration,
    pub(crate) cells: BTreeMap<Key, Vec<Round>>,
    pub(crate) cannot: BTreeMap<Key, String>,
    pub(crate) memory: Vec<Filled>,
    /// What scripts cost the server.
    pub(crate) costs: Costs,
    /// Denials from the deny cache, if they were measured.
    pub(crate) denials: Option<Denials>,
}

/// The spread over the rounds of a cell, of which there is at least one.
pub(crate) fn spread(rounds: &[Round], of: impl Fn(&Measured) -> f64) -> Spread {
    Spread::of(rounds.iter().map(|round| of(&round.measured))).expect("a cell has a round")
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
            costs: Costs::new(),
            denials: None,
        }
    }

    pub(crate) fn add(&mut self, key: Key, number: u32, window: Duration, measured: Measured) {
        self.cells.entry(key).or_default().push(Round {
            number,
            window,
            measured,
        });
    }

    pub(crate) fn cannot(&mut self, key: Key, why: &anyhow::Error) {
        self.cannot.insert(key, format!("{why:#}"));
    }

    /// The rate of `key` as a share of that of `name` in the same cell, round by round.
    pub(crate) fn beside(&self, key: &Key, name: &str) -> Option<Spread> {
        Spread::of(
            self.pairs(key, name)
                .map(|(one, other)| one.measured.per_second / other.measured.per_second),
        )
    }

    /// The server's processor time of `name` as a share of that of `key`, round by round: what the
    /// rates would be if nothing but the server mattered.
    pub(crate) fn server_beside(&self, key: &Key, name: &str) -> Option<Spread> {
        Spread::of(
            self.pairs(key, name)
                .map(|(one, other)| other.measured.spent.server / one.measured.spent.server),
        )
    }

    /// The rates of one contestant and of itself under another name, of all cells.
    pub(crate) fn against_itself(&self) -> Vec<(f64, f64)> {
        let keys = self.cells.keys().filter(|key| key.name() == "gcra");
        let pairs = keys.flat_map(|key| self.pairs(key, AGAIN));
        pairs
            .map(|(one, other)| (one.measured.per_second, other.measured.per_second))
            .collect()
    }

    fn pairs<'a>(
        &'a self,
        key: &Key,
        name: &str,
    ) -> impl Iterator<Item = (&'a Round, &'a Round)> + use<'a> {
        let place = NAMES.iter().position(|n| *n == name).unwrap_or(usize::MAX);
        let other = self.cells.get(&Key {
            place,
            ..key.clone()
        });
        let rounds = self.cells.get(key).into_iter().flatten();
        rounds.filter_map(move |round| {
            let same = other?.iter().find(|o| o.number == round.number)?;
            Some((round, same))
        })
    }

    /// Writes the run, whole, in place of the one before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, environment: &Environment) -> Result<PathBuf> {
        let charts = page::charts(self)?;
        let text = page::recorded(self, &charts);
        companions::record("redis", environment, &text, |new| {
            for (file, chart) in &charts {
                folder::text(new, file, chart)?;
            }
            self.rates(new).context("cannot write redis.csv")?;
            self.denials(new)
                .context("cannot write redis-deny-cache.csv")?;
            costs::write(&self.costs, new).context("cannot write redis-scripts.csv")?;
            self.memory_rows(new)
                .context("cannot write redis-memory.csv")
        })
    }

    fn rates(&self, folder: &Path) -> Result<()> {
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
            "client_us",
            "server_us",
            "script_us",
        ];
        head.extend(LABELS);
        writer.write_record(&head)?;
        for (key, rounds) in &self.cells {
            for round in rounds {
                let measured = &round.measured;
                let mut row = vec![
                    key.name().to_owned(),
                    key.state.to_owned(),
                    key.keys.to_string(),
                    key.in_flight.to_string(),
                    round.window.as_micros().to_string(),
                    round.number.to_string(),
                    format!("{:.0}", measured.per_second),
                    format!("{:.4}", measured.allowed),
                    format!("{:.3}", measured.spent.client),
                    format!("{:.3}", measured.spent.server),
                    format!("{:.3}", measured.spent.script),
                ];
                row.extend(
                    Percentiles::of(&measured.times)
                        .values()
                        .map(|n| n.to_string()),
                );
                writer.write_record(&row)?;
            }
        }
        Ok(writer.flush()?)
    }

    fn denials(&self, folder: &Path) -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join("redis-deny-cache.csv"))?;
        writer.write_record(["batch", "nanoseconds_each", "round_trips_of_all"])?;
        if let Some(denials) = &self.denials {
            for (batch, nanos) in denials.nanos.iter().enumerate() {
                writer.write_record([
                    (batch + 1).to_string(),
                    format!("{nanos:.1}"),
                    denials.round_trips.to_string(),
                ])?;
            }
        }
        Ok(writer.flush()?)
    }

    fn memory_rows(&self, folder: &Path) -> Result<()> {
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
