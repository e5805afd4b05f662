//! Everything that a run measured, as the rows that are written.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use windowpane_lab_contestants::keyed::KeyedInfo;
use windowpane_lab_contestants::{Cannot, Info};
use windowpane_lab_ground::latency::{Latency, Percentiles};
use windowpane_lab_ground::workers::Throughput;

use super::environment::{Environment, cores};
use super::keyed::{self, KeyedCell};
use super::latency::{Closed, Open};
use super::rows::{
    AccuracyRow, ContestantRow, KeyedAttackRow, KeyedContestantRow, KeyedMemoryRow, KeyedRow,
    LatencyRow, MemoryRow, Side, StalledRow, ThroughputRow, TrafficRow,
};
use super::throughput::{Cell, Measured, OnTraffic, is_lost};

/// Everything that a run measured.
#[derive(Debug)]
pub struct Recording {
    /// Where and how.
    pub environment: Environment,
    /// The process that measures, from 1; 0 where there is only one.
    pub launch: u32,
    /// Who, as it is recorded.
    pub contestants: Vec<ContestantRow>,
    /// Who, with what is not.
    pub infos: Vec<Info>,
    /// Decisions a second.
    pub throughput: Vec<ThroughputRow>,
    /// Percentiles of each round.
    pub latency: Vec<LatencyRow>,
    /// Histograms of all rounds together, by a name that fits a file.
    pub histograms: BTreeMap<String, Merged>,
    /// Decisions a second on recorded traffic.
    pub traffic: Vec<TrafficRow>,
    /// Bytes.
    pub memory: Vec<MemoryRow>,
    /// Right and wrong decisions.
    pub accuracy: Vec<AccuracyRow>,
    /// Who limits many keys.
    pub keyed_contestants: Vec<KeyedContestantRow>,
    /// Decisions a second over many keys.
    pub keyed: Vec<KeyedRow>,
    /// Bytes of many keys.
    pub keyed_memory: Vec<KeyedMemoryRow>,
    /// What a flood of new keys does.
    pub keyed_attack: Vec<KeyedAttackRow>,
    /// What others see while one thread is stopped.
    pub stalled: Vec<StalledRow>,
}

/// The histogram of a cell, over all rounds.
#[derive(Debug)]
pub struct Merged {
    /// The row of all rounds together.
    pub row: LatencyRow,
    /// The times.
    pub times: Histogram<u64>,
}

/// Where in the run a measurement stands.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// From 1, of the whole run.
    pub round: u32,
    /// Its place in the round's order.
    pub position: u32,
    /// Who.
    pub info: Info,
    /// What.
    pub cell: Cell,
}

impl Recording {
    /// Nothing measured yet.
    pub fn new(environment: Environment, contestants: impl IntoIterator<Item = Info>) -> Recording {
        let row = |info: Info| ContestantRow {
            contestant: info.name.into(),
            origin: info.origin.word().into(),
            exact: info.is_exact(),
            about: info.about.into(),
            clock: info.clock.into(),
            cannot: info.cannot.into(),
            memory: info.memory.into(),
        };
        let infos: Vec<Info> = contestants.into_iter().collect();
        Recording {
            environment,
            launch: 0,
            contestants: infos.iter().copied().map(row).collect(),
            infos,
            throughput: Vec::new(),
            latency: Vec::new(),
            histograms: BTreeMap::new(),
            traffic: Vec::new(),
            memory: Vec::new(),
            accuracy: Vec::new(),
            keyed_contestants: Vec::new(),
            keyed: Vec::new(),
            keyed_memory: Vec::new(),
            keyed_attack: Vec::new(),
            stalled: Vec::new(),
        }
    }

    /// Adds who limits many keys.
    pub fn add_keyed_contestants(&mut self, everyone: impl Iterator<Item = KeyedInfo>) {
        let row = |info: KeyedInfo| KeyedContestantRow {
            contestant: info.name.into(),
            origin: info.origin.word().into(),
            about: info.about.into(),
            hasher: info.hasher.into(),
            cannot: info.cannot.into(),
        };
        self.keyed_contestants.extend(everyone.map(row));
    }

