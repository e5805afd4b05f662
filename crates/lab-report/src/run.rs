//! A recorded run, read back from its folder. The report knows nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use windowpane_lab_ground::latency::{Latency, ServiceTime};
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::plan::REFERENCE;
use windowpane_lab_measure::rows::{
    AccuracyRow, BeforeRow, ContestantRow, KeyedAttackRow, KeyedContestantRow, KeyedMemoryRow,
    KeyedRow, LatencyRow, MemoryRow, Side, StalledRow, ThroughputRow, TrafficRow,
};
use windowpane_lab_measure::state::State;

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where it was read from.
    pub folder: PathBuf,
    /// Where and how it was made.
    pub environment: Environment,
    /// Who was measured.
    pub contestants: Vec<ContestantRow>,
    /// Decisions a second.
    pub throughput: Vec<ThroughputRow>,
    /// Percentiles; round 0 is all rounds together.
    pub latency: Vec<LatencyRow>,
    /// Decisions a second on recorded traffic.
    pub traffic: Vec<TrafficRow>,
    /// Bytes.
    pub memory: Vec<MemoryRow>,
    /// Right and wrong decisions.
    pub accuracy: Vec<AccuracyRow>,
    /// Who limits many keys; these three are empty in runs that were recorded before there were any.
    pub keyed_contestants: Vec<KeyedContestantRow>,
    /// Decisions a second over many keys.
    pub keyed: Vec<KeyedRow>,
    /// Bytes of many keys.
    pub keyed_memory: Vec<KeyedMemoryRow>,
    /// What a flood of new keys does; empty in older runs.
    pub keyed_attack: Vec<KeyedAttackRow>,
    /// What others see while one thread is stopped; empty in older runs.
    pub stalled: Vec<StalledRow>,
    /// This run's throughput beside that of the run before; empty if there was none.
    pub before: Vec<BeforeRow>,
}

/// The file of the comparison with the run before.
pub(super) const BEFORE_FILE: &str = "before.csv";

/// The word for the floor in the column of origins.
const FLOOR: &str = "floor";

impl Run {
    /// Reads a run.
    ///
    /// # Errors
    /// If the folder holds none, or a file of it cannot be read; the file is named.
    pub fn load(folder: &Path) -> Result<Run> {
        let environment = fs::read_to_string(folder.join("environment.json")).with_context(|| {
            format!(
                "{} holds no run: expected environment.json and the CSV files that `cargo bench` writes",
                folder.display()
            )
        })?;
        Ok(Run {
            environment: serde_json::from_str(&environment).with_context(|| {
                format!("{} is malformed", folder.join("environment.json").display())
            })?,
            contestants: rows(folder, "contestants.csv")?,
            throughput: rows(folder, "throughput.csv")?,
            latency: rows(folder, "latency.csv")?,
            traffic: rows(folder, "traffic.csv")?,
            memory: rows(folder, "memory.csv")?,
            accuracy: rows(folder, "accuracy.csv")?,
            keyed_contestants: rows_if_there(folder, "keyed-contestants.csv")?,
            keyed: rows_if_there(folder, "keyed.csv")?,
            keyed_memory: rows_if_there(folder, "keyed-memory.csv")?,
            keyed_attack: rows_if_there(folder, "keyed-attack.csv")?,
            stalled: rows_if_there(folder, "stalled.csv")?,
            before: rows_if_there(folder, BEFORE_FILE)?,
            folder: folder.into(),
        })
    }

    /// The limiters, ours first, without the floor.
    pub fn limiters(&self) -> impl Iterator<Item = &ContestantRow> {
        self.contestants.iter().filter(|who| who.origin != FLOOR)
    }

    /// The contestant of that name.
    pub fn contestant(&self, name: &str) -> Option<&ContestantRow> {
        self.contestants.iter().find(|who| who.contestant == name)
    }

    /// The rounds' throughput of a cell, as `(round, decisions a second)`, in the order of rounds;
    /// without those in which the share of allowed was not what the state says.
    pub fn rates(&self, who: &str, state: State, threads: usize) -> Vec<(u32, f64)> {
        self.rates_of(who, state, threads, Side::One)
    }

    fn rates_of(&self, who: &str, state: State, threads: usize, side: Side) -> Vec<(u32, f64)> {
        let in_cell = |row: &&ThroughputRow| {
            row.contestant == who
                && row.state == state.word()
                && row.threads == threads
                && row.side == side
                && row.share_ok
                && row.round > 0
        };
        let mut rates: Vec<(u32, f64)> = self
            .throughput
            .iter()
            .filter(in_cell)
            .map(|row| (row.round, row.per_second))
            .collect();
        rates.sort_by_key(|(round, _)| *round);
        rates
    }

    /// Median, minimum and maximum of a cell's throughput over the rounds.
    pub fn rate(&self, who: &str, state: State, threads: usize) -> Option<Spread> {
        Spread::of(
            self.rates(who, state, threads)
                .into_iter()
                .map(|(_, rate)| rate),
        )
    }

    /// Median, minimum and maximum of the speed on a traffic over the rounds.
    pub fn rate_on(&self, who: &str, traffic: &str) -> Option<Spread> {
        let rows = self
            .traffic
            .iter()
            .filter(|row| row.contestant == who && row.traffic == traffic && row.cannot.is_empty());
        Spread::of(rows.map(|row| row.per_second))
    }

