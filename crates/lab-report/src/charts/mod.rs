//! The charts, as SVG: readable narrow and wide, and without colour. Contestants are told apart by
//! the shape of their markers and the dashes of their lines; ours are filled, rivals hollow.

mod accuracy;
mod attack;
mod canvas;
mod curves;
mod keyed_memory;
mod latency;
mod lines;
mod memory;
pub mod shares;
mod style;
mod throughput;
pub mod timeline;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use windowpane_lab_ground::figures::thousands;
use windowpane_lab_ground::latency::{Latency, ResponseTime, ServiceTime};
use windowpane_lab_measure::state::State;

use super::markdown::CHARTED_LOAD;
use super::run::Run;

pub use curves::{Curve, curves};

/// The file of the scatter of accuracy and speed.
pub const ACCURACY_FILE: &str = "accuracy-beside-speed.svg";
/// The file of memory by limit.
pub const MEMORY_FILE: &str = "memory-by-limit.svg";

/// The numbers of keys whose memory was counted: each has a chart.
pub fn keyed_memory_keys(run: &Run) -> Vec<u64> {
    let counted = run.keyed_memory.iter().filter(|row| row.bytes.is_some());
    let keys: BTreeSet<u64> = counted.map(|row| row.keys).collect();
    keys.into_iter().collect()
}

/// The file of the memory of so many keys by limit.
pub fn keyed_memory_file(keys: u64) -> String {
    format!("keyed-memory-{keys}-keys.svg")
}

/// The title of the memory of so many keys by limit.
pub fn keyed_memory_title(keys: u64) -> String {
    match keys {
        1 => "Memory by limit, 1 key".into(),
        _ => format!("Memory by limit, {} keys", thousands(keys)),
    }
}

/// The file of memory by attacking keys.
pub const ATTACK_FILE: &str = "memory-under-attack.svg";

/// Whether there is an attack to draw.
pub fn has_attack(run: &Run) -> bool {
    !attack::attack_lines(run).is_empty()
}

/// The file of throughput by threads in a state.
pub fn throughput_file(state: State) -> String {
    format!("throughput-{}.svg", state.word())
}

/// The file of the latency curves of a cell.
pub fn latency_file<L: Latency>(state: State, threads: usize, load: Option<u32>) -> String {
    let kind = L::LABEL.replace(' ', "-");
    let load = load.map_or(String::new(), |load| format!("-{load}-percent"));
    format!("{kind}-{}-{threads}-threads{load}.svg", state.word())
}

/// The title of the latency curves of a cell.
pub fn latency_title<L: Latency>(state: State, threads: usize, load: Option<u32>) -> String {
    let load = load.map_or(String::new(), |load| format!(", {load} % of capacity"));
    let threads = super::verdict::on_threads(threads);
    let kind = L::LABEL;
    let capital = kind[..1].to_uppercase() + &kind[1..];
    format!("{capital}, {}, {threads}{load}", state.word())
}

/// Whether the curves of a cell are drawn: open loops at the middle load, and the closed loop with
/// the most threads, where all is allowed.
pub fn is_charted<L: Latency>(run: &Run, state: State, threads: usize, load: Option<u32>) -> bool {
    match load {
        Some(load) => load == CHARTED_LOAD,
        None => {
            let cells = run.latency_cells::<L>();
            let most = cells.iter().map(|(_, threads, _)| *threads).max();
            state == State::Allowed && Some(threads) == most
        }
    }
}

/// Draws all charts of a run: their SVG by file name.
///
/// # Errors
/// If one cannot be drawn.
pub fn draw(run: &Run) -> Result<BTreeMap<String, String>> {
    let mut drawn = BTreeMap::new();
    for state in State::ALL {
        drawn.insert(throughput_file(state), throughput::draw(run, state)?);
    }
    drawn.insert(MEMORY_FILE.into(), memory::draw(run)?);
    if has_attack(run) {
        drawn.insert(ATTACK_FILE.into(), attack::draw(run)?);
    }
    drawn.insert(ACCURACY_FILE.into(), accuracy::draw(run)?);
    for keys in keyed_memory_keys(run) {
        drawn.insert(keyed_memory_file(keys), keyed_memory::draw(run, keys)?);
    }
    latencies::<ResponseTime>(run, &mut drawn)?;
    latencies::<ServiceTime>(run, &mut drawn)?;
    Ok(drawn)
}

fn latencies<L: Latency>(run: &Run, drawn: &mut BTreeMap<String, String>) -> Result<()> {
    for (state, threads, load) in run.latency_cells::<L>() {
        if is_charted::<L>(run, state, threads, load) {
            let chart = latency::draw::<L>(run, state, threads, load)?;
            drawn.insert(latency_file::<L>(state, threads, load), chart);
        }
    }
    Ok(())
}