    /// Adds a measurement over many keys.
    pub fn add_keyed(
        &mut self,
        (round, position): (u32, u32),
        info: KeyedInfo,
        side: Side,
        cell: KeyedCell,
        measured: &Result<keyed::Measured, Cannot>,
    ) {
        let mut row = KeyedRow {
            launch: self.launch,
            round,
            position,
            contestant: info.name.into(),
            origin: info.origin.word().into(),
            side,
            workload: cell.workload.name.clone(),
            about: cell.workload.about.clone(),
            quota: cell.workload.quota.to_string(),
            keys: cell.workload.keys,
            key: cell.key.word().into(),
            threads: cell.threads,
            oversubscribed: cell.threads > cores(),
            ..KeyedRow::default()
        };
        match measured {
            Ok(measured) => {
                row.decisions = measured.throughput.operations();
                row.elapsed_ns = measured.throughput.elapsed().as_nanos() as u64;
                row.per_second = rounded(measured.throughput.per_second());
                row.allowed_share = measured.allowed;
                row.share_ok = measured.share_ok;
                row.unpinned = measured.unpinned;
                self.environment.pinned &= measured.unpinned == 0;
                row.processor_share = measured.throughput.processor_share();
                row.preempted = measured.throughput.preempted();
                row.lost = measured.lost;
                self.sampled(&measured.throughput, cell.threads, measured.lost);
            }
            Err(cannot) => row.cannot.clone_from(&cannot.0),
        }
        self.keyed.push(row);
    }

    /// Adds a measurement of throughput.
    pub fn add_throughput(&mut self, at: &At, side: Side, measured: &Result<Measured, Cannot>) {
        let mut row = ThroughputRow {
            launch: self.launch,
            round: at.round,
            position: at.position,
            contestant: at.info.name.into(),
            origin: at.info.origin.word().into(),
            side,
            state: at.cell.state.word().into(),
            threads: at.cell.threads,
            oversubscribed: at.cell.threads > cores(),
            ..ThroughputRow::default()
        };
        match measured {
            Ok(measured) => {
                let throughput = measured.throughput;
                row.decisions = throughput.operations();
                row.elapsed_ns = throughput.elapsed().as_nanos() as u64;
                row.per_second = rounded(throughput.per_second());
                row.allowed_share = measured.allowed;
                row.share_ok = measured.share_ok;
                row.clock_pace = measured.pace.ratio();
                row.fairness = throughput.fairness();
                row.unpinned = measured.unpinned;
                self.environment.pinned &= measured.unpinned == 0;
                row.processor_share = measured.throughput.processor_share();
                row.preempted = measured.throughput.preempted();
                row.lost = measured.lost;
                self.sampled(&measured.throughput, at.cell.threads, measured.lost);
            }
            Err(cannot) => row.cannot.clone_from(&cannot.0),
        }
        self.throughput.push(row);
    }

    /// Adds a measurement of throughput on a traffic.
    pub fn add_traffic(
        &mut self,
        at: &At,
        name: &str,
        side: Side,
        measured: &Result<OnTraffic, Cannot>,
    ) {
        let mut row = TrafficRow {
            launch: self.launch,
            round: at.round,
            position: at.position,
            contestant: at.info.name.into(),
            origin: at.info.origin.word().into(),
            side,
            traffic: name.into(),
            ..TrafficRow::default()
        };
        match measured {
            Ok(measured) => {
                row.decisions = measured.throughput.operations();
                row.elapsed_ns = measured.throughput.elapsed().as_nanos() as u64;
                row.per_second = rounded(measured.throughput.per_second());
                row.allowed_share = measured.allowed;
                row.processor_share = measured.throughput.processor_share();
                row.preempted = measured.throughput.preempted();
                row.lost = measured.lost;
                self.sampled(&measured.throughput, 1, measured.lost);
            }
            Err(cannot) => row.cannot.clone_from(&cannot.0),
        }
        self.traffic.push(row);
    }

    /// Counts a sample, and those that were discarded before it.
    fn sampled(&mut self, throughput: &Throughput, threads: usize, lost: u32) {
        let environment = &mut self.environment;
        environment.samples += 1;
        environment.samples_lost += u64::from(lost);
        environment.samples_disturbed += u64::from(is_lost(throughput, threads));
    }