    /// Median, minimum and maximum of one percentile of a latency cell over the rounds.
    pub fn percentile(&self, of_all: &LatencyRow, of: fn(&LatencyRow) -> u64) -> Option<Spread> {
        let same = |row: &&LatencyRow| {
            row.round > 0
                && row.share_ok
                && row.kind == of_all.kind
                && row.contestant == of_all.contestant
                && row.state == of_all.state
                && row.threads == of_all.threads
                && row.load_percent == of_all.load_percent
        };
        Spread::of(self.latency.iter().filter(same).map(|row| of(row) as f64))
    }

    /// Pairs of the reference against itself in a cell: those before the rounds, one after the
    /// other, and that of each round.
    pub fn pairs(&self, state: State, threads: usize) -> Vec<(f64, f64)> {
        let in_cell = |row: &&ThroughputRow| {
            row.contestant == REFERENCE
                && row.state == state.word()
                && row.threads == threads
                && row.share_ok
        };
        let mut rounds: Vec<&ThroughputRow> = self.throughput.iter().filter(in_cell).collect();
        rounds.sort_by_key(|row| (row.round, row.side == Side::Again, row.position));
        let of = |round: u32, side: Side| {
            let same = move |row: &&&ThroughputRow| row.round == round && row.side == side;
            rounds
                .iter()
                .filter(same)
                .map(|row| row.per_second)
                .collect::<Vec<_>>()
        };
        let last = rounds.iter().map(|row| row.round).max().unwrap_or(0);
        (0..=last)
            .flat_map(|round| {
                let again = of(round, Side::Again);
                of(round, Side::One).into_iter().zip(again)
            })
            .collect()
    }

    /// The threads of the throughput measurements, ascending.
    pub fn threads(&self) -> Vec<usize> {
        sorted(self.throughput.iter().map(|row| row.threads))
    }

    /// Whether so many threads are more than there were cores.
    pub fn is_oversubscribed(&self, threads: usize) -> bool {
        threads > self.environment.cores
    }

    /// The row of all rounds together of a latency cell; `load` is `None` for a closed loop.
    pub fn latency_of<L: Latency>(
        &self,
        who: &str,
        state: State,
        threads: usize,
        load: Option<u32>,
    ) -> Option<&LatencyRow> {
        self.latency.iter().find(|row| {
            row.round == 0
                && row.kind == L::LABEL
                && row.contestant == who
                && row.state == state.word()
                && row.threads == threads
                && row.load_percent == load
        })
    }

    /// The cells of all rounds together of one kind of latency, in which there is a limiter and not
    /// the floor alone: state, threads, load.
    pub fn latency_cells<L: Latency>(&self) -> Vec<(State, usize, Option<u32>)> {
        let is_limiter = |name: &str| self.limiters().any(|who| who.contestant == name);
        sorted(self.latency.iter().filter_map(|row| {
            let cell = (State::from_word(&row.state)?, row.threads, row.load_percent);
            let is_in = row.round == 0 && row.kind == L::LABEL && is_limiter(&row.contestant);
            is_in.then_some(cell)
        }))
    }

    /// The timer's floor with so many threads: two readings with nothing in between.
    pub fn empty_pair(&self, threads: usize) -> Option<&LatencyRow> {
        let name = windowpane_lab_measure::session::EMPTY_PAIR;
        State::ALL
            .into_iter()
            .find_map(|state| self.latency_of::<ServiceTime>(name, state, threads, None))
    }

    /// Bytes of one limiter for one key.
    pub fn bytes(&self, who: &str, limit: u64, fill: &str) -> Option<u64> {
        let row = self
            .memory
            .iter()
            .find(|row| row.contestant == who && row.limit == limit && row.fill == fill)?;
        row.bytes
    }

    /// The traffics of the accuracy measurements, in their order.
    pub fn traffics(&self) -> Vec<&AccuracyRow> {
        let mut seen: Vec<&AccuracyRow> = Vec::new();
        for row in &self.accuracy {
            if seen.iter().all(|known| known.traffic != row.traffic) {
                seen.push(row);
            }
        }
        seen
    }

    /// What the oracle said of a contestant on a traffic.
    pub fn accuracy_of(&self, who: &str, traffic: &str) -> Option<&AccuracyRow> {
        self.accuracy
            .iter()
            .find(|row| row.contestant == who && row.traffic == traffic && row.cannot.is_empty())
    }

    /// The largest overshoot of a contestant on any traffic of one server, and where.
    pub fn worst(&self, who: &str) -> Option<&AccuracyRow> {
        self.accuracy
            .iter()
            .filter(|row| row.contestant == who && row.cannot.is_empty() && row.is_of_one_server())
            .max_by(|a, b| a.worst_overshoot_share.total_cmp(&b.worst_overshoot_share))
    }
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// [`rows`]; none if there is no such file.
fn rows_if_there<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Vec<T>> {
    match folder.join(name).exists() {
        true => rows(folder, name),
        false => Ok(Vec::new()),
    }
}

fn rows<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Vec<T>> {
    let path = folder.join(name);
    let read = || -> Result<Vec<T>> {
        let mut reader = csv::Reader::from_path(&path)?;
        Ok(reader.deserialize().collect::<Result<Vec<T>, _>>()?)
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}
