//! A run whose rows are known, for the tests of what is made of it.

use std::path::Path;

use windowpane_lab_contestants::{self as contestants, ClockOnly, Contestant};
use windowpane_lab_ground::latency::{Latency, ResponseTime, ServiceTime};
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::folder;
use windowpane_lab_measure::latency::LOADS;
use windowpane_lab_measure::memory::{Fill, LIMITS};
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::rows::{
    AccuracyRow, KeyedAttackRow, KeyedContestantRow, KeyedMemoryRow, KeyedRow, LatencyRow,
    MemoryRow, Side, StalledRow, ThroughputRow,
};
use windowpane_lab_measure::state::State;

const ROUNDS: u32 = 18;
const ROUNDS_OF_LAUNCH: u32 = 6;
const THREADS: [usize; 3] = [1, 2, 4];
const CORES: usize = 2;

fn environment() -> Environment {
    Environment {
        began: "2024-05-12T10:00:00Z".into(),
        seconds: 12.5,
        command: "cargo bench -- --full".into(),
        mode: "full".into(),
        seed: 1,
        rounds: ROUNDS,
        rounds_planned: ROUNDS,
        partial: String::new(),
        cpu: "Imagined 9000".into(),
        cores: CORES,
        memory_bytes: 8 << 30,
        kernel: "Linux, 6.0, x86_64".into(),
        hypervisor: "none".into(),
        clock_source: "tsc".into(),
        clock_step_ns: 10,
        frequency_governor: "unknown".into(),
        busy_percent: 1.0,
        rustc: "rustc 1.95.0".into(),
        flags: "release".into(),
        git_revision: "0123456789abcdef".into(),
        git_dirty: Some(false),
        lock_file_hash: "0".into(),
        pinned: true,
        ..Environment::default()
    }
}

/// The launch of a round.
const fn launch(round: u32) -> u32 {
    (round - 1) / ROUNDS_OF_LAUNCH + 1
}

/// The wave of the rounds: a few thousandths up and down, the same for the same cell.
fn wave(round: u32, nth: usize) -> f64 {
    1.0 + f64::from((round * 7 + nth as u32 * 3) % 5) * 0.001
}

/// Rows of everyone in every cell. `speed` multiplies the rates of the named contestant.
pub(crate) fn recording(speed: &[(&str, f64)]) -> Recording {
    let mut everyone = contestants::all();
    everyone.push(&ClockOnly);
    let infos = everyone.iter().map(|contestant| contestant.info());
    let mut recording = Recording::new(environment(), infos);
    for (nth, contestant) in everyone.iter().enumerate() {
        let name = contestant.info().name;
        let factor = speed
            .iter()
            .find(|(who, _)| *who == name)
            .map_or(1.0, |(_, by)| *by);
        let base = (10.0 + 3.0 * nth as f64) * 1e6 * factor;
        for state in State::ALL {
            for threads in THREADS {
                for round in 1..=ROUNDS {
                    let rate = base * wave(round, nth) * threads.min(CORES) as f64;
                    let row = throughput(*contestant, state, threads, round, rate);
                    if name == "cas-ring" {
                        let again = ThroughputRow {
                            side: Side::Again,
                            per_second: (rate * 1.01).round(),
                            ..row.clone()
                        };
                        recording.throughput.push(again);
                    }
                    recording.throughput.push(row);
                }
            }
        }
        latencies(&mut recording, name, nth);
        if name != "clock-only" {
            others(&mut recording, name, nth, contestant.info().is_exact());
        }
    }
    over_keys(&mut recording);
    attacked(&mut recording);
    recording
}

/// Two stores over many keys: governor, and one that is twice as fast on one workload and 1.1 times
/// on another.
fn over_keys(recording: &mut Recording) {
    for (name, origin, factors, bytes) in [
        ("store/gcra", "ours", [2.0, 1.1], 24),
        ("governor", "rival", [1.0, 1.0], 40),
    ] {
        recording.keyed_contestants.push(KeyedContestantRow {
            contestant: name.into(),
            origin: origin.into(),
            about: "a store".into(),
            hasher: "its default".into(),
            cannot: String::new(),
        });
        for (workload, by) in ["10,000 keys, allowed", "10,000 keys, denied"]
            .into_iter()
            .zip(factors)
        {
            recording.keyed.extend((1..=ROUNDS).map(|round| KeyedRow {
                launch: launch(round),
                round,
                contestant: name.into(),
                origin: origin.into(),
                workload: workload.into(),
                about: "made up".into(),
                quota: "100/10s".into(),
                keys: 10_000,
                key: "String".into(),
                threads: 1,
                per_second: by * 1e7,
                share_ok: true,
                ..KeyedRow::default()
            }));
        }
        recording.keyed_memory.push(KeyedMemoryRow {
            contestant: name.into(),
            origin: origin.into(),
            keys: 1_000,
            limit: 10,
            fill: "full".into(),
            accepted: 10_000,
            bytes: Some(1_000 * bytes),
            cannot: String::new(),
        });
    }
}

fn throughput(
    contestant: &dyn Contestant,
    state: State,
    threads: usize,
    round: u32,
    rate: f64,
) -> ThroughputRow {
    ThroughputRow {
        launch: launch(round),
        round,
        position: 0,
        contestant: contestant.info().name.into(),
        origin: contestant.info().origin.word().into(),
        side: Side::One,
        state: state.word().into(),
        threads,
        oversubscribed: threads > CORES,
        decisions: rate as u64 / 10,
        elapsed_ns: 100_000_000,
        per_second: rate.round(),
        allowed_share: 1.0,
        share_ok: true,
        clock_pace: 8.0,
        fairness: 1.0,
        ..ThroughputRow::default()
    }
}