    /// Adds a closed loop: service time.
    pub fn add_closed(&mut self, at: &At, measured: &Closed) {
        let per_second = rounded(measured.throughput.per_second());
        let row = LatencyRow {
            capacity_per_second: per_second,
            achieved_per_second: per_second,
            allowed_share: measured.allowed,
            share_ok: measured.share_ok,
            ..row_of(at, &measured.times)
        };
        self.add_latency(row, &measured.times);
    }

    /// Adds an open loop: response time at `load` percent of `capacity`.
    pub fn add_open(&mut self, at: &At, load: u32, capacity: f64, measured: &Open) {
        let late = Percentiles::of(measured.lateness.times());
        let row = LatencyRow {
            load_percent: Some(load),
            capacity_per_second: rounded(capacity),
            intended_per_second: Some(rounded(measured.intended)),
            achieved_per_second: rounded(measured.achieved),
            late_p50: Some(late.p50),
            late_p99: Some(late.p99),
            late_max: Some(late.max),
            allowed_share: measured.allowed,
            share_ok: measured.share_ok,
            ..row_of(at, &measured.times)
        };
        self.add_latency(row, &measured.times);
    }

    /// Adds that a contestant cannot be measured in a cell.
    pub fn add_cannot<L: Latency>(&mut self, at: &At, nothing: &L, cannot: Cannot) {
        self.latency.push(LatencyRow {
            cannot: cannot.0,
            ..row_of(at, nothing)
        });
    }

    fn add_latency<L: Latency>(&mut self, row: LatencyRow, times: &L) {
        if row.share_ok {
            self.merge(&row, times.times());
        }
        self.latency.push(row);
    }

    fn merge(&mut self, row: &LatencyRow, times: &Histogram<u64>) {
        match self.histograms.entry(file_name(row)) {
            std::collections::btree_map::Entry::Vacant(new) => {
                new.insert(Merged {
                    row: LatencyRow {
                        round: 0,
                        position: 0,
                        ..row.clone()
                    },
                    times: times.clone(),
                });
            }
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let Merged { row, times: merged } = known.get_mut();
                merged.add(times).expect("the same bounds");
                set_percentiles(row, merged);
            }
        }
    }
}

/// The name of a cell's histogram.
pub fn file_name(row: &LatencyRow) -> String {
    let mut name = format!(
        "{}-{}-{}-{}-threads",
        row.kind, row.contestant, row.state, row.threads
    );
    if let Some(load) = row.load_percent {
        name += &format!("-{load}-percent");
    }
    name.replace(' ', "-")
}

/// A row whose kind is that of the times it tells: there is no other way to a label.
fn row_of<L: Latency>(at: &At, times: &L) -> LatencyRow {
    let mut row = LatencyRow {
        round: at.round,
        position: at.position,
        kind: L::LABEL.into(),
        contestant: at.info.name.into(),
        origin: at.info.origin.word().into(),
        state: at.cell.state.word().into(),
        threads: at.cell.threads,
        oversubscribed: at.cell.threads > cores(),
        load_percent: None,
        capacity_per_second: 0.0,
        intended_per_second: None,
        achieved_per_second: 0.0,
        samples: 0,
        p50: 0,
        p90: 0,
        p99: 0,
        p99_9: 0,
        p99_99: 0,
        max: 0,
        late_p50: None,
        late_p99: None,
        late_max: None,
        allowed_share: 0.0,
        share_ok: false,
        cannot: String::new(),
    };
    set_percentiles(&mut row, times.times());
    row
}

fn set_percentiles(row: &mut LatencyRow, times: &Histogram<u64>) {
    let told = Percentiles::of(times);
    row.samples = times.len();
    row.p50 = told.p50;
    row.p90 = told.p90;
    row.p99 = told.p99;
    row.p99_9 = told.p99_9;
    row.p99_99 = told.p99_99;
    row.max = told.max;
}

/// Whole decisions a second: more digits are no information.
fn rounded(per_second: f64) -> f64 {
    per_second.round()
}
