//! What a run measures: the cells, the rounds and the time they may take.

use std::time::Duration;

use super::definitions::{self, ByMode, Threads};
use super::environment::cores;
use super::keyed::{self, KeyedCell};
use super::state::State;
use super::throughput::{Cell, Times};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each cell once and as short as can be: whether everything works and answers as expected.
    Test,
    /// Enough to see the order of things; with all other bench targets at most 2 minutes.
    Quick,
    /// What `cargo bench` does; with all other bench targets at most 10 minutes.
    Default,
    /// Every cell, for publishing.
    Full,
}

impl Mode {
    /// The word in the environment.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Test => "test",
            Mode::Quick => "quick",
            Mode::Default => "default",
            Mode::Full => "full",
        }
    }
}

/// Who stands against itself to show the noise.
pub const REFERENCE: &str = "cas-ring";

/// The same where there are many keys.
pub const KEYED_REFERENCE: &str = "flat/gcra";

/// What a run measures.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How much.
    pub mode: Mode,
    /// Of the order within the rounds, and of the synthetic traffic.
    pub seed: u64,
    /// Each round measures each cell of each contestant once, in an order of its own.
    pub rounds: u32,
    /// Pairs of the reference against itself before the first round, in each cell of throughput.
    pub pairs_first: u32,
    /// Of a throughput measurement.
    pub throughput_times: Times,
    /// Of a latency measurement.
    pub latency_times: Times,
    /// Cells of throughput.
    pub throughput: Vec<Cell>,
    /// Cells of service time.
    pub closed: Vec<Cell>,
    /// Cells of response time; none has more threads than there are cores, since a generator that
    /// is not scheduled measures itself.
    pub open: Vec<Cell>,
    /// Cells over many keys.
    pub keyed: Vec<KeyedCell>,
    /// Whether memory and accuracy are measured, too.
    pub without_clock: bool,
    /// Whether stores of many keys are attacked.
    pub attacks: bool,
    /// After this no further round is begun.
    pub budget: Duration,
}

const fn times(warm_up_ms: u64, measure_ms: u64) -> Times {
    Times {
        warm_up: Duration::from_millis(warm_up_ms),
        measure: Duration::from_millis(measure_ms),
    }
}

/// The cells of a mode that the definitions ask for, of one kind of measurement.
fn cells(mode: Mode, kind: fn(&Threads) -> &ByMode) -> Vec<Cell> {
    let of_state = |state: State| {
        let threads = kind(&definitions::speed(state).threads).of(mode);
        threads.iter().map(move |&threads| Cell { state, threads })
    };
    State::ALL.into_iter().flat_map(of_state).collect()
}

impl Plan {
    /// The plan of a mode: the cells as the definitions say, and the time they may take.
    pub fn new(mode: Mode, seed: u64) -> Plan {
        let (rounds, pairs_first, times, seconds) = match mode {
            Mode::Test => (1, 0, times(1, 5), 60),
            Mode::Quick => (3, 2, times(8, 25), 50),
            Mode::Default => (7, 3, times(15, 60), 300),
            // A round of all cells takes some six minutes; fewer than five tell little.
            Mode::Full => (9, 5, times(20, 100), 3_600),
        };
        let mut open = cells(mode, |threads| &threads.response);
        open.retain(|cell| cell.threads <= cores());
        Plan {
            mode,
            seed,
            rounds,
            pairs_first,
            throughput_times: times,
            latency_times: times,
            throughput: cells(mode, |threads| &threads.throughput),
            closed: cells(mode, |threads| &threads.service),
            open,
            keyed: keyed::cells(mode),
            without_clock: true,
            attacks: true,
            budget: Duration::from_secs(seconds),
        }
    }

    /// The latency cells of a mode alone, for the target that shows nothing else.
    pub fn latency_alone(mode: Mode, seed: u64) -> Plan {
        let plan = Plan::new(mode, seed);
        Plan {
            rounds: plan.rounds.min(match mode {
                Mode::Test | Mode::Quick => 1,
                Mode::Default => 2,
                Mode::Full => 5,
            }),
            pairs_first: 0,
            throughput: Vec::new(),
            keyed: Vec::new(),
            without_clock: false,
            attacks: false,
            ..plan
        }
    }
}

/// What a filter is compared with, of many keys: `keyed/insert/String/governor/1`.
pub fn keyed_name(contestant: &str, cell: KeyedCell) -> String {
    let (workload, key) = (&cell.workload.name, cell.key.word());
    format!("keyed/{workload}/{key}/{contestant}/{}", cell.threads)
}

/// What a filter is compared with: `throughput/allowed/cas-ring/2`.
pub fn name(kind: &str, contestant: &str, cell: Cell) -> String {
    format!("{kind}/{}/{contestant}/{}", cell.state.word(), cell.threads)
}
