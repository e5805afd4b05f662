//! The rows of stores of many keys.

use serde::{Deserialize, Serialize};

use super::Side;

/// `keyed.csv`: one measurement over many keys in one round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyedRow {
    /// From 1.
    pub round: u32,
    /// Its place in the round's order.
    pub position: u32,
    /// Who.
    pub contestant: String,
    /// `ours` or `rival`.
    pub origin: String,
    /// `again` for the second of the A/A pair.
    pub side: Side,
    /// The workload's name.
    pub workload: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of every key.
    pub quota: String,
    /// How many keys there are.
    pub keys: u32,
    /// What they are: `String` or `u64`.
    pub key: String,
    /// Worker threads.
    pub threads: usize,
    /// Whether there were more threads than cores.
    pub oversubscribed: bool,
    /// Decisions of all workers.
    pub decisions: u64,
    /// From the first worker's start to the last worker's end, by their clocks.
    pub elapsed_ns: u64,
    /// Decisions a second.
    pub per_second: f64,
    /// The share of decisions that were allowed.
    pub allowed_share: f64,
    /// Whether that is what the definition says; if not, the row counts for nothing.
    pub share_ok: bool,
    /// Workers that could not be pinned to a core.
    pub unpinned: u64,
    /// Why there is no figure.
    pub cannot: String,
    /// The process that measured it, from 1; 0 in runs of a single process. Rounds have a number of
    /// their own in each run.
    #[serde(default)]
    pub launch: u32,
    /// The share of their time in which the workers had a processor, that of the one with least;
    /// where workers are more than cores, of all cores' time. Empty where it is not counted.
    #[serde(default)]
    pub processor_share: Option<f64>,
    /// How often a worker lost its processor to another thread.
    #[serde(default)]
    pub preempted: u64,
    /// Samples that were discarded before this one because a worker lost its processor.
    #[serde(default)]
    pub lost: u32,
}

/// `keyed-memory.csv`: bytes of a store that holds `keys` keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyedMemoryRow {
    /// Who.
    pub contestant: String,
    /// `ours` or `rival`.
    pub origin: String,
    /// How many keys.
    pub keys: u64,
    /// The limit of every key.
    pub limit: u64,
    /// `one request a key` or `full`.
    pub fill: String,
    /// What was accepted.
    pub accepted: u64,
    /// What the allocator counted, of all keys.
    pub bytes: Option<u64>,
    /// Why there is no figure.
    pub cannot: String,
}

/// `keyed-attack.csv`: a store after each tenth of the keys of an attack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyedAttackRow {
    /// Who.
    pub contestant: String,
    /// `ours` or `rival`.
    pub origin: String,
    /// Whether idle keys are evicted after each tenth of the attack.
    pub tidied: bool,
    /// The attack's name.
    pub attack: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of every key.
    pub quota: String,
    /// The most keys that may be held, where a store has a cap.
    pub cap: u64,
    /// Distinct keys of the whole attack.
    pub attackers: u64,
    /// Of these so far.
    pub asked: u64,
    /// What the allocator counted.
    pub bytes: u64,
    /// Keys that are held, where the store tells.
    pub keys: Option<u64>,
    /// Clients that were over their limit before the attack, and are by the quota until its end.
    pub clients: u64,
    /// How many of them have been allowed something since.
    pub fresh: u64,
    /// Attackers that were allowed, since the row before.
    pub let_in: u64,
    /// Keys that made room for others, where the store tells.
    pub evictions: Option<u64>,
    /// Requests of unknown keys that found no room, where the store tells.
    pub refusals: Option<u64>,
    /// Entries examined to find room, where the store tells.
    pub examined: Option<u64>,
    /// The most of them in one call, where the store tells.
    pub most_examined: Option<u64>,
    /// Nanoseconds of an attacker's call, since the row before; nothing else is in it.
    pub ns_a_call: f64,
    /// The longest call that tidied up, in nanoseconds.
    pub slowest_tidy_ns: u64,
    /// Why it was not tried, or ended early.
    pub cannot: String,
}

/// `keyed-contestants.csv`: who was measured over many keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyedContestantRow {
    /// The name in every table.
    pub contestant: String,
    /// `ours` or `rival`.
    pub origin: String,
    /// What it is.
    pub about: String,
    /// The hasher of its keys.
    pub hasher: String,
    /// What it cannot do.
    pub cannot: String,
}
