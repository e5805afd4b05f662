//! What a run records: one row of CSV a measurement a round. The report reads nothing else.

mod keyed;

use serde::{Deserialize, Serialize};

pub use keyed::{KeyedAttackRow, KeyedContestantRow, KeyedMemoryRow, KeyedRow};

/// Which of a pair a measurement is, where one contestant is measured against itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// The contestant itself.
    #[default]
    #[serde(rename = "")]
    One,
    /// The same contestant, measured again beside itself: what differs is noise.
    #[serde(rename = "again")]
    Again,
}

/// `throughput.csv`: one measurement of one cell in one round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThroughputRow {
    /// From 1.
    pub round: u32,
    /// Its place in the round's order.
    pub position: u32,
    /// Who.
    pub contestant: String,
    /// `ours`, `rival` or `floor`.
    pub origin: String,
    /// `again` for the second of the A/A pair.
    pub side: Side,
    /// `allowed`, `denied` or `mixed`.
    pub state: String,
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
    /// Whether that is what the state's name says; if not, the row counts for nothing.
    pub share_ok: bool,
    /// Nanoseconds that the shared clock counted for one that passed.
    pub clock_pace: f64,
    /// Decisions of the slowest worker as a share of the fastest one's.
    pub fairness: f64,
    /// Workers that could not be pinned to a core.
    pub unpinned: u64,
    /// Why there is no figure, if the contestant cannot be measured here.
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

/// `latency.csv`: the percentiles of one measurement of one cell in one round, or of all rounds'
/// histograms together (round 0).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// From 1; 0 for all rounds together.
    pub round: u32,
    /// Its place in the round's order.
    pub position: u32,
    /// `service time` (closed loop), `response time` (open loop), or `timer` (nothing between two
    /// readings of the clock).
    pub kind: String,
    /// Who.
    pub contestant: String,
    /// `ours`, `rival` or `floor`.
    pub origin: String,
    /// `allowed`, `denied` or `mixed`.
    pub state: String,
    /// Worker threads.
    pub threads: usize,
    /// Whether there were more threads than cores.
    pub oversubscribed: bool,
    /// Percent of the capacity that the schedule asks for; empty in a closed loop.
    pub load_percent: Option<u32>,
    /// Decisions a second of the instrumented loop at its fastest.
    pub capacity_per_second: f64,
    /// Decisions a second that the schedule asked for.
    pub intended_per_second: Option<f64>,
    /// Decisions a second that were made.
    pub achieved_per_second: f64,
    /// Decisions timed.
    pub samples: u64,
    /// Nanoseconds.
    pub p50: u64,
    /// Nanoseconds.
    pub p90: u64,
    /// Nanoseconds.
    pub p99: u64,
    /// Nanoseconds.
    pub p99_9: u64,
    /// Nanoseconds.
    pub p99_99: u64,
    /// Nanoseconds.
    pub max: u64,
    /// Nanoseconds after the intended start at which decisions were started.
    pub late_p50: Option<u64>,
    /// The same.
    pub late_p99: Option<u64>,
    /// The same.
    pub late_max: Option<u64>,
    /// The share of decisions that were allowed.
    pub allowed_share: f64,
    /// Whether that is what the state's name says; if not, the row counts for nothing.
    pub share_ok: bool,
    /// Why there is no figure, if the contestant cannot be measured here.
    pub cannot: String,
}

/// `memory.csv`: bytes of one limiter for one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRow {
    /// Who.
    pub contestant: String,
    /// The quota's limit.
    pub limit: u64,
    /// `empty`, `half full` or `full`.
    pub fill: String,
    /// What was accepted.
    pub accepted: u64,
    /// What the allocator counted.
    pub bytes: Option<u64>,
    /// What its formula allows at this limit, if it has one.
    pub at_most: Option<u64>,
    /// Why there is no figure.
    pub cannot: String,
}

/// `accuracy.csv`: one contestant on one traffic, judged by the oracle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccuracyRow {
    /// Who.
    pub contestant: String,
    /// The traffic's name.
    pub traffic: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of each client.
    pub quota: String,
    /// How many clients there are.
    pub clients: u64,
    /// Requests of all clients.
    pub requests: u64,
    /// Allowed by the contestant.
    pub allowed: u64,
    /// Allowed, though the oracle with the same accepted history would deny.
    pub false_allows: u64,
    /// Denied, though the oracle with the same accepted history would allow.
    pub false_denies: u64,
    /// The most permits above the limit that any window of any client held.
    pub worst_overshoot: u64,
    /// The same as a share of the limit.
    pub worst_overshoot_share: f64,
    /// Why there is no figure.
    pub cannot: String,
    /// Time in which clients were denied though the oracle with the same accepted history would
    /// have allowed: from each false denial until the wait told with it was over, or something was
    /// accepted. Of all clients together.
    #[serde(default)]
    pub wrongly_denied_ns: u64,
    /// The longest such time of any client.
    #[serde(default)]
    pub longest_wrong_denial_ns: u64,
    /// The time from each client's first request to its last, and a window more: of what
    /// `wrongly_denied_ns` is a share.
    #[serde(default)]
    pub client_time_ns: u64,
    /// How many of the requests were made because an earlier one was denied.
    #[serde(default)]
    pub retries: u64,
    /// Servers that shared the limit.
    #[serde(default)]
    pub servers: u32,
    /// The input, where it was found for this contestant.
    #[serde(default)]
    pub input: String,
    /// What the exact log allowed when the same clients asked it instead. Empty in older runs, and
    /// where several servers share the limit.
    #[serde(default)]
    pub exact_allowed: Option<u64>,
}