fn latencies(recording: &mut Recording, name: &str, nth: usize) {
    // Round 0 is all rounds together.
    for round in 0..=ROUNDS {
        for threads in THREADS {
            let row = LatencyRow {
                round,
                position: 0,
                kind: ServiceTime::LABEL.into(),
                contestant: name.into(),
                origin: "ours".into(),
                state: "allowed".into(),
                threads,
                oversubscribed: threads > CORES,
                load_percent: None,
                capacity_per_second: 1e7,
                intended_per_second: None,
                achieved_per_second: 1e7,
                samples: 100_000,
                p50: 30 + nth as u64,
                p90: 40 + nth as u64,
                p99: 60 + nth as u64,
                p99_9: 900 + nth as u64,
                p99_99: 40_000 + nth as u64,
                max: 4_000_000 + nth as u64,
                late_p50: None,
                late_p99: None,
                late_max: None,
                allowed_share: 1.0,
                share_ok: true,
                cannot: String::new(),
            };
            if threads <= CORES {
                recording.latency.extend(LOADS.map(|load| LatencyRow {
                    kind: ResponseTime::LABEL.into(),
                    load_percent: Some(load),
                    intended_per_second: Some(5e6),
                    achieved_per_second: 4.9e6,
                    late_p50: Some(5),
                    late_p99: Some(20),
                    late_max: Some(3_000_000),
                    ..row.clone()
                }));
            }
            recording.latency.push(row);
        }
    }
}

fn others(recording: &mut Recording, name: &str, nth: usize, exact: bool) {
    for limit in LIMITS {
        for fill in Fill::ALL {
            recording.memory.push(MemoryRow {
                contestant: name.into(),
                limit,
                fill: fill.word().into(),
                accepted: limit,
                bytes: Some(64 + limit * nth as u64),
                at_most: None,
                cannot: String::new(),
            });
        }
    }
    recording.stalled.push(StalledRow {
        contestant: name.into(),
        origin: "ours".into(),
        state: "denied".into(),
        threads: 2,
        stall_ns: 10_000_000,
        stalls: 8,
        decisions: 100_000,
        meanwhile: 40_000 + 8 * nth as u64,
        p50: 30,
        p99: 60,
        p99_9: 900,
        max: 4_000_000 + 1_000_000 * nth as u64,
        cannot: String::new(),
    });
    let wrong = if exact { 0 } else { 7 };
    recording.accuracy.push(AccuracyRow {
        contestant: name.into(),
        traffic: "made up".into(),
        about: "no real traffic".into(),
        quota: "100/10s".into(),
        clients: 3,
        requests: 10_000,
        allowed: 6_000,
        false_allows: wrong,
        false_denies: 2 * wrong,
        worst_overshoot: wrong,
        worst_overshoot_share: wrong as f64 / 100.0,
        wrongly_denied_ns: 3 * wrong,
        longest_wrong_denial_ns: 2 * wrong,
        client_time_ns: 2_100,
        ..AccuracyRow::default()
    });
    let like_it = recording.accuracy.last().expect("a row").clone();
    let approximate = if exact { 0 } else { 1 };
    // What is no traffic, or too little of it, counts in no share: far worse than the traffic.
    recording.accuracy.extend([
        AccuracyRow {
            traffic: "two servers".into(),
            servers: 2,
            false_denies: 5_000,
            ..like_it.clone()
        },
        AccuracyRow {
            traffic: "searched for".into(),
            input: "a burst of 20".into(),
            worst_overshoot_share: approximate as f64 * 0.05,
            false_denies: 4_000 * approximate,
            ..like_it.clone()
        },
        AccuracyRow {
            traffic: "a handful".into(),
            requests: 10,
            allowed: 5,
            false_allows: 0,
            false_denies: 5 * approximate,
            worst_overshoot: 0,
            worst_overshoot_share: 0.0,
            ..like_it.clone()
        },
        AccuracyRow {
            traffic: "far from the limit".into(),
            false_allows: 0,
            false_denies: 0,
            worst_overshoot: 0,
            worst_overshoot_share: 0.0,
            allowed: 10_000,
            wrongly_denied_ns: 0,
            longest_wrong_denial_ns: 0,
            ..like_it
        },
    ]);
}

/// An attack: the store of ours stays as large as it was and lets nobody in, governor grows, and
/// one of its clients gets a fresh allowance.
fn attacked(recording: &mut Recording) {
    for (name, origin, tidied, bytes_a_key, fresh) in [
        ("store/cas-ring", "ours", false, 0, 0),
        ("governor", "rival", false, 100, 1),
        ("governor", "rival", true, 100, 0),
    ] {
        recording
            .keyed_attack
            .extend([0, 10_000, 100_000].map(|asked| KeyedAttackRow {
                contestant: name.into(),
                origin: origin.into(),
                tidied,
                attack: "attack".into(),
                about: "made up".into(),
                quota: "10/1d".into(),
                cap: 1_000,
                attackers: 100_000,
                asked,
                bytes: 1_048_576 + bytes_a_key * asked,
                keys: Some(1_000),
                clients: 100,
                fresh,
                let_in: if origin == "ours" { 0 } else { 45_000 },
                evictions: (origin == "ours").then_some(500),
                refusals: (origin == "ours").then_some(asked),
                examined: (origin == "ours").then_some(8 * asked),
                most_examined: (origin == "ours").then_some(8),
                ns_a_call: 120.0,
                slowest_tidy_ns: if tidied { 2_000_000 } else { 0 },
                cannot: String::new(),
            }));
    }
}

/// Writes such a run into a folder that is there.
pub(crate) fn write(speed: &[(&str, f64)], place: &Path) {
    folder::write_raw(&recording(speed), place).unwrap();
}