impl AccuracyRow {
    /// Whether one limiter answered all of it. Of several servers each knows only its own part, and
    /// then nobody is exact.
    pub fn is_of_one_server(&self) -> bool {
        self.servers <= 1
    }

    /// Whether it is traffic, by one server: not an input that was searched for, which says nothing
    /// of what clients send.
    pub fn is_traffic(&self) -> bool {
        self.is_of_one_server() && self.input.is_empty()
    }

    /// What the limiter served relative to the exact log, 1.004 for 0.4 % more. `None` where that is
    /// unknown.
    pub fn served(&self) -> Option<f64> {
        let exact = self.exact_allowed.filter(|exact| *exact > 0)?;
        self.cannot
            .is_empty()
            .then(|| self.allowed as f64 / exact as f64)
    }

    /// False allows in a second of one client. A client that retries makes requests, but no time.
    pub fn false_allows_per_client_second(&self) -> Option<f64> {
        self.per_client_second(self.false_allows)
    }

    /// False denials in a second of one client.
    pub fn false_denies_per_client_second(&self) -> Option<f64> {
        self.per_client_second(self.false_denies)
    }

    fn per_client_second(&self, count: u64) -> Option<f64> {
        let seconds = self.client_time_ns as f64 * 1e-9;
        (seconds > 0.0 && self.cannot.is_empty()).then(|| count as f64 / seconds)
    }

    /// Whether shares of its requests say something: of a traffic, and not of a handful.
    pub fn has_shares(&self) -> bool {
        self.is_traffic() && self.cannot.is_empty() && self.requests >= LEAST_FOR_SHARES
    }
}

/// Of fewer requests a share is no share.
const LEAST_FOR_SHARES: u64 = 1_000;

/// `traffic.csv`: the speed of one contestant on one traffic in one round, by one thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrafficRow {
    /// From 1.
    pub round: u32,
    /// Its place in the round's order.
    pub position: u32,
    /// Who.
    pub contestant: String,
    /// `ours`, `rival` or `floor`.
    pub origin: String,
    /// The traffic's name.
    pub traffic: String,
    /// Decisions made.
    pub decisions: u64,
    /// By the worker's clock.
    pub elapsed_ns: u64,
    /// Decisions a second.
    pub per_second: f64,
    /// The share of decisions that were allowed.
    pub allowed_share: f64,
    /// Why there is no figure.
    pub cannot: String,
    /// `again` for the second of the A/A pair.
    #[serde(default)]
    pub side: Side,
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

/// `before.csv`: a row of throughput beside the same row of the run that was recorded before, if
/// that was made on the same processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BeforeRow {
    /// When the run before began.
    pub before_began: String,
    /// Its revision.
    pub before_revision: String,
    /// Who.
    pub contestant: String,
    /// `allowed`, `denied` or `mixed`.
    pub state: String,
    /// Worker threads.
    pub threads: usize,
    /// Decisions a second then: the median of its rounds.
    pub before_per_second: f64,
    /// Decisions a second now.
    pub per_second: f64,
    /// Now over then.
    pub ratio: f64,
    /// The smallest difference that the two runs would have shown, 0.03 for 3 %; empty if none. In
    /// older runs the larger of their noises.
    pub noise: Option<f64>,
    /// Whether a difference is shown.
    pub shown: bool,
}

/// `contestants.csv`: who was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContestantRow {
    /// The name in every table.
    pub contestant: String,
    /// `ours`, `rival` or `floor`.
    pub origin: String,
    /// Whether it decides as the log of accepted requests would.
    pub exact: bool,
    /// What it is.
    pub about: String,
    /// How it reads the shared clock.
    pub clock: String,
    /// What it cannot express.
    pub cannot: String,
    /// Its memory, in words.
    pub memory: String,
}
/// `stalled.csv`: what others see of a contestant while one thread is stopped in the middle of a
/// decision, again and again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StalledRow {
    /// Who.
    pub contestant: String,
    /// `ours`, `rival` or `floor`.
    pub origin: String,
    /// `allowed` or `denied`.
    pub state: String,
    /// Threads beside the one that is stopped.
    pub threads: usize,
    /// How long it is stopped, in nanoseconds.
    pub stall_ns: u64,
    /// How often it was.
    pub stalls: u64,
    /// Decisions of the others, in a closed loop.
    pub decisions: u64,
    /// Of these begun while it was stopped.
    pub meanwhile: u64,
    /// Nanoseconds.
    pub p50: u64,
    /// Nanoseconds.
    pub p99: u64,
    /// Nanoseconds.
    pub p99_9: u64,
    /// Nanoseconds.
    pub max: u64,
    /// Why there is no figure.
    pub cannot: String,
}
